"""The lens of whole models: each layer once through the final norm, the last as it is."""

import pytest
import torch

from tests.tiny_models import build
from tiedviz.compute.forward import forward
from tiedviz.compute.lens import lens
from tiedviz.compute.lens_tables import best, cells, first_appearance, given_back, lines
from tiedviz.compute.next_token.state import score_state
from tiedviz.compute.unembedding import unembedding_of
from tiedviz.words.refusals.prompt import ModelRefusal, PromptRefusal

PROMPT = [41, 7, 90, 13, 66]
KINDS = ["llama", "gpt2", "gemma2", "bert", "cohere", "mamba", "t5", "bart", "albert"]


def same(found, reading, layer, column):
    k = found.ids.shape[-1]
    best_own = reading.logits.topk(k)
    assert found.ids[layer, column].tolist() == best_own.indices.tolist()
    assert float((found.logits[layer, column] - best_own.values).abs().max()) <= 1e-4


@pytest.mark.parametrize("name", KINDS)
def test_every_layer_and_position_agrees_with_next_token(architecture, name):
    loaded = architecture(name)
    written = [2, 20, 31] if loaded.kind == "seq2seq" else None
    found = lens(loaded, PROMPT, decoder_ids=written)
    assert found.agrees
    for column in range(3 if written else 5):
        for layer in range(found.layers + 1):
            reading = score_state(loaded, PROMPT, decoder_ids=written, position=column, layer=layer)
            same(found, reading, layer, column)
            p = reading.logits.double().softmax(0)
            assert float(found.entropy[layer, column]) == pytest.approx(
                float(-(p * p.log()).sum()), abs=1e-5
            )
            assert float(found.norms[layer, column]) == pytest.approx(
                reading.residual_norm, rel=1e-5
            )


@pytest.mark.case(1, 2)
def test_the_norm_is_applied_once_below_the_last_layer_and_not_again_there(architecture):
    """For case 1 and case 2, with the model's own modules."""
    loaded = architecture("llama")
    model = loaded.model
    out = forward(model, PROMPT, hidden_states=True)
    found = lens(loaded, PROMPT)
    weights = loaded.scoring_matrix
    with torch.inference_mode():
        for layer in range(found.layers):
            once = (model.model.norm(out.hidden_states[layer][0]) @ weights.T).max(1)
            bare = (out.hidden_states[layer][0] @ weights.T).max(1)
            assert torch.allclose(found.logits[layer, :, 0], once.values, atol=1e-5)
            assert not torch.allclose(found.logits[layer, :, 0], bare.values, atol=1e-2)
        twice = (model.model.norm(out.hidden_states[-1][0]) @ weights.T).max(1).values
    assert torch.allclose(found.logits[-1, :, 0], out.logits[0].max(1).values, atol=1e-5)
    assert not torch.allclose(found.logits[-1, :, 0], twice, atol=1e-2)


def test_watched_tokens_and_the_final_answer_are_ranked_among_all(architecture):
    loaded = architecture("gemma2")
    found = lens(loaded, PROMPT, watched=[3, 60])
    for layer in range(found.layers + 1):
        logits = score_state(loaded, PROMPT, layer=layer).logits
        final = int(score_state(loaded, PROMPT).logits.argmax())
        for at, id in enumerate((final, 3, 60)):
            above = int((logits > logits[id] + 1e-6).sum())
            assert int(found.tracked_ranks[layer, -1, at]) == above + 1
            assert float(found.tracked_logits[layer, -1, at]) == pytest.approx(
                float(logits[id]), abs=1e-5
            )
    assert found.tracked_ranks[-1, :, 0].tolist() == [1] * 5


def test_some_positions_are_the_same_as_all(architecture):
    loaded = architecture("llama")
    every, some = lens(loaded, PROMPT), lens(loaded, PROMPT, positions=[1, 3])
    assert some.positions == (1, 3)
    assert torch.equal(some.ids, every.ids[:, [1, 3]])
    assert torch.allclose(some.logits, every.logits[:, [1, 3]], atol=1e-5)
    with pytest.raises(PromptRefusal, match="There is no position"):
        lens(loaded, PROMPT, positions=[5])


