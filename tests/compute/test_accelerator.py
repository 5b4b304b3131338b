"""On an accelerator every number is the one of the CPU; nothing is mixed, nothing asks for float64.

Gradients and the timed lookup are left out: they go through sparse tensors, which the stand-in for
an accelerator cannot hold.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.compute.accelerator import ELSEWHERE, accelerator
from tests.tiny_models import build
from tiedviz.compute.compare.geometry import geometry
from tiedviz.compute.continuation import continued
from tiedviz.compute.lens import lens
from tiedviz.compute.next_token.arithmetic import logit_arithmetic, logit_difference
from tiedviz.compute.next_token.candidates import nearest_tokens
from tiedviz.compute.next_token.state import score_state, score_vector
from tiedviz.compute.token_map.neighbours import neighbours_of
from tiedviz.compute.token_map.path import hidden_path
from tiedviz.compute.token_map.projection import MapView, projected
from tiedviz.compute.token_map.recall import true_neighbours
from tiedviz.compute.token_map.rows import named_rows, row_statistics
from tiedviz.compute.unembedding import unembedding_of
from tiedviz.compute.walkthrough_model import entrance_of
from tiedviz.compute.walkthrough_rows import next_by_id, next_by_meaning, rows_around, special_rows
from tiedviz.verdict.comparisons import against_base, alikeness, through
from tiedviz.verdict.live import live_witnesses
from tiedviz.verdict.prove import prove

PROMPT = [41, 7, 90, 13, 66]


def prompt_numbers(loaded):
    """What is computed of a prompt."""
    reading, below = score_state(loaded, PROMPT), score_state(loaded, PROMPT, layer=1)
    after, seen = unembedding_of(loaded).after, lens(loaded, PROMPT, watched=[3])
    assert reading.agrees and seen.agrees
    yield from (reading.logits, reading.h, below.logits, below.residual_norm)
    yield from (seen.logits, seen.entropy, seen.norms, seen.tracked_ranks)
    position = reading.position
    yield from (hidden_path(loaded, PROMPT, position).h, score_vector(loaded, reading.h).logits)
    yield nearest_tokens(loaded, reading)["cosine"]
    yield logit_arithmetic(loaded, reading, after, 7).total
    yield logit_difference(loaded, reading, after, 7, 9).total
    yield through(loaded, reading, after, loaded.embedding)["logit"]
    yield prove(loaded, PROMPT, 50).logit_moved


def row_numbers(loaded):
    """What is computed of the rows of E."""
    named, E = named_rows(loaded), loaded.embedding
    usable = named.rows.usable
    yield from (projected(loaded, named, view).coordinates for view in MapView)
    yield row_statistics(loaded.embedding, named.rows).centred_cosine
    yield neighbours_of(E, named.rows, 9).cosine
    yield true_neighbours(E, named.rows, usable, direction=True).nearest
    yield alikeness(E, loaded.scoring_matrix).after_rotation
    yield against_base(E, loaded.scoring_matrix).moved["distance"]
    yield geometry(E, np.arange(40)).nearest
    yield from (next_by_id(loaded, 9)["cosine"], next_by_meaning(loaded, 9)["cosine"])
    yield from (entrance_of(loaded).added, special_rows(loaded)["length"].dropna())
    yield rows_around(loaded, 9)["value"]
    yield live_witnesses(loaded).measured.max_abs_error


@pytest.mark.parametrize("name", ["llama", "gpt2", "bert", "t5", "gemma2"])
@pytest.mark.parametrize("numbers", [prompt_numbers, row_numbers])
def test_every_number_is_the_one_of_the_cpu(name, numbers):
    here, there = build(name), build(name)
    with accelerator() as move:
        there = replace(there, model=move(there.model))
        assert there.embedding.device == ELSEWHERE and there.tied == here.tied
        pairs = zip(list(numbers(here)), list(numbers(there)), strict=True)
        for mine, theirs in pairs:
            assert not isinstance(theirs, torch.Tensor) or theirs.device.type == "cpu"
            assert np.allclose(np.asarray(mine), np.asarray(theirs), atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("name", ["llama", "t5", "mamba"])
def test_a_continuation_is_the_one_of_the_cpu(name):
    here, there = build(name), build(name)
    with accelerator() as move:
        there = replace(there, model=move(there.model))
        mine, theirs = (
            [token.id for token in continued(each, PROMPT, most=4)] for each in (here, there)
        )
    assert mine == theirs


def test_the_stand_in_takes_no_tensor_of_another_device_and_no_float64():
    with accelerator():
        there = torch.ones(3, device=ELSEWHERE)
        with pytest.raises(RuntimeError, match="two devices"):
            there + torch.ones(3)
        with pytest.raises(TypeError, match="float64"):
            there.double()
        assert (there.cpu() + torch.ones(3)).tolist() == [2, 2, 2]
