"""Each way a checkpoint gets broken leads to the verdict that it is there to show."""

from __future__ import annotations

import pytest
import torch

from tiedviz.models.building import intact
from tiedviz.verdict.audit import Audit, hear_files
from tiedviz.verdict.break_one import BREAKS, tiny_tied_folder

VERDICTS = {
    "whole": "tied",
    "flag": "broken",
    "resize": "tied",
    "by hand": "broken",
    "twice": "twin",
    "merge": "contradiction",
}


@pytest.mark.parametrize("way", BREAKS)
def test_what_is_left_in_the_files(way, tmp_path):
    before = torch.random.get_rng_state()
    BREAKS[way].apply(tiny_tied_folder(tmp_path))
    declared, stored = hear_files(tmp_path)
    assert Audit(declared, stored).verdict.word == VERDICTS[way]
    assert stored.embedding.shape == ((53 if way == "resize" else 50), 16)
    assert intact()
    assert torch.equal(torch.random.get_rng_state(), before)


def test_every_way_has_its_words():
    assert all(way.title and way.story.endswith(".") for way in BREAKS.values())