@pytest.mark.parametrize("positions", [[4, 2, 0, 3, 1], [3, 1, 3], [1, 1, 3, 3, 3]])
def test_positions_may_be_named_in_any_order_and_twice(architecture, positions):
    """As many as the prompt has: what the head was given is those, and not all in their order."""
    loaded = architecture("llama")
    every, some = lens(loaded, PROMPT), lens(loaded, PROMPT, positions=positions)
    assert some.positions == tuple(sorted(set(positions)))
    assert torch.allclose(some.logits, every.logits[:, list(some.positions)], atol=1e-5)
    assert some.agrees


@pytest.mark.case(51)
def test_opt_350m_is_as_wide_as_its_blocks_until_it_is_projected():
    """For case 51."""
    loaded = build("opt", word_embed_proj_dim=8)
    found = lens(loaded, PROMPT)
    width = loaded.model.config.hidden_size
    assert loaded.scoring_matrix.shape[1] == 8 != width
    for layer in range(found.layers + 1):
        same(found, score_state(loaded, PROMPT, layer=layer), layer, 4)


@pytest.mark.case(52)
def test_mamba_s_layers_are_what_its_blocks_gave(architecture):
    """For case 52: its own list leaves out what enters block 1, and norms the last entry."""
    loaded = architecture("mamba")
    found = lens(loaded, PROMPT)
    own = forward(loaded.model, PROMPT, hidden_states=True).hidden_states
    assert unembedding_of(loaded).shift == -1
    embedded = loaded.embedding[PROMPT].norm(dim=-1)
    assert torch.allclose(found.norms[0], embedded, rtol=1e-5)
    assert torch.allclose(found.norms[1], own[0][0].norm(dim=-1), rtol=1e-5)


@pytest.mark.case(12)
def test_bfloat16_shows_the_model_s_own_numbers_within_its_own_tolerance(architecture):
    """For case 12."""
    from dataclasses import replace

    tiny = build("llama")
    tiny.model.to(torch.bfloat16)
    loaded = replace(tiny, dtype="bfloat16", memo={})
    found = lens(loaded, PROMPT)
    assert found.agrees
    own = forward(loaded.model, PROMPT).logits[0].float()
    assert found.logits[-1, :, 0].tolist() == own.max(1).values.tolist()


@pytest.mark.parametrize("name", ["mobilebert", "xlnet"])
def test_what_is_not_reproduced_has_no_lens_and_says_why(name):
    loaded = build(name)
    with pytest.raises(
        ModelRefusal, match=r"below the last can be read|were not reproduced"
    ) as refused:
        lens(loaded, PROMPT)
    assert unembedding_of(loaded).reason in str(refused.value)


def test_tables_say_the_same_as_the_lens(architecture):
    loaded = architecture("llama")
    found = lens(loaded, PROMPT, watched=[3, int(lens(loaded, PROMPT).final[4])])
    frame = cells(found, loaded)
    assert len(frame) == (found.layers + 1) * 5
    cell = frame[(frame["layer"] == 1) & (frame["position"] == 2)].iloc[0]
    table = best(found, loaded, 1, 2)
    assert (cell["id"], cell["logit"]) == (table["id"][0], table["logit"][0])
    followed = lines(found, loaded, 4)
    # the final answer was watched as well: it is drawn once
    assert followed["id"].unique().tolist() == [int(found.final[4]), 3]
    assert followed[followed["order"] == 0]["rank"].iloc[-1] == 1


def test_first_appearance_and_given_back():
    from types import SimpleNamespace

    ranks = torch.tensor([5, 1, 3, 1, 1])[:, None, None]
    found = SimpleNamespace(tracked_ranks=ranks, positions=(7,), ids=torch.tensor([[[9]], [[1]]]))
    assert first_appearance(found, 7) == (1, 3)
    assert given_back(found, [0] * 7 + [9]) == 1
    assert given_back(found, [0] * 8) == 0
