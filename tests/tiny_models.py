"""One tiny model for each architecture: real classes, random numbers, built in milliseconds.

`tests/data/tiny_configs.json` holds the configurations. Nothing in it says what lies between h_L
and the logits of a model: that is for the tests to find out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import AutoConfig, PreTrainedTokenizerFast

from tiedviz.models.building import building
from tiedviz.models.loaded import LoadedModel

_FILE = Path(__file__).parent / "data" / "tiny_configs.json"


@dataclass(frozen=True)
class Recipe:
    """How to build one model."""

    name: str
    model_type: str
    auto_class: str
    config: dict[str, Any]


RECIPES = {fact["name"]: Recipe(**fact) for fact in json.loads(_FILE.read_text("utf-8"))}


def names(kind: str) -> list[str]:
    """The architectures of one kind: "CausalLM", "MaskedLM", "Seq2SeqLM", "SpeechSeq2Seq"."""
    return [name for name, recipe in RECIPES.items() if recipe.auto_class.endswith(f"For{kind}")]


def build(name: str, **changes: Any) -> LoadedModel:
    """The tiny model of one architecture, every number of it random."""
    recipe = RECIPES[name]
    config = AutoConfig.for_model(recipe.model_type, **recipe.config | changes)
    with building():
        model = getattr(transformers, recipe.auto_class).from_config(config)
    return opened(model, name)


def opened(model: Any, name: str, seed: int = 0) -> LoadedModel:
    """A model of a test's own with random numbers, as the app holds an open one."""
    randomise(model, seed)
    rows = model.get_input_embeddings().weight.shape[0]
    return LoadedModel(
        source=name,
        title=name,
        key=name,
        model=model.eval().requires_grad_(False),
        tokenizer=numbered_tokenizer(rows),
        dtype=str(model.dtype).removeprefix("torch."),
        folder=Path(),
    )


def randomise(model: Any, seed: int = 0) -> None:
    """Give every parameter, and every buffer with one number for each token, values of its own."""
    generator = torch.Generator().manual_seed(seed)
    rows = model.get_input_embeddings().weight.shape[0]
    buffers = [b for b in model.buffers() if b.is_floating_point() and b.numel() == rows]
    with torch.no_grad():
        for tensor in (*model.parameters(), *buffers):
            tensor.copy_(torch.randn(tensor.shape, generator=generator) * 0.3)


def numbered_tokenizer(size: int) -> PreTrainedTokenizerFast:
    """A tokenizer whose `size` words are "w0", "w1", …"""
    words = {f"w{id}": id for id in range(size)}
    tokenizer = Tokenizer(WordLevel(words, unk_token="w0"))
    tokenizer.pre_tokenizer = Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="w0")
