"""The unembedding of every architecture, measured; nothing here tells the code what to find."""

from __future__ import annotations

import copy

import pytest
import torch

from tests.tiny_models import RECIPES, build, names, opened
from tiedviz.compute.forward import first_tensor, forward, hooked, with_first_tensor
from tiedviz.compute.next_token.state import score_state
from tiedviz.compute.unembedding import unembedding_of
from tiedviz.compute.unembedding.product import limit_for, plain_product, row_norms
from tiedviz.models.loaded import LoadedModel

# The logits come out, the way from the layers below does not.
NO_LENS = {"gemma3n_text", "xlnet"}
# Not even the logits: the output matrix is not called, or it is not as wide as the logits.
NO_LOGITS = {"mobilebert", "fsmt", "deberta-v2:own-head", "whisper"}
# These list the outputs of their blocks and leave out what enters the first.

TEXT = [*names("CausalLM"), *names("MaskedLM"), *names("Seq2SeqLM")]
SCORED = [name for name in TEXT if name not in NO_LOGITS]
WITH_LENS = [name for name in SCORED if name not in NO_LENS]

PROMPT = [41, 7, 90, 13, 66, 28, 55]  # another one than the probe
WRITTEN = [20, 31, 8, 77, 45]  # what a decoder has written so far


def sequence(loaded: LoadedModel) -> list[int]:
    """The ids at whose positions the model answers."""
    return WRITTEN if loaded.model.config.is_encoder_decoder else PROMPT


def run(loaded: LoadedModel, *hooks, **wanted):
    with hooked(*hooks):
        return forward(loaded.model, PROMPT, decoder_ids=WRITTEN, **wanted)


def test_at_least_forty_nine_of_the_fifty_six_are_reproduced(architecture):
    first = list(RECIPES)[:56]
    reproduced = [name for name in first if unembedding_of(architecture(name)).reproduced]
    assert len(reproduced) >= 49
    assert set(first) - set(reproduced) == {"whisper"}


@pytest.mark.parametrize("name", WITH_LENS)
def test_it_is_reproduced(architecture, name):
    found = unembedding_of(architecture(name))
    assert found.reproduced and found.reason == ""
    assert found.layers == 2
    assert found.max_abs_error <= found.tolerance < 1e-4


@pytest.mark.parametrize("name", SCORED)
def test_the_models_logits_are_its_head_input_times_its_matrix_and_what_follows(architecture, name):
    loaded = architecture(name)
    after = unembedding_of(loaded).after
    entering = []

    def catch(module, args, kwargs):
        entering.append(first_tensor((*args, *kwargs.values())))

    head = loaded.model.get_output_embeddings()
    logits = run(loaded, (head, catch, True)).logits[0]
    [h] = entering
    mine = after(h[0] @ head.weight.T)
    assert mine.shape == (len(sequence(loaded)), 99)
    assert float((mine - logits).abs().max()) <= limit_for(h[0], logits, loaded, after.scale.value)


@pytest.mark.parametrize("name", WITH_LENS)
def test_every_layer_below_the_last_says_what_the_model_says_if_it_goes_straight_to_the_head(
    architecture, name
):
    loaded = architecture(name)
    path = unembedding_of(loaded).path
    states = states_of(loaded)
    for layer in range(len(path.blocks)):
        calls = iter(range(1, 100))

        def put(module, args, kwargs, output, calls=calls, layer=layer):
            own_calls = sum(block is module for block in path.blocks)
            last = next(calls) == own_calls
            return with_first_tensor(output, states[layer]) if last else output

        logits = run(loaded, (path.blocks[-1], put, False)).logits[0]
        for position in (0, 2, len(sequence(loaded)) - 1):
            lens = score_state(loaded, PROMPT, decoder_ids=WRITTEN, position=position, layer=layer)
            close = 1e-5 * max(1.0, float(logits.abs().max()))
            assert torch.allclose(lens.logits, logits[position], atol=close, rtol=0)


def states_of(loaded: LoadedModel) -> list[torch.Tensor]:
    """r_0 … r_L, caught by hooks of the test's own."""
    blocks = unembedding_of(loaded).path.blocks
    states: list[torch.Tensor] = []

    def before(module, args, kwargs):
        if not states:
            states.append(first_tensor((*args, *kwargs.values())))

    def after(module, args, kwargs, output):
        states.append(first_tensor(output))

    hooks = [hook for block in dict.fromkeys(blocks) for hook in ((block, before, True),)]
    hooks += [(block, after, False) for block in dict.fromkeys(blocks)]
    run(loaded, *hooks)
    assert len(states) == len(blocks) + 1
    return states


