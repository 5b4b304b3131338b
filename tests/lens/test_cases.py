"""Troubles people really have with layers: case 1, case 2, case 12, case 51 and case 52."""

from dataclasses import replace

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tests.tiny_models import build, opened
from tiedviz.compute.forward import forward
from tiedviz.compute.lens import lens
from tiedviz.compute.next_token.candidates import nearest_tokens
from tiedviz.compute.next_token.state import score_state
from tiedviz.compute.unembedding import unembedding_of
from tiedviz.models.building import building
from tiedviz.models.prompt import encode

PROMPT = [41, 7, 9, 13, 6]


def recipe(**changes):
    """T(True) of the cases."""
    settings = {
        "vocab_size": 50, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 2, "num_key_value_heads": 2, "max_position_embeddings": 64,
        "tie_word_embeddings": True,
    }  # fmt: skip
    with building():
        model = LlamaForCausalLM(LlamaConfig(**settings | changes))
    return opened(model, "recipe")


@pytest.mark.case(1)
def test_case_1_the_last_entry_is_already_normed():
    """h[-1] @ W.T is off by 0; norm(h[-1]) @ W.T is not the model's answer."""
    loaded = recipe()
    model, W = loaded.model, loaded.scoring_matrix
    out = forward(model, PROMPT, hidden_states=True)
    last = out.hidden_states[-1][0]
    assert float((last @ W.T - out.logits[0]).abs().max()) < 1e-5
    assert float((model.model.norm(last) @ W.T - out.logits[0]).abs().max()) > 0.1
    reading = score_state(loaded, PROMPT)
    assert torch.allclose(reading.h, last[-1], atol=1e-6)
    assert reading.max_abs_error <= reading.tolerance < 1e-3


@pytest.mark.case(1)
@pytest.mark.real
def test_case_1_smollm2_twice_normed_is_22_off_and_says_another_word(smollm2):
    ids = encode(smollm2, "The capital of France is").ids
    reading = score_state(smollm2, ids)
    assert reading.max_abs_error < 5e-5
    with torch.inference_mode():
        twice = smollm2.model.model.norm(reading.h[None]) @ smollm2.scoring_matrix.T
    assert float((twice[0] - reading.logits).abs().max()) == pytest.approx(22.6, abs=1.5)
    answers = [smollm2.vocabulary.token(int(z.argmax())).text for z in (reading.logits, twice[0])]
    assert answers[0] == " Paris" != answers[1]


@pytest.mark.case(2)
def test_case_2_inner_layers_are_normed_and_the_last_is_not_again():
    loaded = recipe()
    model, W = loaded.model, loaded.scoring_matrix
    states = forward(model, PROMPT, hidden_states=True).hidden_states
    with torch.inference_mode():
        for k in range(2):
            normed = model.model.norm(states[k][0, -1]) @ W.T
            assert torch.allclose(score_state(loaded, PROMPT, layer=k).logits, normed, atol=1e-5)
            assert not torch.allclose(normed, states[k][0, -1] @ W.T, atol=1e-2)


@pytest.mark.case(2)
@pytest.mark.real
def test_case_2_layer_15_of_smollm2_without_its_norm_is_surer_and_wrong(smollm2):
    """With the norm a space at 0.80; without it another word at 0.92."""
    ids = encode(smollm2, "The capital of France is").ids
    inner = score_state(smollm2, ids, layer=15)
    own = torch.softmax(inner.logits.double(), 0)
    assert smollm2.vocabulary.token(int(own.argmax())).text == " "
    assert float(own.max()) == pytest.approx(0.80, abs=0.01)
    state = forward(smollm2.model, ids, hidden_states=True).hidden_states[15][0, -1]
    bare = torch.softmax((state @ smollm2.scoring_matrix.T).double(), 0)
    assert float(bare.max()) == pytest.approx(0.92, abs=0.03)
    assert smollm2.vocabulary.token(int(bare.argmax())).text != " "


@pytest.mark.case(12)
def test_case_12_bfloat16_is_proved_in_its_own_tolerance_and_equal_logits_share_a_rank():
    tiny = recipe()
    with torch.no_grad():
        tiny.embedding[11] = tiny.embedding[12]  # two equal logits, in any dtype
    tiny.model.to(torch.bfloat16)
    loaded = replace(tiny, dtype="bfloat16", memo={})
    reading = score_state(loaded, PROMPT)
    assert reading.agrees
    assert reading.logits.dtype is torch.float32 and reading.logits.numpy().size == 50
    assert reading.tolerance > 10 * score_state(recipe(), PROMPT).tolerance
    frame = nearest_tokens(loaded, reading, top=50).set_index("id")
    assert frame.loc[11, "rank_logit"] == frame.loc[12, "rank_logit"]
    assert lens(loaded, PROMPT).agrees


@pytest.mark.case(51)
def test_case_51_opt_350m_has_widths_32_32_32_16_and_does_not_crash():
    loaded = build("opt:350m", hidden_size=32, word_embed_proj_dim=16, num_hidden_layers=3)
    states = forward(loaded.model, PROMPT, hidden_states=True).hidden_states
    assert [state.shape[-1] for state in states] == [32, 32, 32, 16]
    found = lens(loaded, PROMPT)
    assert found.layers == 3 and found.agrees


@pytest.mark.case(52)
def test_case_52_the_list_of_mamba_holds_block_outputs_and_no_embedding():
    loaded = build("mamba")
    states = forward(loaded.model, PROMPT, hidden_states=True).hidden_states
    embedded = loaded.embedding[PROMPT]
    assert not any(torch.allclose(state[0], embedded, atol=1e-4) for state in states)
    assert unembedding_of(loaded).shift == -1
    found = lens(loaded, PROMPT)
    assert torch.allclose(found.norms[0], embedded.norm(dim=-1), rtol=1e-5)
    for layer in range(1, found.layers):
        assert torch.allclose(found.norms[layer], states[layer - 1][0].norm(dim=-1), rtol=1e-4)
