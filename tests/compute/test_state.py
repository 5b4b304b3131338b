"""One position of one prompt, read."""

from __future__ import annotations

import pytest
import torch

from tiedviz.compute.forward import forward
from tiedviz.compute.next_token.state import score_state
from tiedviz.words.refusals.prompt import ModelRefusal, PromptRefusal, PromptTooLong

PROMPT = [41, 7, 90, 13, 66]


@pytest.mark.parametrize("name", ["llama", "gpt2", "bert", "cohere", "mamba"])
def test_the_logits_are_the_models_own_at_every_position(architecture, name):
    loaded = architecture(name)
    everything = forward(loaded.model, PROMPT).logits[0].float()
    for position in range(len(PROMPT)):
        reading = score_state(loaded, PROMPT, position=position)
        assert reading.position == position
        assert torch.allclose(reading.logits, everything[position], atol=1e-6)
        assert reading.agrees


def test_positions_can_be_counted_from_the_end(architecture):
    loaded = architecture("llama")
    for position in range(len(PROMPT)):
        from_start = score_state(loaded, PROMPT, position=position)
        from_end = score_state(loaded, PROMPT, position=position - len(PROMPT))
        assert from_end.position == position
        assert torch.equal(from_start.logits, from_end.logits)


@pytest.mark.parametrize("position", [5, 6, -6, 1000])
def test_a_position_beyond_the_prompt_is_refused(architecture, position):
    with pytest.raises(PromptRefusal, match="5 tokens"):
        score_state(architecture("llama"), PROMPT, position=position)


def test_with_a_decoder_positions_are_those_of_the_answer(architecture):
    loaded = architecture("bart")
    written = [2, 20, 31]
    everything = forward(loaded.model, PROMPT, decoder_ids=written).logits[0]
    for position in range(3):
        reading = score_state(loaded, PROMPT, decoder_ids=written, position=position)
        assert torch.allclose(reading.logits, everything[position], atol=1e-6)
    with pytest.raises(PromptRefusal, match="There is no position"):
        score_state(loaded, PROMPT, decoder_ids=written, position=3)


def test_without_an_answer_it_is_read_at_the_mark_that_begins_one(architecture):
    loaded = architecture("t5")
    reading = score_state(loaded, PROMPT)
    assert reading.position == 0
    assert torch.equal(reading.logits, score_state(loaded, PROMPT, decoder_ids=[0]).logits)


def test_another_prompt_is_another_answer_of_the_decoder(architecture):
    loaded = architecture("t5")
    one, other = score_state(loaded, [41, 7, 90]), score_state(loaded, [8, 9, 10])
    assert not torch.allclose(one.logits, other.logits)


def test_the_last_layer_is_the_default(architecture):
    loaded = architecture("llama")
    last, named = score_state(loaded, PROMPT), score_state(loaded, PROMPT, layer=2)
    assert last.layer == named.layer == last.layers == 2
    assert torch.equal(last.logits, named.logits)


def test_layers_differ_and_are_checked_against_the_last(architecture):
    loaded = architecture("gpt2")
    readings = [score_state(loaded, PROMPT, layer=layer) for layer in range(3)]
    assert not torch.allclose(readings[0].logits, readings[1].logits)
    assert len({reading.max_abs_error for reading in readings}) == 1
    assert all(reading.agrees for reading in readings)


def test_h_is_after_the_norm_and_the_norm_of_r_before_it(architecture):
    loaded = architecture("llama")
    model = loaded.model
    output = forward(model, PROMPT, hidden_states=True)
    reading = score_state(loaded, PROMPT, layer=1)
    state = output.hidden_states[1][0, -1]
    assert reading.residual_norm == pytest.approx(float(state.norm()), rel=1e-6)
    assert torch.allclose(reading.h, model.model.norm(state), atol=1e-6)
    # the library's own last entry is already after the norm: it is h_L, and is not normed again
    last = score_state(loaded, PROMPT)
    assert torch.allclose(last.h, output.hidden_states[-1][0, -1], atol=1e-6)
    assert last.residual_norm != pytest.approx(float(last.h.norm()), rel=1e-3)


