"""Configurations that are a slip or an attack: refused at once, in words, with nothing built."""

import json
import resource
import subprocess
import sys
import time

import pytest

from tests.conftest import ROOT
from tiedviz.compute.counts.configs import config_in_text
from tiedviz.compute.counts.count import count_config
from tiedviz.files.bounds import MAX_TENSORS, check_bounds
from tiedviz.words.catalogue import catalogue
from tiedviz.words.refusals.count import CountRefusal
from tiedviz.words.refusals.file import BrokenJson, FileRefusal
from tiedviz.words.refusals.opening import CheckpointRefusal

HOSTILE = {
    "a million layers": {"num_hidden_layers": 1_000_000},
    "a trillion layers": {"num_hidden_layers": 10**12},
    "layers as a float": {"num_hidden_layers": 1e6},
    "10^15 parameters in the table": {"vocab_size": 10**8, "hidden_size": 10_000_000},
    "10^15 parameters in the layers": {"num_hidden_layers": 1000, "hidden_size": 1_000_000},
    "10^15 in the MLP": {"hidden_size": 1_000_000, "intermediate_size": 10_000_000},
    "a table of 10^30 rows": {"vocab_size": 10**30},
    "a number of 5,000 digits": {"vocab_size": 10**4000},
    "a billion labels": {"num_labels": 10**9},
    "nested": {"text_config": {"inner": [{"num_layers": 10**7}]}},
    "nested in a list": {"depths": [2, 2, 10**6]},
    "a million experts": {"num_local_experts": 10**6},
}


@pytest.mark.parametrize("changes", HOSTILE.values(), ids=HOSTILE)
def test_hostile_sizes_are_refused_within_two_seconds_and_little_memory(llama, changes):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    with pytest.raises(CountRefusal):
        count_config(llama(**changes), "hostile")
    assert time.monotonic() - started < 2
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 200_000  # kB


def test_what_no_key_gives_away_is_stopped_while_building(monkeypatch, llama):
    """As if a class kept its number of layers under a name nobody thought of."""
    monkeypatch.setattr("tiedviz.models.building.check_bounds", lambda *_: None)
    with pytest.raises(CountRefusal, match=f"more than {MAX_TENSORS:,} separate tensors"):
        count_config(llama(num_hidden_layers=1_000_000), "unseen")
    with pytest.raises(CountRefusal, match=r"it asks for more than .* parameters"):
        count_config(llama(hidden_size=10_000_000), "unseen")


def test_after_a_refusal_the_next_model_is_counted_as_ever(llama):
    with pytest.raises(CountRefusal):
        count_config(llama(hidden_size=1_000_000, intermediate_size=10_000_000), "hostile")
    assert count_config(llama(), "next").total == 6_000


def test_a_bound_is_told_with_its_path_and_both_numbers(llama):
    with pytest.raises(CountRefusal) as refused:
        check_bounds(llama(text_config={"num_hidden_layers": 1_000_000}), "m")
    assert "text_config.num_hidden_layers is 1,000,000" in str(refused.value)
    assert "1,000 is not built" in str(refused.value)


def test_every_model_of_the_catalogue_is_within_bounds():
    for row in catalogue():
        check_bounds(row.config, row.repo_id)


def test_ordinary_large_numbers_are_no_sizes(llama):
    check_bounds(
        llama(
            rope_theta=500_000_000,
            max_position_embeddings=10_485_760,
            sliding_window=4_294_967_295,
            pad_token_id=-1,
            quantization_config={"group_size": 128, "bits": 4},
        ),
        "ordinary",
    )


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (b"", CountRefusal, "no text was given"),
        (b"   \n", CountRefusal, "no text was given"),
        (b"{", BrokenJson, None),
        (b"[1, 2]", BrokenJson, None),
        (b"gpt2", BrokenJson, None),
        (b"\xff\xfe", BrokenJson, None),
        (b"[" * 100_000, FileRefusal, None),
        (b'{"a":' * 200 + b"1" + b"}" * 200, FileRefusal, None),
        (b'{"vocab_size": ' + b"9" * 5000 + b"}", FileRefusal, None),
    ],
)
def test_text_that_is_no_configuration(text, kind, said):
    with pytest.raises(kind, match=said) as refused:
        config_in_text(text, "the pasted config.json")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("config", "kind", "said"),
    [
        ({}, CheckpointRefusal, "is of a kind that is not known here"),
        ({"model_type": "no_such"}, CheckpointRefusal, "is of a kind that is not known here"),
        ({"model_type": ["llama"]}, CheckpointRefusal, "is of a kind that is not known here"),
        (
            {"model_type": "new", "auto_map": {"AutoConfig": "conf.py--X"}},
            CheckpointRefusal,
            "wants to run code of its own",
        ),
        (
            {"model_type": "llama", "hidden_size": "wide"},
            CountRefusal,
            "cannot be built from its config.json",
        ),
        (
            {"model_type": "llama", "hidden_size": 0, "num_attention_heads": 0},
            CountRefusal,
            "cannot be built from its config.json",
        ),
        (
            {"model_type": "llama", "num_hidden_layers": None},
            CountRefusal,
            "cannot be built from its config.json",
        ),
        (
            {"model_type": "llama", "vocab_size": -5},
            CountRefusal,
            "cannot be built from its config.json",
        ),
        (
            {"model_type": "bert", "architectures": ["NoSuchClass"], "hidden_size": 7},
            CountRefusal,
            "cannot be built from its config.json",
        ),
    ],
)
def test_configurations_that_no_class_can_be_built_from(config, kind, said):
    with pytest.raises(kind, match=said) as refused:
        count_config(config, "odd")
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 600


def test_a_cold_command_refuses_a_million_layers_before_importing_torch(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"model_type": "llama", "num_hidden_layers": 1_000_000}))
    script = (
        "import sys; from tiedviz.commands.line import main; "
        f"status = main(['share', {str(file)!r}]); print(status, 'torch' in sys.modules)"
    )
    started = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert ended.stdout.split() == ["2", "False"]
    assert ended.stderr.count("\n") == 1 and "1,000,000" in ended.stderr
    assert time.monotonic() - started < 5  # interpreter included, on a busy machine


def test_labels_that_no_language_model_has_are_left_out():
    """A million of them once took twenty seconds, with the build lock held."""
    from tiedviz.models.building import unweighted_model

    model = unweighted_model(
        {"model_type": "bert", "num_labels": 1_000_000, "num_hidden_layers": 1}, "x"
    )
    assert len(model.config.id2label) == 2
