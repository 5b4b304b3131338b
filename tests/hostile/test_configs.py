"""Any config.json beside good weights is an answer or a refusal, soon; nothing is built first."""

from __future__ import annotations

import json
import shutil
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from tiedviz.compute.counts.count import count_config
from tiedviz.files.config import read_config
from tiedviz.models.loading import load
from tiedviz.models.progress import silent
from tiedviz.verdict.audit import audit
from tiedviz.words.refusals import Refusal
from tiedviz.words.refusals.opening import OpeningRefusal

KEYS = (
    *("vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size", "tie_word_embeddings"),
    *("num_attention_heads", "num_key_value_heads", "model_type", "architectures", "text_config"),
    *("quantization_config", "auto_map", "head_dim", "rope_parameters", "layer_types", "dtype"),
    *("max_position_embeddings", "bos_token_id", "torch_dtype", "transformers_version"),
)
values = (
    some.none()
    | some.booleans()
    | some.integers(-3, 70)
    | some.sampled_from(
        [10**6, 10**9, 10**18, -1, 2**63, 1e308, 0.5, "", "5", "gpt2", "t5", "x" * 999]
    )
    | some.text(max_size=8)
)
nested = some.recursive(
    values,
    lambda inner: (
        some.lists(inner, max_size=3)
        | some.dictionaries(some.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=6,
)
changes = some.dictionaries(some.sampled_from(KEYS), nested, min_size=1, max_size=3)


@pytest.fixture(scope="module")
def copy(tmp_path_factory, tiny_folder):
    """A folder of our own, and the configuration it was saved with."""
    folder = tmp_path_factory.mktemp("changed") / "model"
    shutil.copytree(tiny_folder(name="good"), folder)
    return folder, json.loads((folder / "config.json").read_text())


def answers_or_refuses(folder, config) -> None:
    (folder / "config.json").write_text(json.dumps(config))
    for ask in (
        lambda: audit(str(folder), load=False, report=silent),
        lambda: count_config(read_config(folder), "it"),
        lambda: load(str(folder)),
    ):
        began = time.monotonic()
        try:
            ask()
        except Refusal as refusal:
            assert "\n" not in str(refusal)
            assert len(str(refusal)) < 2_000
        assert time.monotonic() - began < 20


@settings(
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(changes)
def test_any_change_of_a_good_config_is_an_answer_or_a_refusal(copy, change):
    folder, good = copy
    answers_or_refuses(folder, good | change)


@pytest.mark.parametrize(
    "change",
    [
        {"num_hidden_layers": 10**7},
        {"num_hidden_layers": 10**12},
        {"intermediate_size": 10**7, "num_hidden_layers": 900},
        {"num_attention_heads": 10**9, "num_key_value_heads": 10**9, "head_dim": 10**9},
    ],
)
def test_a_model_far_larger_than_its_files_is_not_built(copy, change):
    """What the files lack the library would fill with random numbers: hours, or all memory."""
    folder, good = copy
    (folder / "config.json").write_text(json.dumps(good | change))
    began = time.monotonic()
    with pytest.raises(OpeningRefusal, match="was not built") as refusal:
        load(str(folder))
    assert time.monotonic() - began < 20
    assert "config.json" in str(refusal.value)
    (folder / "config.json").write_text(json.dumps(good))
    assert load(str(folder)).tied  # and nothing is left behind that would stop the next
