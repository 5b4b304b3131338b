"""What each kind of model is asked by one prompt."""

from types import SimpleNamespace

import pytest

from tiedviz.compute.compare.answer import prompt_for
from tiedviz.models.loaded import ModelKind
from tiedviz.words.refusals.continuation import ContinuationRefusal


def model(kind, mask=None):
    return SimpleNamespace(kind=kind, title="it", tokenizer=SimpleNamespace(mask_token=mask))


CAUSAL, BERT, ROBERTA = (
    model(ModelKind.CAUSAL),
    model(ModelKind.MASKED, "[MASK]"),
    model(ModelKind.MASKED, "<mask>"),
)


def test_a_prompt_without_a_gap_is_read_as_it_is():
    assert prompt_for(CAUSAL, "The capital of France is ").text == "The capital of France is "


@pytest.mark.parametrize("mask", ["[MASK]", "<mask>"])
def test_all_are_asked_at_the_gap(mask):
    prompt = f"The capital of France is {mask}."
    assert prompt_for(CAUSAL, prompt).text == "The capital of France is"
    assert prompt_for(BERT, prompt).text == "The capital of France is [MASK]."
    assert prompt_for(ROBERTA, prompt).text == "The capital of France is <mask>."
    assert "before" in prompt_for(CAUSAL, prompt).note
    assert "“.”" in prompt_for(BERT, prompt).note


def test_a_causal_model_sees_nothing_behind_a_gap():
    with pytest.raises(ContinuationRefusal, match=r"cannot be compared here.*left to right"):
        prompt_for(CAUSAL, "The [MASK] of France is Paris")
    assert prompt_for(BERT, "The [MASK] of France is Paris").text == "The [MASK] of France is Paris"


def test_a_masked_model_needs_a_gap_and_only_one():
    with pytest.raises(ContinuationRefusal, match="fills gaps, and the prompt has none"):
        prompt_for(BERT, "The capital of France is")
    with pytest.raises(ContinuationRefusal, match="several"):
        prompt_for(BERT, "The [MASK] of <mask>")


def test_a_model_that_fills_gaps_and_has_no_mark_for_one_is_refused():
    with pytest.raises(ContinuationRefusal, match="no mark") as refused:
        prompt_for(model(ModelKind.MASKED), "The capital of France is [MASK]")
    assert "[MASK]" not in refused.value.remedy