@pytest.mark.case(79)
@pytest.mark.parametrize("name", WITH_LENS)
def test_the_models_own_hidden_states_are_the_states_that_are_read(architecture, name):
    """For case 79 among them: T5 and BART list the decoder's."""
    loaded = architecture(name)
    found = unembedding_of(loaded)
    output = run(loaded, hidden_states=True)
    own = getattr(output, "decoder_hidden_states", None) or output.hidden_states
    # some lists begin with what enters the first block, some with what leaves it
    begins = own[0].shape[-1] == states_of(loaded)[0].shape[-1] and torch.allclose(
        own[0].reshape(-1), states_of(loaded)[0].reshape(-1), atol=1e-6
    )
    assert found.shift == (0 if begins else -1)
    for layer in range(max(0, -found.shift), found.layers):
        state = own[layer + found.shift][0, 2]
        reading = score_state(loaded, PROMPT, decoder_ids=WRITTEN, position=2, layer=layer)
        assert reading.residual_norm == pytest.approx(float(state.norm()), rel=1e-5)
        assert torch.allclose(found.path(state[None])[0], reading.h, atol=1e-5)


@pytest.mark.parametrize("name", sorted(NO_LENS))
def test_no_lens_is_offered_where_the_way_was_not_reproduced(architecture, name):
    found = unembedding_of(architecture(name))
    assert found.scores and not found.reproduced
    assert found.path is None and found.reason


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("mobilebert", "called 0 times"),
        ("fsmt", "not as wide as the logits"),
        ("deberta-v2:own-head", "not as wide as the logits"),
        ("whisper", "reads input_features, not tokens"),
    ],
)
def test_nothing_is_offered_where_the_logits_were_not_reproduced(architecture, name, reason):
    found = unembedding_of(architecture(name))
    assert not found.scores and not found.reproduced
    assert reason in found.reason


@pytest.mark.case(34)
@pytest.mark.parametrize(
    ("name", "changes", "value", "field"),
    [
        ("cohere", {}, 0.0625, "logit_scale"),
        ("cohere2", {}, 0.0625, "logit_scale"),
        ("granite", {}, 1 / 8, "1/logits_scaling"),
        ("granite", {"logits_scaling": 16.0}, 1 / 16, "1/logits_scaling"),
        ("falcon_h1", {}, 0.04, "lm_head_multiplier"),
    ],
)
def test_a_factor_after_the_matrix_is_named_by_the_field_that_holds_it(name, changes, value, field):
    """For case 34."""
    scale = unembedding_of(build(name, **changes)).after.scale
    assert scale.value == value
    assert scale.name == field


@pytest.mark.case(30, 34)
@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("minicpm3", 0.25, "dim_model_base/hidden_size"),
        ("t5", 32**-0.5, "1/√d_model"),
        ("umt5", 32**-0.5, "1/√d_model"),
        ("longt5", 32**-0.5, "1/√d_model"),
    ],
)
def test_a_factor_before_the_matrix_is_a_step_of_the_way_and_named(
    architecture, name, value, field
):
    """For case 30 (T5) and case 34 (MiniCPM3)."""
    found = unembedding_of(architecture(name))
    scale = found.path.stages[-1].scale
    assert scale.value == pytest.approx(value, rel=1e-12)
    assert scale.name == field
    assert found.after.scale.is_one


@pytest.mark.case(26)
@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("gemma2", 30.0, "final_logit_softcapping"),
        ("gemma4_text", 30.0, "final_logit_softcapping"),
        ("nanochat", 15.0, "final_logit_softcapping"),
    ],
)
def test_a_softcap_is_named_by_the_field_that_holds_it(architecture, name, value, field):
    """For case 26."""
    cap = unembedding_of(architecture(name)).after.cap
    assert (cap.value, cap.name) == (value, field)


