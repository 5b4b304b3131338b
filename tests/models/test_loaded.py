"""What an open model says of itself."""

from __future__ import annotations

import pytest
from transformers import BartConfig, BartForCausalLM

from tests.tiny_models import build, opened
from tiedviz.models.building import building


def test_a_tied_model_has_one_matrix_counted_once(tied_model):
    assert tied_model.tied and tied_model.scoring_matrix is tied_model.embedding
    rows, width = tied_model.embedding.shape
    blocks = sum(p.numel() for p in tied_model.model.model.layers.parameters())
    norm = tied_model.model.model.norm.weight.numel()
    assert tied_model.parameters == rows * width + blocks + norm
    assert tied_model.share == pytest.approx(rows * width / tied_model.parameters)


def test_an_untied_model_has_one_matrix_more(tied_model, untied_model):
    assert not untied_model.tied
    assert untied_model.parameters == tied_model.parameters + tied_model.embedding.numel()
    assert untied_model.share == pytest.approx(
        2 * untied_model.embedding.numel() / untied_model.parameters
    )


def test_its_bytes_are_those_of_its_distinct_tensors(tied_model):
    buffers = sum(buffer.nbytes for buffer in tied_model.model.buffers())
    assert tied_model.nbytes == 4 * tied_model.parameters + buffers


def test_it_cannot_be_changed(tied_model):
    with pytest.raises(AttributeError):
        tied_model.title = "x"
    assert not any(parameter.requires_grad for parameter in tied_model.model.parameters())
    assert not tied_model.model.training


@pytest.mark.parametrize(
    ("name", "changes", "layers"),
    [
        ("llama", {}, 2),
        ("gpt2", {"n_layer": 3}, 3),
        ("bert", {}, 2),
        ("bart", {"encoder_layers": 1, "decoder_layers": 3}, 3),
        ("t5", {"num_layers": 1, "num_decoder_layers": 3}, 3),
    ],
)
def test_its_layers_are_those_of_the_side_that_scores(name, changes, layers):
    from tiedviz.compute.unembedding import unembedding_of

    loaded = build(name, **changes)
    assert loaded.layers == layers
    assert unembedding_of(loaded).layers == layers


def test_a_decoder_without_its_encoder_has_the_layers_of_the_decoder():
    """Its num_hidden_layers goes on to mean the encoder's."""
    config = BartConfig(
        vocab_size=60, d_model=16, encoder_layers=1, decoder_layers=3, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, is_decoder=True,
        is_encoder_decoder=False,
    )  # fmt: skip
    with building():
        loaded = opened(BartForCausalLM(config), "bart")
    assert loaded.model.config.num_hidden_layers == 1
    assert loaded.layers == 3


@pytest.mark.parametrize(
    ("name", "positions"),
    [("gpt2", 64), ("llama", 64), ("mpt", 64), ("mamba", None), ("xlnet", None), ("t5", None)],
)
def test_its_positions_are_as_its_config_states_them(name, positions):
    assert build(name).positions == positions
