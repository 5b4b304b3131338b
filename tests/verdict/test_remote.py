"""Repositories on a stand-in Hub, judged from their headers: no weight is downloaded."""

import json

from tests.files.conftest import Build
from tests.hub.conftest import hub
from tests.hub.released import released_gpt2
from tests.verdict.conftest import tiny
from tiedviz.commands.line import main

__all__ = ["hub"]  # a fixture

LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}


def audit(capfd, model, *options):
    capfd.readouterr()
    status = main(["audit", model, "--json", *options])
    return status, json.loads(capfd.readouterr().out)


def test_seventy_billion_parameters_in_thirty_shards(hub, tmp_path, capfd):
    build = Build(tmp_path)
    build.config(**LLAMA, vocab_size=128_256, tie_word_embeddings=False)
    block = {
        "mlp.up_proj": (28_672, 8192), "mlp.gate_proj": (28_672, 8192),
        "mlp.down_proj": (8192, 28_672), "self_attn.q_proj": (8192, 8192),
        "self_attn.k_proj": (1024, 8192), "self_attn.v_proj": (1024, 8192),
        "self_attn.o_proj": (8192, 8192), "input_layernorm": (8192,),
        "post_attention_layernorm": (8192,),
    }  # fmt: skip
    tables = {
        "model.embed_tokens.weight": (128_256, 8192),
        "lm_head.weight": (128_256, 8192),
        "model.norm.weight": (8192,),
    }
    every = tables | {
        f"model.layers.{layer}.{name}.weight": shape
        for layer in range(80)
        for name, shape in block.items()
    }
    names = list(every)
    files = {}
    for shard in range(30):
        name = f"model-{shard + 1:05}-of-00030.safetensors"
        held = names[shard::30]
        build.safetensors({key: ("BF16", every[key]) for key in held}, name, sparse=True)
        files |= dict.fromkeys(held, name)
    build.index(files)
    hub.repositories["org/seventy"] = tmp_path
    status, found = audit(capfd, "org/seventy", "--no-load")
    assert (status, found["verdict"]) == (2, "cannot_tell")
    assert "comparing the two stored matrices reads 4.20 GB" in found["summary"]
    assert found["parameters"]["total"] == 70_553_706_496
    assert hub.sent < 4_000_000


def test_one_stored_matrix_is_decided_from_afar(hub, tmp_path, capfd):
    tiny(True).save_pretrained(tmp_path / "tied")
    hub.repositories["org/tied"] = tmp_path / "tied"
    status, found = audit(capfd, "org/tied", "--no-load")
    assert (status, found["verdict"]) == (0, "tied")
    assert found["parameters"]["total"] == 6000


def test_gpt2_as_it_was_released(hub, tmp_path, capfd):
    hub.repositories["openai-community/gpt2"] = released_gpt2(tmp_path / "gpt2")
    _, found = audit(capfd, "openai-community/gpt2", "--no-load")
    assert found["verdict"] == "tied" and found["declared"]["raw"] == []
    assert found["declared"]["class_default"] is True
    masks = 2 * 48 * 48
    assert found["stored"]["numbers"] == found["parameters"]["total"] + masks


def test_pickled_weights_cannot_be_read_from_afar(hub, tmp_path, capfd):
    Build(tmp_path).config(**LLAMA)
    Build(tmp_path).bin({"a": tiny(True).model.embed_tokens.weight})
    hub.repositories["org/pickled"] = tmp_path
    assert main(["audit", "org/pickled", "--no-load"]) == 2
    assert "pickled" in capfd.readouterr().err
