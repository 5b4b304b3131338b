"""A config.json may name code in many ways: none of it is fetched, imported or run."""

from __future__ import annotations

import json
import shutil
import socket

import pytest

from tiedviz.compute.counts.count import count_config
from tiedviz.files.config import read_config
from tiedviz.models.loading import load
from tiedviz.words.refusals import Refusal

NAMES = (
    *("kernels-community/flash-attn2", "owner/kernel", "owner/kernel@v1:forward"),
    *("paged|owner/kernel:forward", "sdpa|owner/kernel:fn", "flash_attention_2"),
    *("flash_attention_3", "flex_attention", "eager", "no such way"),
)
KEYS = (
    *("attn_implementation", "_attn_implementation", "_attn_implementation_internal"),
    *("experts_implementation", "_experts_implementation", "_experts_implementation_internal"),
)
CODE = {"AutoConfig": "owner/repo--code.Config", "AutoModelForCausalLM": "code.Model"}
OTHERS = [
    {"auto_map": CODE},
    {"use_kernels": True},
    {"kernel_config": {"RMSNorm": "owner/kernel:RMSNorm"}},
    {"attn_implementation": {"": "owner/kernel", "text_config": "owner/kernel"}},
    {"custom_pipelines": {"x": {"impl": "code.Pipeline", "pt": ["AutoModel"]}}},
    {"quantization_config": {"quant_method": "custom", "module": "code"}},
    {"quantization_config": {"quant_method": "fp8", "kernel": "owner/kernel"}},
    {"trust_remote_code": True, "auto_map": CODE},
]


@pytest.fixture
def no_network(monkeypatch):
    """Every attempt to reach another machine, or to ask for its address, is written down."""
    asked = []

    def refuse(*arguments, **named):
        asked.append(arguments)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    return asked


@pytest.fixture
def folder_with(tiny_folder, tmp_path):
    good = tiny_folder(name="code")

    def build(changes):
        folder = tmp_path / "model"
        shutil.copytree(good, folder)
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))
        return folder

    return build


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("name", NAMES)
def test_the_attention_is_chosen_here(folder_with, no_network, key, name):
    folder = folder_with({key: name})
    loaded = load(str(folder))
    assert loaded.model.config._attn_implementation in ("sdpa", "eager")
    assert count_config(read_config(folder), "it").total > 0
    assert no_network == []


@pytest.mark.parametrize("changes", OTHERS, ids=lambda changes: next(iter(changes)))
def test_no_other_key_fetches_or_runs_code(folder_with, no_network, changes):
    folder = folder_with(changes)
    for ask in (lambda: load(str(folder)), lambda: count_config(read_config(folder), "it")):
        try:
            ask()
        except Refusal as refusal:
            assert "network" not in str(refusal)
    assert no_network == []


def test_the_attention_of_a_part_inside_is_chosen_here_too(no_network, tmp_path, tiny_tokenizer):
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    from tests.conftest import randomise
    from tiedviz.models.building import building

    text = dict(
        vocab_size=len(tiny_tokenizer), hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, head_dim=8, max_position_embeddings=64,
    )  # fmt: skip
    vision = dict(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        image_size=28, patch_size=14,
    )  # fmt: skip
    config = Gemma3Config(text_config=text, vision_config=vision, mm_tokens_per_image=4)
    with building():
        model = Gemma3ForConditionalGeneration(config)
    randomise(model)
    model.save_pretrained(tmp_path)
    tiny_tokenizer.save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    raw = json.loads(path.read_text())
    for part in ("text_config", "vision_config"):
        raw[part]["attn_implementation"] = raw[part]["_attn_implementation"] = "owner/kernel"
    path.write_text(json.dumps(raw))
    loaded = load(str(tmp_path))
    parts = loaded.model.config, loaded.model.config.text_config, loaded.model.config.vision_config
    assert {part._attn_implementation for part in parts} <= {"sdpa", "eager"}
    assert no_network == []


@pytest.mark.parametrize("name", ["rwkv"])
def test_a_class_that_would_fetch_a_kernel_of_its_own_does_not(no_network, architecture, name):
    from tiedviz.compute.next_token.state import score_state

    score_state(architecture(name), [41, 7, 90])
    assert no_network == []
