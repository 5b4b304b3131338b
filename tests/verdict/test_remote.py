"""Repositories on a stand-in Hub, judged from their headers: no weight is downloaded."""

import json

import pytest

from tests.files.conftest import Build
from tests.hub.conftest import hub
from tests.hub.released import released_gpt2
from tests.verdict.conftest import Checkpoint, tiny
from tiedviz.commands.line import main
from tiedviz.models.hub_client import list_repository, remote_header
from tiedviz.verdict.stored import compare_remote, from_header
from tiedviz.words.refusals.hub import HubRefusal, HubUnreachable

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


# Two copies that lie on the Hub.


def two_copies(hub, folder, head, **flags):
    saved = Checkpoint(folder)
    tiny(True).save_pretrained(folder)
    saved.add_head(head)
    for key, value in flags.items():
        saved.flag(value, key)
    hub.repositories["org/two"] = folder
    return saved


def nudged(e):
    e[41, 3] += 1
    return e


@pytest.mark.parametrize(
    ("word", "status", "head", "flag"),
    [
        ("twin", 0, lambda e: e, True),
        ("twin", 1, lambda e: e, False),
        ("contradiction", 1, nudged, True),
        ("untied", 0, nudged, False),
        ("near_twin", 1, lambda e: e.bfloat16(), True),
    ],
)
def test_two_copies_on_the_hub_are_decided_by_fetching_just_them(
    hub, tmp_path, capfd, word, status, head, flag
):
    two_copies(hub, tmp_path, head, tie_word_embeddings=flag)
    assert audit(capfd, "org/two", "--no-load")[1]["verdict"] == "cannot_tell"
    headers = hub.sent
    ended, found = audit(capfd, "org/two", "--no-load", "--compare")
    assert (ended, found["verdict"]) == (status, word)
    if word == "contradiction":
        compared = found["stored"]["comparison"]
        assert (compared["differing_elements"], compared["differing_rows"]) == (1, 1)
    tables = 50 * 16 * (6 if word == "near_twin" else 8)
    assert hub.sent == 2 * headers + tables
    assert not any(tmp_path.parent.glob("hf/**/*.safetensors"))


def test_each_byte_is_fetched_once_in_blocks(hub, tmp_path, monkeypatch):
    from tiedviz.models import hub_client
    from tiedviz.verdict import copies as comparing

    two_copies(hub, tmp_path, nudged)
    listing = list_repository("org/two")
    header, config = remote_header(listing)
    stored = from_header(header, config)
    monkeypatch.setattr(comparing, "_BLOCK", 640)  # ten rows
    asked, steps = [], []
    plain = hub_client.remote_reader

    def counting(listing, name):
        read = plain(listing, name)

        def counted(offset, length):
            asked.append(length)
            return read(offset, length)

        return counted

    monkeypatch.setattr(hub_client, "remote_reader", counting)
    found = compare_remote(listing, stored, lambda done, total: steps.append((done, total)))
    assert asked == [640] * 10 and sum(asked) == stored.to_read == 6400
    assert steps == [(640 * n, 3200) for n in range(1, 6)]
    assert found.comparison.differing_elements == 1 and found.uncompared == ""


def test_a_comparison_can_be_stopped_at_a_block(hub, tmp_path, monkeypatch):
    from tiedviz.verdict import copies as comparing

    two_copies(hub, tmp_path, lambda e: e)
    listing = list_repository("org/two")
    stored = from_header(*remote_header(listing))
    monkeypatch.setattr(comparing, "_BLOCK", 640)
    before = len(hub.requests)

    class Stopped(Exception):
        pass

    def stop(done, total):
        raise Stopped

    with pytest.raises(Stopped):
        compare_remote(listing, stored, stop)
    assert len(hub.requests) - before == 2  # one block of each


def test_a_hub_that_goes_away_in_the_middle_is_said_and_decides_nothing(hub, tmp_path, monkeypatch):
    from tiedviz.verdict import copies as comparing

    two_copies(hub, tmp_path, lambda e: e)
    listing = list_repository("org/two")
    stored = from_header(*remote_header(listing))
    monkeypatch.setattr(comparing, "_BLOCK", 640)
    steps = []

    def cut(done, total):
        steps.append(done)
        hub.cut_after = 100

    with pytest.raises(HubRefusal, match="org/two"):
        compare_remote(listing, stored, cut)
    assert len(steps) == 1 and stored.comparison is None
    hub.cut_after = None
    hub.close()
    with pytest.raises(HubUnreachable, match="did not answer within a few seconds"):
        compare_remote(listing, stored)
