import sys

import pytest
import transformers

from tiedviz.verdict import defaults
from tiedviz.verdict.declared import declared_in, inferred
from tiedviz.verdict.defaults import class_facts, scores_tokens, table, table_version

FLAG = "tie_word_embeddings"
TRUE, FALSE = {FLAG: True}, {FLAG: False}


def told(model_type, **config):
    return declared_in({"model_type": model_type, **config})


@pytest.mark.parametrize(
    ("default", "kinds"),
    [
        (
            True,
            "gpt2 gpt_neo bloom opt gemma gemma2 gemma3 falcon cohere smollm3 mamba mpt t5 umt5 "
            "bart bert albert modernbert paligemma lfm2 mistral3",
        ),
        (
            False,
            "gptj gpt_neox llama mistral qwen2 qwen3 phi phi3 granite olmo2 stablelm mamba2 "
            "falcon_h1 mixtral deepseek_v3 gpt_oss qwen2_vl qwen3_vl llava",
        ),
    ],
)
def test_an_absent_flag_is_what_the_class_takes(default, kinds):
    for kind in kinds.split():
        found = told(kind)
        assert (kind, found.tied, found.class_default) == (kind, default, default)
        assert "the flag is absent" in found.governed_by


@pytest.mark.parametrize("kind", ["t5", "mt5", "umt5", "longt5", "pop2piano", "udop"])
def test_a_raw_false_is_what_is_declared_where_the_class_forces_true(kind):
    found = told(kind, **FALSE)
    assert found.tied is False and found.forced is True
    assert f"{kind} sets it to true" in found.governed_by
    assert "sets it" not in told(kind, **TRUE).governed_by


@pytest.mark.parametrize(
    ("kind", "config", "tied", "path"),
    [
        # the outer class takes over what its text part says
        ("llava", {"text_config": TRUE}, True, "text_config." + FLAG),
        ("llava", {"text_config": TRUE, **FALSE}, True, "text_config." + FLAG),
        ("llava", {"text_config": FALSE, **TRUE}, True, FLAG),
        ("llava", {"text_config": {"model_type": "gemma"}}, True, "text_config." + FLAG),
        ("qwen2_vl", {"text_config": TRUE}, True, "text_config." + FLAG),
        # the outer class has a flag of its own
        ("gemma3", {"text_config": FALSE}, True, FLAG),
        ("gemma3", {"text_config": TRUE, **FALSE}, False, FLAG),
        # the outer class has none, and a whole model inside reads its own part
        ("voxtral", {"text_config": TRUE}, True, "text_config." + FLAG),
        ("voxtral", {"text_config": {}, **TRUE}, False, "text_config." + FLAG),
        ("encoder-decoder", {"decoder": {"model_type": "gpt2"}}, True, "decoder." + FLAG),
        # another key
        ("lfm2", {"tie_embedding": False}, False, "tie_embedding"),
        ("llama", {"tie_embedding": True}, False, FLAG),
        # a class that nobody lists
        ("odd", TRUE, True, FLAG),
        ("odd", {"text_config": FALSE}, False, "text_config." + FLAG),
        ("odd", {}, None, FLAG),
    ],
)
def test_the_flag_that_governs(kind, config, tied, path):
    found = told(kind, **config)
    assert (found.tied, found.path) == (tied, path)


def test_the_table_is_what_transformers_does_with_parts():
    from transformers import LlavaConfig, VoxtralConfig

    assert LlavaConfig(text_config={"model_type": "llama", **TRUE}, **FALSE).tie_word_embeddings
    assert not getattr(VoxtralConfig(text_config={"model_type": "llama"}), FLAG, False)


def test_every_flag_is_listed_with_its_path():
    found = told("llava", text_config=TRUE, vision_config=FALSE, **FALSE)
    assert [(flag.path, flag.value) for flag in found.raw] == [
        (FLAG, False),
        ("text_config." + FLAG, True),
        ("vision_config." + FLAG, False),
    ]


@pytest.mark.parametrize("config", [{}, {"model_type": ["x"]}, {"architectures": {}}])
def test_nothing_useful_declares_nothing(config):
    found = declared_in(config)
    assert found.tied is None and found.scores is None


def test_the_class_name_stands_in_for_a_missing_model_type():
    found = declared_in({"architectures": ["GPT2LMHeadModel"]})
    assert found.tied is True and "(gpt2, " in found.governed_by


@pytest.mark.parametrize(
    ("scores", "architectures"),
    [
        (True, "GPT2LMHeadModel BertForPreTraining VisionEncoderDecoderModel OddForCausalLM"),
        (
            False,
            "BertModel LlamaForSequenceClassification T5EncoderModel OddForTokenClassification",
        ),
        (None, "OddModel OddForEverything For"),
    ],
)
def test_whether_a_class_scores_tokens(scores, architectures):
    for name in architectures.split():
        assert (name, scores_tokens(name, None)) == (name, scores)
    assert scores_tokens(None, "llama") is True
    assert scores_tokens(None, "vit") is None


