"""The difference of two logits taken apart adds up to it, whatever the model does to a product."""

import math

import pytest
import torch

from tiedviz.compute.next_token.arithmetic import logit_difference
from tiedviz.compute.next_token.state import ScoredState, score_state
from tiedviz.compute.unembedding import AfterHead, unembedding_of
from tiedviz.compute.unembedding.after_head import ONE, Factor
from tiedviz.words.refusals.prompt import PromptRefusal

PROMPT = [41, 7, 90, 13, 66]


def difference(loaded, a, b):
    return logit_difference(loaded, score_state(loaded, PROMPT), unembedding_of(loaded).after, a, b)


@pytest.mark.parametrize(
    "name", ["gpt2", "phi", "cohere", "granite", "gemma2", "bart", "t5", "bert"]
)
def test_it_is_the_difference_of_the_models_own_logits(architecture, name):
    loaded = architecture(name)
    logits = score_state(loaded, PROMPT).logits
    parts = difference(loaded, 17, 3)
    assert parts.own == pytest.approx(float(logits[17] - logits[3]), abs=1e-6)
    assert parts.total == pytest.approx(parts.own, abs=1e-5)
    assert parts.scaled + parts.bias + parts.capped == pytest.approx(parts.total, abs=1e-9)
    steps = parts.steps()
    assert steps["value"].iloc[:-1].sum() == pytest.approx(parts.total, abs=1e-9)
    assert steps["step"].is_unique


def test_the_other_way_round_is_minus_that(architecture):
    loaded = architecture("gemma2")
    there, back = difference(loaded, 17, 3), difference(loaded, 3, 17)
    assert there.total == -back.total and there.capped == pytest.approx(-back.capped)


def test_a_token_and_itself_differ_by_nothing(architecture):
    parts = difference(architecture("bert"), 5, 5)
    assert parts.total == parts.dot == parts.bias == 0.0


def test_scale_bias_and_cap_by_hand(orthonormal):
    """h = (3, 1, 0, …) on unit vectors: z = 4·tanh((2·h_j + b_j) / 4)."""
    h = torch.tensor([3.0, 1.0, 0, 0, 0, 0, 0, 0])
    bias = torch.tensor([0.5, -1.0, 0, 0, 0, 0, 0, 0])
    after = AfterHead(bias, "b", Factor(2.0, "s"), Factor(4.0, "c"))
    logits = after(h)
    reading = ScoredState(0, 1, 1, h, None, h, logits, 0.0, 0.0)
    parts = logit_difference(orthonormal, reading, after, 0, 1)
    assert (parts.dot, parts.scaled, parts.bias) == (2.0, 4.0, 1.5)
    expected = 4 * math.tanh(6.5 / 4) - 4 * math.tanh(1.0 / 4)
    assert parts.total == pytest.approx(expected) and parts.own == pytest.approx(expected)
    assert parts.capped == pytest.approx(expected - 5.5)
    plain = AfterHead(None, "", ONE, None)
    assert logit_difference(orthonormal, reading, plain, 0, 1).capped == 0.0


def test_a_row_that_is_not_there(architecture):
    with pytest.raises(PromptRefusal, match="There is no row"):
        difference(architecture("gpt2"), 0, 99)