@pytest.mark.case(31, 54)
@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        ("gptj", "lm_head.bias"),
        ("codegen", "lm_head.bias"),
        ("phi", "lm_head.bias"),
        ("ctrl", "lm_head.bias"),
        ("bart", "final_logits_bias"),
        ("mbart", "final_logits_bias"),
        ("marian", "final_logits_bias"),
        ("pegasus", "final_logits_bias"),
        ("bert", "cls.predictions.bias"),
        ("albert", "predictions.bias"),
        ("modernbert", "decoder.bias"),
        ("electra", "generator_lm_head.bias"),
    ],
)
def test_a_bias_is_named_by_the_tensor_that_holds_it(architecture, name, tensor):
    """For case 31 and case 54: a bias of the head, a buffer beside it."""
    loaded = architecture(name)
    after = unembedding_of(loaded).after
    stored = {**dict(loaded.model.named_parameters()), **dict(loaded.model.named_buffers())}
    assert after.bias_name == tensor
    assert torch.equal(after.bias, stored[tensor].reshape(-1))


@pytest.mark.parametrize(
    "name", ["gpt2", "llama", "gemma", "gemma3_text", "mamba", "m2m_100", "mt5"]
)
def test_where_nothing_follows_the_matrix_nothing_is_found(architecture, name):
    after = unembedding_of(architecture(name)).after
    assert after.bias is None and after.cap is None and after.scale.is_one


def test_a_bias_and_a_factor_and_a_cap_at_once():
    loaded = build("gemma2", final_logit_softcapping=3.0)
    found = unembedding_of(loaded)
    assert found.reproduced and found.after.cap.value == 3.0


def test_it_is_measured_once_and_kept_with_the_model(architecture):
    loaded = architecture("gpt2")
    assert unembedding_of(loaded) is unembedding_of(loaded)


@pytest.mark.parametrize(
    "name", ["llama", "gemma2", "bart", "t5", "cohere", "phi", "bert", "mamba"]
)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_agrees_within_its_own_tolerance_and_keeps_the_names(
    architecture, name, dtype
):
    fine = unembedding_of(architecture(name))
    coarse = opened(copy.deepcopy(architecture(name).model).to(dtype), name)
    found = unembedding_of(coarse)
    assert found.reproduced, found.reason
    assert found.shift == fine.shift
    assert found.after.scale == fine.after.scale and found.after.cap == fine.after.cap
    assert [stage.scale for stage in found.path.stages] == [s.scale for s in fine.path.stages]
    reading = score_state(coarse, PROMPT, decoder_ids=WRITTEN)
    assert reading.agrees and reading.h.dtype is torch.float32
    assert reading.tolerance < 0.15


@pytest.mark.parametrize("name", ["llama", "gpt2", "bert", "bart"])
def test_a_row_that_was_changed_after_h_was_caught_shows_in_the_difference(architecture, name):
    loaded = architecture(name)
    reading = score_state(loaded, PROMPT, decoder_ids=WRITTEN)
    after = unembedding_of(loaded).after
    assert reading.max_abs_error <= reading.tolerance < 1e-5
    changed = loaded.scoring_matrix.detach().clone()
    changed[17, 3] += 1e-3
    error = float((after(plain_product(reading.h, changed)) - reading.logits).abs().max())
    assert error == pytest.approx(1e-3 * abs(float(reading.h[3])), rel=0.01)
    assert error > 10 * reading.tolerance


def test_a_product_with_the_wrong_matrix_is_noticed(architecture):
    loaded = architecture("qwen2")
    assert not loaded.tied
    reading = score_state(loaded, PROMPT)
    wrong = plain_product(reading.h, loaded.embedding)
    assert float((wrong - reading.logits).abs().max()) > 0.5


def test_the_norm_of_each_row_is_computed_once(architecture):
    loaded = architecture("gpt2")
    assert torch.allclose(row_norms(loaded) ** 2, (loaded.scoring_matrix**2).sum(1))
    assert row_norms(loaded) is row_norms(loaded)


def test_a_model_whose_forward_pass_fails_is_refused_with_what_it_said(architecture):
    loaded = opened(copy.deepcopy(architecture("gpt2").model), "broken")

    def forward_of_another_kind(input_ids, language, **rest):
        raise ValueError("Input language unknown. Set one.")

    loaded.model.forward = forward_of_another_kind
    found = unembedding_of(loaded)
    assert not found.scores
    assert found.reason.startswith("a plain forward pass failed (")
