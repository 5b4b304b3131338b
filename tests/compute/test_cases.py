"""Troubles people really have with the head; each number is that of its case."""

import pytest
import torch

from tests.tiny_models import build
from tiedviz.compute.forward import forward
from tiedviz.compute.next_token.formula import formula_notes, formula_text
from tiedviz.compute.next_token.state import score_state
from tiedviz.compute.unembedding import unembedding_of
from tiedviz.compute.walkthrough_model import entrance_of
from tiedviz.verdict.loaded import hear_loaded
from tiedviz.words.refusals.prompt import PromptRefusal

PROMPT = [41, 7, 90, 13, 66]


def bare_error(loaded, h=None):
    """How far h @ W.T, with nothing after it, is from the model's own logits."""
    reading = score_state(loaded, PROMPT)
    product = (reading.h if h is None else h) @ loaded.scoring_matrix.T
    return float((product - reading.logits).abs().max())


@pytest.mark.case(18)
@pytest.mark.parametrize(
    ("name", "field", "factor"),
    [
        ("gemma", "√hidden_size", 32**0.5),
        ("gemma3_text", "√hidden_size", 32**0.5),
        ("granite", "embedding_multiplier", 12.0),
    ],
)
def test_case_18_what_enters_is_so_many_times_a_row_of_e(name, field, factor):
    loaded = build(name)
    found = entrance_of(loaded)
    assert found.scale.value == pytest.approx(factor, rel=1e-4) and found.scale.name == field
    state = forward(loaded.model, PROMPT, hidden_states=True).hidden_states[0][0]
    assert torch.allclose(state, found.scale.value * loaded.embedding[PROMPT], rtol=1e-4, atol=1e-5)


@pytest.mark.case(18)
def test_case_18_gpt2_adds_positions_so_it_is_not_proportional():
    loaded = build("gpt2")
    state = forward(loaded.model, PROMPT, hidden_states=True).hidden_states[0][0]
    cosine = torch.nn.functional.cosine_similarity(state, loaded.embedding[PROMPT])
    assert float(cosine.max()) < 0.999
    assert entrance_of(loaded).adds_position


@pytest.mark.case(8)
def test_case_8_a_pass_over_no_token_is_refused_before_it_is_run():
    loaded = build("llama")
    unembedding_of(loaded)
    loaded.model.forward = None  # whoever calls it fails in another way
    with pytest.raises(PromptRefusal, match="There is no position"):
        score_state(loaded, [])


@pytest.mark.case(26)
def test_case_26_gemma2_caps_at_30_and_nothing_is_left_over():
    loaded = build("gemma2", final_logit_softcapping=30.0)
    found = unembedding_of(loaded)
    assert formula_text(found.after, tied=True) == "30·tanh((h_L @ E.T)/30)"
    assert score_state(loaded, PROMPT).max_abs_error < 1e-5
    assert bare_error(loaded) > 1e-4


@pytest.mark.case(30)
def test_case_30_t5_is_scaled_by_one_over_the_root_of_d():
    loaded = build("t5")
    [*_, last] = unembedding_of(loaded).path.stages
    assert last.scale.value == pytest.approx(loaded.model.config.d_model**-0.5)
    reading = score_state(loaded, PROMPT)
    assert reading.max_abs_error < 1e-5 and bare_error(loaded) < 1e-5  # h has the factor in it
    assert bare_error(loaded, reading.h / last.scale.value) > 0.5


@pytest.mark.case(30)
def test_case_30_a_t5_with_a_head_of_its_own_is_not_scaled():
    loaded = build("mt5")
    assert all(stage.scale.is_one for stage in unembedding_of(loaded).path.stages)


@pytest.mark.case(31)
@pytest.mark.parametrize("name", ["phi", "gptj"])
def test_case_31_a_head_with_a_bias_is_off_without_it(name):
    loaded = build(name)
    assert formula_text(unembedding_of(loaded).after, tied=loaded.tied).endswith(" + b")
    assert bare_error(loaded) > 0.1 and score_state(loaded, PROMPT).max_abs_error < 1e-5


@pytest.mark.case(32)
@pytest.mark.parametrize(
    ("name", "bias", "steps"),
    [
        ("bert", "cls.predictions.bias", "cls (dense, transform_act_fn, LayerNorm)"),
        ("albert", "predictions.bias", "predictions (dense, activation, LayerNorm)"),
    ],
)
def test_case_32_a_masked_head_transforms_first_and_adds_a_bias(name, bias, steps):
    loaded = build(name)
    found = unembedding_of(loaded)
    assert found.reproduced and found.after.bias_name == bias
    assert formula_notes(found)[0] == f"h_L is the last block's output after {steps}"
    assert bare_error(loaded) > 0.1  # without the bias
    if name == "albert":
        assert loaded.embedding.shape == (99, 16) and score_state(loaded, PROMPT).h.shape == (16,)
    groups = [set(group) for group in hear_loaded(loaded.model).groups]
    assert any({bias, bias.replace("bias", "decoder.bias")} <= group for group in groups)
    assert any(bias.replace("bias", "decoder.weight") in group for group in groups)


@pytest.mark.case(54)
def test_case_54_a_buffer_beside_the_head_is_found():
    loaded = build("bart")
    assert "final_logits_bias" in dict(loaded.model.named_buffers())
    assert formula_notes(unembedding_of(loaded))[-1] == "b is final_logits_bias"
    assert bare_error(loaded) > 0.1 and score_state(loaded, PROMPT).max_abs_error < 1e-5


@pytest.mark.case(79)
@pytest.mark.parametrize("name", ["t5", "bart"])
def test_case_79_the_states_are_those_of_the_decoder(name):
    loaded = build(name)
    written = [20, 31, 8]
    output = forward(loaded.model, PROMPT, decoder_ids=written, hidden_states=True)
    assert getattr(output, "hidden_states", None) is None
    states = output.decoder_hidden_states
    assert states[0].shape[1] == 3 != len(PROMPT)
    reading = score_state(loaded, PROMPT, decoder_ids=written, layer=1)
    assert reading.residual_norm == pytest.approx(float(states[1][0, -1].norm()), rel=1e-5)
