"""A tiny tied checkpoint, broken in the ways real ones get broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from tiedviz.models.tiny import ROWS, WIDTH, resize, tiny_llama

_HEAD, _TABLE = "lm_head.weight", "model.embed_tokens.weight"


def tiny_tied_folder(folder: Path) -> Path:
    """`models.tiny`, tied, saved by the library into `folder`."""
    tiny_llama(tied=True).save_pretrained(folder)
    return folder


def _nothing(folder: Path) -> None:
    """Leave it as it was saved."""


def _flip_the_flag(folder: Path) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["tie_word_embeddings"] = not config.get("tie_word_embeddings", False)
    path.write_text(json.dumps(config, indent=2))


def _resize(folder: Path) -> None:
    resize(folder, ROWS + 3)


def _tie_by_hand(folder: Path) -> None:
    model = tiny_llama(tied=False)
    model.lm_head.weight = model.model.embed_tokens.weight
    model.save_pretrained(folder)


def _write_both(folder: Path) -> None:
    _edit(folder, lambda tensors: tensors | {_HEAD: tensors[_TABLE].clone()})


def _merge_an_adapter(folder: Path) -> None:
    """What merging a LoRA on the head does when the file is written with both matrices."""
    generator = torch.Generator().manual_seed(1)
    down = torch.randn(4, WIDTH, generator=generator)
    up = torch.randn(ROWS, 4, generator=generator)
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
"""What each does to a folder made by `tiny_tied_folder`; named as in `verdict.breaks`."""
