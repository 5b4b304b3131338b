"""A logit taken apart adds up to the logit."""

from __future__ import annotations

import pytest
import torch

from tiedviz.compute.next_token.arithmetic import logit_arithmetic
from tiedviz.compute.next_token.state import ScoredState, score_state
from tiedviz.compute.unembedding import AfterHead, unembedding_of
from tiedviz.compute.unembedding.after_head import ONE, Factor
from tiedviz.words.refusals.prompt import PromptRefusal

PROMPT = [41, 7, 90, 13, 66]
KINDS = ["gpt2", "llama", "phi", "cohere", "granite", "gemma2", "bart", "t5", "bert", "nanochat"]


def arithmetic(loaded, token, **settings):
    reading = score_state(loaded, PROMPT)
    return logit_arithmetic(loaded, reading, unembedding_of(loaded).after, token, **settings)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("token", [0, 17, 98])
def test_the_total_is_the_models_own_logit(architecture, name, token):
    parts = arithmetic(architecture(name), token)
    assert parts.total == pytest.approx(parts.model_logit, abs=1e-5)


@pytest.mark.parametrize("name", KINDS)
def test_the_steps_add_up_to_the_total_exactly(architecture, name):
    parts = arithmetic(architecture(name), 17)
    steps = parts.steps()
    ways = steps.iloc[:-1]
    assert ways["value"].sum() == pytest.approx(parts.total, rel=1e-12, abs=1e-12)
    assert ways["start"].iloc[0] == 0
    assert ways["end"].iloc[-1] == pytest.approx(parts.total, rel=1e-12, abs=1e-12)
    assert ways["end"].tolist()[:-1] == pytest.approx(ways["start"].tolist()[1:], abs=1e-12)
    last = steps.iloc[-1]
    assert (last["step"], last["value"], last["start"]) == ("logit", parts.total, 0.0)


@pytest.mark.parametrize("name", KINDS)
def test_the_terms_and_the_rest_are_the_product_of_the_two_vectors(architecture, name):
    loaded = architecture(name)
    parts = arithmetic(loaded, 17)
    h, e = score_state(loaded, PROMPT).h.double(), loaded.scoring_matrix[17].double()
    assert parts.dot == pytest.approx(float(h @ e), rel=1e-12)
    assert parts.terms["product"].sum() + parts.rest == pytest.approx(parts.dot, rel=1e-12)
    assert parts.h_norm * parts.row_norm * parts.cosine == pytest.approx(parts.dot, rel=1e-12)
    for row in parts.terms.itertuples():
        assert row.h == float(h[row.dimension]) and row.e == float(e[row.dimension])
        assert row.product == row.h * row.e


def test_the_largest_products_come_first_and_the_others_are_counted(architecture):
    parts = arithmetic(architecture("gpt2"), 17, largest=5)
    assert len(parts.terms) == 5 and parts.others == 27
    sizes = parts.terms["product"].abs()
    assert sizes.is_monotonic_decreasing
    loaded = architecture("gpt2")
    every = (score_state(loaded, PROMPT).h * loaded.scoring_matrix[17]).abs()
    assert int((every > sizes.iloc[-1] * (1 + 1e-6)).sum()) == 4


def test_more_products_than_there_are_leave_no_rest(architecture):
    parts = arithmetic(architecture("gpt2"), 17, largest=100)
    assert len(parts.terms) == 32 and parts.others == 0
    assert parts.rest == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("gpt2", []),
        ("phi", ["+ bias"]),
        ("cohere", ["× 0.0625"]),
        ("granite", ["× 0.125"]),
        ("gemma2", ["softcap 30"]),
        ("bart", ["+ bias"]),
    ],
)
def test_what_the_model_does_to_the_sum_is_a_step_of_its_own(architecture, name, steps):
    parts = arithmetic(architecture(name), 17, largest=3)
    assert parts.steps()["step"].tolist()[4:-1] == steps


def by_hand(h, row, after):
    """The logit of a model whose second row is `row`, for a state `h`."""

    class Two:
        scoring_matrix = torch.tensor([[0.0, 0.0, 0.0], row])

    reading = ScoredState(0, 1, 1, torch.tensor(h), None, torch.zeros(2), torch.zeros(2), 0.0, 1.0)
    return logit_arithmetic(Two(), reading, after, 1, largest=2)


def test_three_products_by_hand():
    parts = by_hand([2.0, -1.0, 0.5], [3.0, 4.0, 2.0], AfterHead(None, "", ONE, None))
    assert parts.terms["product"].tolist() == [6.0, -4.0]
    assert parts.rest == 1.0 and parts.dot == 3.0 and parts.total == 3.0
    steps = parts.steps()
    assert steps["kind"].tolist() == ["adds", "takes away", "the rest", "the logit"]
    assert steps["end"].tolist() == [6.0, 2.0, 3.0, 3.0]
    assert steps["step"].tolist() == ["dimension 0", "dimension 1", "1 others", "logit"]


def test_a_factor_then_a_bias_then_a_cap_by_hand():
    after = AfterHead(torch.tensor([9.0, 4.0]), "b", Factor(2.0, "s"), Factor(10.0, "c"))
    parts = by_hand([2.0, -1.0, 0.5], [3.0, 4.0, 2.0], after)
    assert (parts.scale, parts.bias, parts.cap) == (2.0, 4.0, 10.0)
    assert parts.total == pytest.approx(10 * torch.tanh(torch.tensor(1.0)).item())
    steps = parts.steps()
    assert steps["step"].tolist()[3:] == ["× 2", "+ bias", "softcap 10", "logit"]
    assert steps["value"].tolist()[3:5] == [3.0, 4.0]
    assert steps["end"].tolist()[3:5] == [6.0, 10.0]


def test_a_state_of_zeros_has_no_angle():
    parts = by_hand([0.0, 0.0, 0.0], [3.0, 4.0, 2.0], AfterHead(None, "", ONE, None))
    assert parts.cosine == 0.0 and parts.total == 0.0


@pytest.mark.parametrize("token", [-1, 99, 10**9])
def test_a_row_that_is_not_there_is_refused(architecture, token):
    with pytest.raises(PromptRefusal, match="0 to 98"):
        arithmetic(architecture("gpt2"), token)
