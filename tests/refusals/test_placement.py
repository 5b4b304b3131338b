"""A model that does not fit in memory: partly on disk if that is enough, refused if not."""

import re

import pytest
import torch
from transformers import LlamaForCausalLM

from tiedviz.compute.next_token.state import score_state
from tiedviz.models import memory
from tiedviz.models.loading import check_loaded, load
from tiedviz.models.memory import HEADROOM
from tiedviz.words.refusals.opening import OpeningRefusal


@pytest.fixture
def big(tiny_folder):
    """Eight blocks of which each is larger than the table."""
    return tiny_folder(hidden_size=64, intermediate_size=256, num_hidden_layers=8)


def leave(monkeypatch, share, folder):
    from tiedviz.files.facts import read_facts

    room = int(read_facts(folder).float32_bytes * share)
    monkeypatch.setattr(memory, "available_memory", lambda: HEADROOM + room)


def test_blocks_go_to_disk_and_every_number_stays_the_same(big, monkeypatch, empty_cache):
    whole = load(str(big))
    ids = [5, 90, 17, 200]
    reference = score_state(whole, ids, layer=3)
    leave(monkeypatch, 0.6, big)
    spread = load(str(big))
    places = set(spread.model.hf_device_map.values())
    assert places == {"cpu", "disk"}
    assert "disk" in spread.placement
    assert spread.tied and not spread.embedding.is_meta
    assert torch.allclose(
        score_state(spread, ids).logits, score_state(whole, ids).logits, atol=1e-5
    )
    assert torch.allclose(score_state(spread, ids, layer=3).logits, reference.logits, atol=1e-5)


def test_where_not_even_the_tables_fit_both_numbers_are_said(big, monkeypatch):
    leave(monkeypatch, 0.1, big)
    with pytest.raises(OpeningRefusal, match="does not fit in memory") as refused:
        load(str(big))
    assert re.search(r"needs 40\d MB and 40\d MB are free", str(refused.value))


def test_what_fits_goes_to_memory_without_a_word(big):
    assert load(str(big)).placement == ""


def accelerators(monkeypatch, present):
    """The machine as the decision sees it: with accelerators or without."""
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: present)


def test_where_accelerators_are_accelerate_spreads_the_model(big, monkeypatch):
    """The decision alone: no machine of ours has one, so nothing here was run on one."""
    from tiedviz.files.facts import read_facts

    accelerators(monkeypatch, True)
    leave(monkeypatch, 0.1, big)  # memory is no matter then
    found = memory.place(LlamaForCausalLM, big, read_facts(big), "big")
    assert found.options == {"device_map": "auto"}
    assert found.words == "spread over the accelerators"


def test_without_accelerators_room_decides(big, monkeypatch, empty_cache):
    from tiedviz.files.facts import read_facts
    from tiedviz.models.building import building

    facts = read_facts(big)
    accelerators(monkeypatch, False)
    leave(monkeypatch, 1.0, big)
    assert memory.place(LlamaForCausalLM, big, facts, "big").options == {}
    leave(monkeypatch, 0.6, big)
    with building():
        options = memory.place(LlamaForCausalLM, big, facts, "big").options
    places = options["device_map"]
    assert places["model.embed_tokens"] == places["lm_head"] == "cpu"
    blocks = [places[f"model.layers.{n}"] for n in range(8)]
    assert blocks == sorted(blocks) and set(blocks) == {"cpu", "disk"}
    assert options["offload_folder"].startswith(str(empty_cache))


def test_a_device_map_of_auto_loads_and_answers_the_same(big, monkeypatch):
    """`auto` itself, on a machine where accelerate finds nothing but memory."""
    whole = load(str(big))
    accelerators(monkeypatch, True)
    spread = load(str(big))
    assert spread.placement == "spread over the accelerators" and spread.tied
    ids = [5, 90, 17, 200]
    assert torch.equal(score_state(spread, ids).logits, score_state(whole, ids).logits)


def test_a_block_without_numbers_is_not_taken_for_one_on_disk(tiny_folder):
    """Block 1 is on disk, and the name of block 10 begins like its."""
    from tiedviz.files.facts import read_facts

    folder = tiny_folder(num_hidden_layers=11)
    model = load(str(folder)).model
    model.hf_device_map = {"model.layers.1": "disk"}
    model.model.layers[1].to("meta")
    check_loaded(model, read_facts(folder), "offloaded")
    model.model.layers[10].to("meta")
    with pytest.raises(OpeningRefusal, match="got no numbers"):
        check_loaded(model, read_facts(folder), "offloaded")


def test_blocks_that_wait_in_memory_for_an_accelerator_are_no_fault(tiny_folder):
    from tiedviz.files.facts import read_facts

    folder = tiny_folder(tied=False)
    model, facts = load(str(folder)).model, read_facts(folder)
    model.model.layers[1].to("meta")
    model.hf_device_map = {"model.layers.0": 0, "model.layers.1": "cpu"}
    check_loaded(model, facts, "small accelerator")
    model.hf_device_map = {"model.layers.0": "cpu", "model.layers.1": "cpu"}
    with pytest.raises(OpeningRefusal, match="got no numbers"):
        check_loaded(model, facts, "no accelerator")
    model.hf_device_map = {"model": 0, "model.layers.1": "cpu", "lm_head": "cpu"}
    model.lm_head.to("meta")
    with pytest.raises(OpeningRefusal, match="does not fit on the accelerators"):
        check_loaded(model, facts, "smaller accelerator")


def test_a_model_without_a_list_of_blocks_is_too_large_as_a_whole(big, monkeypatch):
    """It is the same model, as if its blocks hung in it by names of their own."""
    from transformers import LlamaConfig

    from tiedviz.files.facts import read_facts

    class Listless(torch.nn.Linear):
        config_class = LlamaConfig

        def __init__(self, config: object) -> None:
            super().__init__(1_000, 10)

    leave(monkeypatch, 0.0, big)
    with pytest.raises(OpeningRefusal, match="does not fit in memory"):
        memory.place(Listless, big, read_facts(big), "listless")
