"""A tiny tied model, built on the spot and broken in the ways real checkpoints get broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig, LlamaForCausalLM

from tiedviz.models.building import building

_HEAD, _TABLE = "lm_head.weight", "model.embed_tokens.weight"


def tiny_tied_folder(folder: Path) -> Path:
    """A two-block Llama of width 16 with 50 rows, tied, saved by the library into `folder`."""
    _tiny(tied=True).save_pretrained(folder)
    return folder


def _tiny(tied: bool) -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=50,
        hidden_size=16,
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


def _nothing(folder: Path) -> None:
    """Leave it as it was saved."""


def _flip_the_flag(folder: Path) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["tie_word_embeddings"] = not config.get("tie_word_embeddings", False)
    path.write_text(json.dumps(config, indent=2))


def _resize(folder: Path) -> None:
    with building():
        model = LlamaForCausalLM.from_pretrained(folder)
        model.resize_token_embeddings(53)
    model.save_pretrained(folder)


def _tie_by_hand(folder: Path) -> None:
    model = _tiny(tied=False)
    model.lm_head.weight = model.model.embed_tokens.weight
    model.save_pretrained(folder)


def _write_both(folder: Path) -> None:
    _edit(folder, lambda tensors: tensors | {_HEAD: tensors[_TABLE].clone()})


def _merge_an_adapter(folder: Path) -> None:
    """What merging a LoRA on the head does when the file is written with both matrices."""
    generator = torch.Generator().manual_seed(1)
    down = torch.randn(4, 16, generator=generator)
    up = torch.randn(50, 4, generator=generator)
    _edit(folder, lambda tensors: tensors | {_HEAD: tensors[_TABLE] + 0.02 * up @ down})


def _edit(
    folder: Path, change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]
) -> None:
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, metadata={"format": "pt"})


BREAKS: dict[str, Callable[[Path], None]] = {
    "whole": _nothing,
    "flag": _flip_the_flag,
    "resize": _resize,
    "by hand": _tie_by_hand,
    "twice": _write_both,
    "merge": _merge_an_adapter,
}
"""What each does to a folder made by `tiny_tied_folder`; named as in `words.breaks`."""
