"""A tiny language model, built on the spot, and what the library itself does to one on disk."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tiedviz.models.building import building

ROWS, WIDTH = 50, 16


def tiny_llama(*, tied: bool) -> LlamaForCausalLM:
    """A two-block Llama of width 16 with 50 rows, the same random numbers each time."""
    config = LlamaConfig(
        vocab_size=ROWS,
        hidden_size=WIDTH,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
        tie_word_embeddings=tied,
    )
    with building(), torch.random.fork_rng():
        torch.manual_seed(0)
        model = LlamaForCausalLM(config)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(0, 0.3)
    return model


def resize(folder: Path, rows: int) -> None:
    """Give the Llama in `folder` so many rows, as `resize_token_embeddings` does, and save it.

    The new rows are random, and the same each time.
    """
    with building(), torch.random.fork_rng():
        torch.manual_seed(0)
        model = LlamaForCausalLM.from_pretrained(folder)
        model.resize_token_embeddings(rows)
    model.save_pretrained(folder)