@pytest.mark.parametrize("layer", [3, -2, 100])
def test_a_layer_that_is_not_there_is_refused(architecture, layer):
    with pytest.raises(ModelRefusal, match="layers 0 to 2"):
        score_state(architecture("llama"), PROMPT, layer=layer)


def test_no_lens_is_a_refusal_with_its_reason(architecture):
    loaded = architecture("xlnet")
    assert score_state(loaded, PROMPT).agrees
    for layer in (0, 1):
        with pytest.raises(ModelRefusal, match="last block alone"):
            score_state(loaded, PROMPT, layer=layer)


def test_the_last_layer_can_be_asked_for_by_number_even_where_there_is_no_lens(architecture):
    loaded = architecture("xlnet")
    last = score_state(loaded, PROMPT, layer=2)
    assert last.layer == last.layers == 2
    assert torch.equal(last.logits, score_state(loaded, PROMPT).logits)


def test_logits_that_cannot_be_recomputed_are_a_refusal_with_its_reason(architecture):
    with pytest.raises(ModelRefusal, match="called 0 times"):
        score_state(architecture("mobilebert"), PROMPT)


@pytest.mark.parametrize("name", ["gptj", "codegen", "ctrl", "mpt"])
def test_past_a_table_of_computed_positions_it_is_refused(architecture, name):
    loaded = architecture(name)
    assert score_state(loaded, [7] * 64).agrees
    with pytest.raises(PromptTooLong, match="65 tokens"):
        score_state(loaded, [7] * 65)


@pytest.mark.parametrize("name", ["llama", "mamba", "t5", "bloom"])
def test_a_model_that_computes_positions_as_it_goes_is_read_past_its_trained_length(
    architecture, name
):
    assert score_state(architecture(name), [7] * 70).agrees


def test_the_reading_waits_for_its_turn_and_may_be_given_up(architecture):
    loaded = architecture("llama")

    def give_up() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        score_state(loaded, PROMPT, pause=give_up)
    assert score_state(loaded, PROMPT).agrees  # the lock is free again


def test_it_leaves_no_hook_behind(architecture):
    loaded = architecture("llama")
    score_state(loaded, PROMPT)
    before = hooks_of(loaded.model)  # the library hangs some of its own on at its first pass
    score_state(loaded, PROMPT, layer=0)
    with pytest.raises(PromptTooLong):
        score_state(architecture("gptj"), [7] * 65)
    assert hooks_of(loaded.model) == before


def hooks_of(model):
    return [
        hook
        for module in model.modules()
        for hook in (*module._forward_hooks.values(), *module._forward_pre_hooks.values())
    ]


@pytest.mark.real
def test_smollm2_is_read_off_its_one_matrix_with_next_to_no_difference(smollm2):
    from tiedviz.models.prompt import encode

    prompt = encode(smollm2, "The capital of France is")
    reading = score_state(smollm2, prompt.ids)
    assert reading.agrees and reading.max_abs_error < 1e-4
    best = int(reading.logits.argmax())
    assert smollm2.vocabulary.token(best).text == " Paris"
    # normed twice it would say something else
    twice = smollm2.model.model.norm(reading.h) @ smollm2.embedding.T
    assert float((twice - reading.logits).abs().max()) > 10


@pytest.mark.real
def test_a_middle_layer_of_smollm2_is_read_after_the_models_own_norm(smollm2):
    from tiedviz.models.prompt import encode

    prompt = encode(smollm2, "The capital of France is")
    reading = score_state(smollm2, prompt.ids, layer=15)
    probabilities = torch.softmax(reading.logits, 0)
    best = int(probabilities.argmax())
    assert smollm2.vocabulary.token(best).text == " "
    assert float(probabilities[best]) == pytest.approx(0.80, abs=0.02)
