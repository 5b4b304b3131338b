"""A tiny tied checkpoint, broken in the ways real ones get broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch

_HEAD, _TABLE = "lm_head.weight", "model.embed_tokens.weight"


class Break(NamedTuple):
    """One way: what it is called, how it happens to people, and what it does to a folder."""

    title: str
    story: str
    apply: Callable[[Path], None]


def tiny_tied_folder(folder: Path) -> Path:
    """`models.tiny`, tied, saved by the library into `folder`."""
    from tiedviz.models.building import tiny_llama

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
    from tiedviz.models.building import ROWS, resize

    resize(folder, ROWS + 3)


def _tie_by_hand(folder: Path) -> None:
    from tiedviz.models.building import tiny_llama

    model = tiny_llama(tied=False)
    model.lm_head.weight = model.model.embed_tokens.weight
    model.save_pretrained(folder)


def _write_both(folder: Path) -> None:
    _edit(folder, lambda tensors: tensors | {_HEAD: tensors[_TABLE].clone()})


def _merge_an_adapter(folder: Path) -> None:
    """What merging a LoRA on the head does when the file is written with both matrices."""
    import torch

    from tiedviz.models.building import ROWS, WIDTH

    generator = torch.Generator().manual_seed(1)
    down = torch.randn(4, WIDTH, generator=generator)
    up = torch.randn(ROWS, 4, generator=generator)
    _edit(folder, lambda tensors: tensors | {_HEAD: tensors[_TABLE] + 0.02 * up @ down})


def _edit(
    folder: Path, change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]
) -> None:
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, metadata={"format": "pt"})


BREAKS = {
    "whole": Break("Leave it whole", "As the library saves a tied model: one matrix.", _nothing),
    "flag": Break(
        "Flip the flag",
        "Somebody edits config.json, or a converter writes the wrong default.",
        _flip_the_flag,
    ),
    "resize": Break(
        "Add three tokens",
        "resize_token_embeddings before fine-tuning: the new rows have not learned anything.",
        _resize,
    ),
    "by hand": Break(
        "Tie by hand and save",
        "lm_head.weight = embed_tokens.weight where the flag is false: the head is not saved.",
        _tie_by_hand,
    ),
    "twice": Break(
        "Write both copies",
        "A script saves the state dict as it stands: the same matrix twice.",
        _write_both,
    ),
    "merge": Break(
        "Merge a LoRA on the head",
        "The merged head is stored beside the table, while the flag still says tied.",
        _merge_an_adapter,
    ),
}
"""What can be done to a folder made by `tiny_tied_folder`."""