def test_gguf_has_no_flag():
    assert inferred(stores_head=False).tied is True
    assert inferred(stores_head=True).tied is False
    assert inferred(stores_head=True).raw == ()


def install(monkeypatch, folder, version="6.0.0"):
    """Make it look as if this version of transformers were the installed one."""
    (folder / f"transformers-{version}.dist-info").mkdir()
    monkeypatch.syspath_prepend(folder)
    assert defaults.installed_version() == version


@pytest.fixture
def another(monkeypatch, tmp_path, empty_cache):
    """Another version is installed; `another` holds what it was asked, and what it answers."""
    asked, answers = [], {"llama": {"default": True}, "gpt2": {"default": True}}

    def answer(model_type):
        asked.append(model_type)
        return {"facts": answers[model_type]} if model_type in answers else None

    install(monkeypatch, tmp_path)
    monkeypatch.setattr(defaults, "_ask_installed", answer)
    return asked, answers


def test_where_a_default_decides_the_installed_transformers_is_asked_once(another):
    asked, _ = another
    for _ in range(2):
        found = told("llama")
        assert (found.tied, found.class_default) == (True, True)  # the table says false
        assert "llama, transformers 6.0.0)" in found.governed_by
    assert asked == ["llama"]


@pytest.mark.parametrize("config", [TRUE, FALSE, {"text_config": TRUE}], ids=str)
def test_a_flag_that_is_written_asks_nobody(another, config):
    asked, _ = another
    told("llava" if "text_config" in config else "llama", **config)
    assert asked == []


def test_a_part_that_writes_text_is_asked_for_too(another):
    asked, answers = another
    answers["encoder-decoder"] = {"default": None, "part": "decoder", "part_type": None}
    answers["gpt2"] = {"default": False}
    found = told("encoder-decoder", decoder={"model_type": "gpt2"})
    assert found.tied is False and "gpt2, transformers 6.0.0)" in found.governed_by
    assert asked == ["encoder-decoder", "gpt2"]


def test_a_class_newer_than_the_table_is_known_to_the_installed_one(another):
    another[1]["odd"] = {"default": True}
    assert told("odd").tied is True
    another[1]["odder"] = None  # neither knows it: kept as such
    assert told("odder").tied is None and told("odder").tied is None
    assert another[0] == ["odd", "odder"]


def test_where_it_cannot_be_asked_the_answer_says_that_it_may_differ(another):
    found = told("gemma")
    assert found.tied is True
    assert "6.0.0 is installed, and may differ" in found.governed_by


def test_what_was_kept_is_by_version_and_a_damaged_file_is_made_again(
    another, empty_cache, monkeypatch, tmp_path
):
    told("llama")
    [kept] = (empty_cache / "class_defaults").iterdir()
    assert kept.name == "6.0.0.json"
    kept.write_text("{")
    assert told("llama").tied is True
    newer = tmp_path / "newer"
    newer.mkdir()
    install(monkeypatch, newer, "6.1.0")
    another[1]["llama"] = {"default": False}
    assert told("llama").tied is False


def test_the_installed_transformers_answers_from_a_process_of_its_own():
    facts = class_facts("gemma3")
    assert defaults._ask_installed("gemma3") == {"facts": facts}
    assert defaults._ask_installed("odd") == {"facts": None}


def test_without_transformers_the_version_of_the_table_is_said(monkeypatch):
    monkeypatch.setattr(defaults, "installed_version", lambda: None)
    words = told("llama").governed_by
    assert f"transformers {table_version()}; none is installed here)" in words


def test_a_transformers_installed_in_a_rarer_way_is_found_too(monkeypatch, tmp_path):
    import importlib.metadata

    monkeypatch.setattr(sys, "path", [str(tmp_path / "gone.zip"), str(tmp_path)])
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "6.0.0")
    assert defaults.installed_version() == "6.0.0"


TWO_ROWS = 'gemma3\t{"default": true}\nmodel_types\tgemma3_text'


@pytest.mark.parametrize("name", [TWO_ROWS, "", "lla", "llama\t", "\ud800", 7, []])
def test_a_name_is_found_whole_or_not_at_all(name):
    assert class_facts(name) is None
    assert scores_tokens(None, name) is None


def test_a_row_that_is_looked_up_is_the_row_of_the_whole_table():
    facts = table()["model_types"]
    assert {name: class_facts(name) for name in facts} == facts


@pytest.mark.skipif(
    table_version() != transformers.__version__,
    reason="the table is of another transformers; .ci/newest makes it again",
)
def test_the_table_is_what_the_generator_measures():
    from tiedviz.verdict.class_defaults import class_defaults

    assert class_defaults() == table()
