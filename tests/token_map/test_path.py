"""The way of a state through the map is the model's own."""

import pytest
import torch

from tiedviz.compute.next_token.state import score_state
from tiedviz.compute.token_map.path import hidden_path
from tiedviz.models.prompt import encode


def test_each_h_is_the_one_that_is_read_at_its_layer(tied_model):
    prompt = encode(tied_model, "the cat sat")
    path = hidden_path(tied_model, prompt.ids, 1)
    assert path.layers == (0, 1, 2) and path.h.shape == (3, 16)
    for layer in path.layers:
        reading = score_state(tied_model, prompt.ids, position=1, layer=layer)
        assert path.h[layer] == pytest.approx(reading.h.numpy(), abs=1e-5)
        assert path.residual_norms[layer] == pytest.approx(reading.residual_norm, rel=1e-5)


def test_h_0_is_normed_and_h_last_is_not_normed_again(tied_model):
    prompt = encode(tied_model, "the cat sat")
    path = hidden_path(tied_model, prompt.ids, -1)
    with torch.inference_mode():
        out = tied_model.model(torch.tensor([prompt.ids]), output_hidden_states=True)
        first = tied_model.model.model.norm(out.hidden_states[0])[0, -1]
    assert path.h[0] == pytest.approx(first.numpy(), abs=1e-5)
    assert path.h[-1] == pytest.approx(out.hidden_states[-1][0, -1].numpy(), abs=1e-5)


def test_where_there_is_no_lens_h_last_is_had_all_the_same(tied_model, monkeypatch):
    import dataclasses

    from tiedviz.compute.token_map import path as module
    from tiedviz.compute.unembedding import unembedding_of

    blind = dataclasses.replace(unembedding_of(tied_model), path=None, reason="no way")
    monkeypatch.setattr(module, "unembedding_of", lambda loaded: blind)
    prompt = encode(tied_model, "the cat sat")
    path = hidden_path(tied_model, prompt.ids, -1)
    assert path.layers == (2,) and path.reason == "no way" and path.residual_norms is None
    own = score_state(tied_model, prompt.ids).h
    assert torch.equal(path.h[0], own)
