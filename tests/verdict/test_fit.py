"""Do the files fit config.json? A tensor dropped, renamed, resized or nested is found and named."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from safetensors.torch import load_file, save_file

from tests.tiny_models import build
from tests.verdict.conftest import DELETE
from tiedviz.commands.line import main
from tiedviz.files.fit import plain_name
from tiedviz.models.loading import load
from tiedviz.models.progress import silent
from tiedviz.verdict.audit import audit
from tiedviz.verdict.record import audit_record
from tiedviz.verdict.repair import Repair, repair_for
from tiedviz.words.refusals.opening import CheckpointRefusal

E = "model.embed_tokens.weight"


@pytest.fixture
def saved(tiny_folder, tmp_path):
    """A copy of the tiny Llama whose tensors and configuration can be changed."""

    def make(change=lambda tensors: None, *, tied=True, **config):
        folder = tmp_path / "model"
        shutil.copytree(tiny_folder(tied=tied, name=f"fit {tied}"), folder)
        file = folder / "model.safetensors"
        tensors = load_file(file)
        save_file(change(tensors) or tensors, file, {"format": "pt"})
        path = folder / "config.json"
        raw = json.loads(path.read_text()) | config
        path.write_text(json.dumps({k: v for k, v in raw.items() if v is not DELETE}))
        return folder

    return make


def heard(folder, *, load_it=True):
    found = audit(str(folder), load=load_it, report=silent)
    return found, audit_record(found)["fit"]


def refused(folder, *names):
    """Every command that shows a number refuses with the same reason, and names the tensors."""
    with pytest.raises(CheckpointRefusal) as refusal:
        load(str(folder))
    assert "do not fit its config.json" in refusal.value.what
    for name in names:
        assert name in refusal.value.why
    return refusal.value


def without(name):
    return lambda tensors: {key: each for key, each in tensors.items() if key != name}


def test_a_whole_checkpoint_fits(saved):
    folder = saved()
    for load_it in (True, False):
        found, fit = heard(folder, load_it=load_it)
        assert found.verdict.word == "tied" and not found.verdict.is_wrong
        assert fit["fits"] and fit["source"] == ("loaded" if load_it else "headers")
        assert not fit["missing"] and not fit["unexpected"] and not fit["mismatched"]


@pytest.mark.parametrize(
    "name",
    [
        "model.layers.1.mlp.up_proj.weight",
        "model.layers.0.self_attn.q_proj.weight",
        "model.norm.weight",
        "model.layers.1.input_layernorm.weight",
    ],
)
def test_one_missing_parameter_is_broken_and_named(saved, name):
    folder = saved(without(name))
    refused(folder, name, "1 parameter is in no file")
    found, fit = heard(folder)
    assert (found.verdict.word, found.verdict.is_wrong) == ("broken", True)
    assert name in found.verdict.summary and fit["missing"] == [name]
    assert "Nothing to do" not in found.verdict.advice
    assert found.measured is None


@pytest.mark.parametrize(
    "words",
    [
        ("inspect", "--prompt", "the cat"),
        ("lens", "--prompt", "the cat"),
        ("gradients", "--text", "the cat sat"),
        ("neighbors", "id:3"),
        ("inspect", "--prompt", "the cat", "--continue", "2"),
    ],
    ids=lambda words: " ".join(words),
)
def test_every_command_with_a_number_refuses(saved, words, capsys, tmp_path):
    name = "model.layers.1.mlp.up_proj.weight"
    folder = saved(without(name))
    assert main([words[0], str(folder), *words[1:]]) == 2
    said = capsys.readouterr()
    assert not said.out and name in said.err
    assert main(["map", str(folder), "--out", str(tmp_path / "m.csv")]) == 2
    assert main(["compare", str(folder), str(folder), "--prompt", "the"]) == 2
    assert name in capsys.readouterr().err
    assert main(["audit", str(folder)]) == 1


def test_more_blocks_declared_than_stored(saved):
    folder = saved(num_hidden_layers=4)
    refused(folder, "config.json declares 4 blocks, the files hold 2", "model.layers.2")
    for load_it in (True, False):
        found, fit = heard(folder, load_it=load_it)
        assert found.verdict.word == "broken" and fit["blocks"] == {"declared": 4, "stored": 2}
        assert "declares 4 blocks" in found.verdict.summary


def test_a_block_that_lacks_in_the_middle(saved):
    def drop(tensors):
        return {name: each for name, each in tensors.items() if ".layers.0." not in name}

    folder = saved(drop)
    refused(folder, "model.layers.0")
    found, fit = heard(folder, load_it=False)
    assert found.verdict.word == "broken" and fit["missing"] == ["model.layers.0"]


def test_fewer_blocks_declared_than_stored_is_said_and_numbers_are_shown(saved):
    folder = saved(num_hidden_layers=1)
    assert load(str(folder)).model.config.num_hidden_layers == 1
    for load_it in (True, False):
        found, fit = heard(folder, load_it=load_it)
        assert (found.verdict.word, found.verdict.is_wrong) == ("tied", True)
        assert fit["blocks"] == {"declared": 1, "stored": 2} and not fit["fits"]
        assert "declares 1 block, the files hold 2" in found.verdict.evidence[1].text


def wrapped(rename):
    return lambda tensors: {rename(name): each for name, each in tensors.items()}


NESTED = {
    "_orig_mod.": lambda name: f"_orig_mod.{name}",
    "module.": lambda name: f"module.{name}",
    "base_model.model.": lambda name: f"base_model.model.{name}",
    "model_state_dict.": lambda name: f"model_state_dict.{name}",
    "state_dict.": lambda name: f"state_dict.{name}",
    "module. and _orig_mod.": lambda name: f"module._orig_mod.{name}",
    "_fsdp_wrapped_module. inside": lambda name: name.replace(
        "model.layers.", "model._fsdp_wrapped_module.layers."
    ),
    "only some": lambda name: f"module.{name}" if "layers.1" in name else name,
    "twice": lambda name: f"module.module.{name}",
}


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("tied", [True, False])
def test_names_that_no_class_loads_are_broken_and_can_be_given_back(saved, kind, tied, tmp_path):
    folder = saved(wrapped(NESTED[kind]), tied=tied)
    word = kind.split()[0] if kind[-1] == "." or "inside" in kind else "module."
    refused(folder, f"`{word}`")
    for load_it in (True, False):
        found, fit = heard(folder, load_it=load_it)
        assert (found.verdict.word, found.verdict.is_wrong) == ("broken", True)
        assert word in fit["renamed"] and f"`{word}`" in found.verdict.advice
        assert "flag" not in found.verdict.summary and not found.verdict.causes
    repair = repair_for("broken", found.declared, found.stored)
    assert isinstance(repair, Repair)
    given = {path.name: path.read_bytes() for path in folder.iterdir()}
    fixed = tmp_path / "fixed"
    exec(repair.code.replace("FOLDER", str(folder)).replace("FIXED", str(fixed)), {})
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == given
    after, fit = heard(fixed)
    assert after.verdict.word == ("tied" if tied else "untied") and fit["fits"]
    assert after.measured.reproduced
    assert (fixed / "tokenizer.json").is_file()


@pytest.mark.parametrize("nest", ["model_state_dict", "state_dict"])
def test_a_nested_pickle_is_given_back(saved, nest, tmp_path):
    folder = saved()
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save({nest: tensors}, folder / "pytorch_model.bin")
    found, fit = heard(folder, load_it=False)
    assert found.verdict.word == "broken" and fit["renamed"] == [f"{nest}."]
    repair = repair_for("broken", found.declared, found.stored)
    fixed = tmp_path / "fixed"
    exec(repair.code.replace("FOLDER", str(folder)).replace("FIXED", str(fixed)), {})
    assert heard(fixed)[0].verdict.word == "tied"


@pytest.mark.parametrize("declared", [47, 350])
@pytest.mark.parametrize("tied", [True, False])
def test_rows_that_do_not_fit_vocab_size(saved, declared, tied, tmp_path):
    folder = saved(tied=tied, vocab_size=declared)
    rows = len(load_file(folder / "model.safetensors")[E])
    refusal = refused(folder, E, str(rows), str(declared))
    assert f"Set vocab_size to {rows}" in refusal.remedy
    for load_it in (True, False):
        found, fit = heard(folder, load_it=load_it)
        assert (found.verdict.word, found.verdict.is_wrong) == ("broken", True)
        assert fit["vocab_size"] == rows and f"Set vocab_size to {rows}" in found.verdict.advice
    repair = repair_for("broken", found.declared, found.stored)
    fixed = tmp_path / "fixed"
    exec(repair.code.replace("FOLDER", str(folder)).replace("FIXED", str(fixed)), {})
    assert heard(fixed)[0].verdict.word == ("tied" if tied else "untied")


@pytest.mark.parametrize("side", [E, "lm_head.weight"])
@pytest.mark.parametrize("more", [3, -3])
def test_one_side_that_was_resized_alone(saved, side, more):
    def resize(tensors):
        old = tensors[side]
        tensors[side] = torch.cat([old, old[:more]]) if more > 0 else old[:more].clone()

    folder = saved(resize, tied=False)
    refusal = refused(folder, side)
    assert "vocab_size" not in refusal.remedy
    for load_it in (True, False):
        found, fit = heard(folder, load_it=load_it)
        assert (found.verdict.word, found.verdict.is_wrong) == ("broken", True)
        assert [each["name"] for each in fit["mismatched"]] == [side]
        assert "as declared" not in found.verdict.summary and found.measured is None


@pytest.mark.parametrize(
    ("config", "rows"),
    [
        ({"model_type": "mllama", "architectures": ["MllamaForConditionalGeneration"],
          "text_config": {"model_type": "mllama_text_model", "vocab_size": 50}}, (58, 50)),
        ({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 50,
          "draft_vocab_size": 20, "tie_word_embeddings": False}, (50, 20)),
    ],
    ids=["mllama", "draft"],
)  # fmt: skip
def test_unequal_rows_by_design_are_normal(tmp_path, config, rows):
    (tmp_path / "config.json").write_text(json.dumps(config))
    tables = {E: torch.randn(rows[0], 16), "lm_head.weight": torch.randn(rows[1], 16)}
    save_file(tables, tmp_path / "model.safetensors")
    found, fit = heard(tmp_path, load_it=False)
    assert (found.verdict.word, found.verdict.is_wrong) == ("untied", False)
    assert fit["fits"]


def test_only_the_head_is_stored_of_a_tied_model(saved):
    def rename(tensors):
        tensors["lm_head.weight"] = tensors.pop(E)

    found, fit = heard(saved(rename))
    assert found.verdict.word == "tied" and fit["fits"]


ARCHITECTURES = ("llama", "gpt2", "bert", "t5", "bart", "mamba", "gemma2", "opt")


@pytest.fixture(scope="module")
def whole(tmp_path_factory, tiny_tokenizer):
    """Eight tiny architectures, saved once."""
    folders = {}
    for name in ARCHITECTURES:
        folders[name] = tmp_path_factory.mktemp("whole") / name
        build(name).model.save_pretrained(folders[name])
        tiny_tokenizer.save_pretrained(folders[name])
    return folders


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_whole_model_of_each_architecture_fits(whole, name):
    for load_it in (True, False):
        found, fit = heard(whole[name], load_it=load_it)
        assert fit["fits"], fit
        assert found.verdict.word != "broken"


@settings(
    max_examples=12,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=some.data())
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_any_tensor_spoilt_is_named_and_no_number_shown(whole, name, tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("spoilt") / name
    shutil.copytree(whole[name], folder)
    file = folder / "model.safetensors"
    tensors = load_file(file)
    # what is no parameter, such as BART's bias of zeros, is made anew as it was
    spoilt = data.draw(some.sampled_from(sorted(tensors.keys() - {"final_logits_bias"})))
    how = data.draw(some.sampled_from(["drop", "rename", "resize", "nest"]))
    old = tensors.pop(spoilt)
    if how == "rename":
        tensors[f"{spoilt}_old"] = old
    elif how == "resize":
        tensors[spoilt] = torch.cat([old, old[:1]])
    elif how == "nest":
        tensors[f"module.{spoilt}"] = old
    save_file(tensors, file, {"format": "pt"})
    refusal = refused(folder)
    found, fit = heard(folder)
    assert found.verdict.word == "broken" and found.verdict.is_wrong
    assert "Nothing to do" not in found.verdict.advice
    named = [*fit["missing"], *(each["name"] for each in fit["mismatched"])]
    assert any(plain_name(spoilt) in each or each in spoilt for each in named) or fit["renamed"]
    assert refusal.fit == found.fit
