"""A model that does not fit in memory: partly on disk if that is enough, refused if not."""

import re

import pytest
import torch

from tiedviz.compute.reading import read
from tiedviz.models import placement
from tiedviz.models.loading import load
from tiedviz.models.memory import HEADROOM
from tiedviz.words.opening_refusals import TooLittleMemory


@pytest.fixture
def big(tiny_folder):
    """Eight blocks of which each is larger than the table."""
    return tiny_folder(hidden_size=64, intermediate_size=256, num_hidden_layers=8)


def leave(monkeypatch, share, folder):
    from tiedviz.files.facts import read_facts

    room = int(read_facts(folder).float32_bytes * share)
    monkeypatch.setattr(placement, "available_memory", lambda: HEADROOM + room)


def test_blocks_go_to_disk_and_every_number_stays_the_same(big, monkeypatch, empty_cache):
    whole = load(str(big))
    ids = [5, 90, 17, 200]
    reference = read(whole, ids, layer=3)
    leave(monkeypatch, 0.6, big)
    spread = load(str(big))
    places = set(spread.model.hf_device_map.values())
    assert places == {"cpu", "disk"}
    assert "disk" in spread.placement
    assert spread.tied and not spread.embedding.is_meta
    assert torch.allclose(read(spread, ids).logits, read(whole, ids).logits, atol=1e-5)
    assert torch.allclose(read(spread, ids, layer=3).logits, reference.logits, atol=1e-5)


def test_where_not_even_the_tables_fit_both_numbers_are_said(big, monkeypatch):
    leave(monkeypatch, 0.1, big)
    with pytest.raises(TooLittleMemory) as refused:
        load(str(big))
    assert re.search(r"needs 40\d MB and 40\d MB are free", str(refused.value))


def test_what_fits_goes_to_memory_without_a_word(big):
    assert load(str(big)).placement == ""
