"""A model whose numbers can be checked by hand."""

from __future__ import annotations

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tests.tiny_models import opened
from tiedviz.models.building import building
from tiedviz.models.loaded import LoadedModel


@pytest.fixture
def orthonormal() -> LoadedModel:
    """A tied model of eight tokens whose eight rows are the unit vectors."""
    config = LlamaConfig(
        vocab_size=8,
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=16,
        tie_word_embeddings=True,
    )
    with building():
        loaded = opened(LlamaForCausalLM(config), "orthonormal")
    with torch.no_grad():
        loaded.embedding.copy_(torch.eye(8))
    return loaded
