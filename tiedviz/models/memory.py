"""How much memory there is, what open models may take of it, and where a model's weights go."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiedviz.files.facts import ModelFacts
from tiedviz.models.cache import entry, require_disk
from tiedviz.words.refusals.opening import OpeningRefusal

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

# What stays free for the page, the forward pass and the tokenizer while a model opens.
HEADROOM = 400_000_000

# Of the memory there is, what open models may take together unless TIEDVIZ_MODEL_MEMORY says.
_SHARE_OF_MEMORY = 0.6
_SETTING = "TIEDVIZ_MODEL_MEMORY"

_CGROUP = Path("/sys/fs/cgroup")
# Where a container says how much it may use, how much it does, and in which line of a third file
# how much of that are pages of files, which count as used but are given back on demand.
_LIMITS = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file "),
    (
        *("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
        "total_inactive_file ",
    ),
)


def memory_budget() -> int:
    """Bytes for all open models: `TIEDVIZ_MODEL_MEMORY`, else a part of the memory there is.

    Raises:
        OpeningRefusal: it is set to something else.
    """
    chosen = os.environ.get(_SETTING)
    if not chosen:
        return int(total_memory() * _SHARE_OF_MEMORY)
    try:
        return int(float(chosen))
    except (ValueError, OverflowError):
        raise OpeningRefusal.no_number_of_bytes(_SETTING, chosen) from None


def total_memory() -> int:
    """Bytes there are: the machine's, or what a container may use of them."""
    import psutil

    return min(int(psutil.virtual_memory().total), _container()[0])


def available_memory() -> int:
    """Bytes that could be used without anything being swapped or killed.

    The smaller of what the machine has and what a container's limit leaves.
    """
    import psutil

    return min(int(psutil.virtual_memory().available), _container()[1])


def _container() -> tuple[int, int]:
    """Bytes that a container's limit allows, and those it leaves (cgroup v2, else v1)."""
    for limit_file, used_file, pages_file, cached in _LIMITS:
        try:
            limit = int((_CGROUP / limit_file).read_text())
            used = int((_CGROUP / used_file).read_text())
            pages = (_CGROUP / pages_file).read_text().splitlines()
        except (OSError, ValueError):
            continue  # no such container, or one without a limit (v2 says "max" then)
        given_back = next((int(line.split()[1]) for line in pages if line.startswith(cached)), 0)
        return limit, max(0, limit - used + given_back)
    return 1 << 62, 1 << 62


def require_memory(title: str, needed: int) -> None:
    """Nothing, or a refusal where `needed` bytes and some headroom are not free.

    Raises:
        OpeningRefusal: with both numbers.
    """
    free = available_memory()
    if needed + HEADROOM > free:
        raise OpeningRefusal.too_little_memory(title, needed + HEADROOM, free)


@dataclass(frozen=True)
class Placement:
    """What `from_pretrained` is told about places.

    Attributes:
        options: its keyword arguments; empty where the weights simply go to memory.
        words: where the weights lie, for the sidebar; empty where that goes without saying.
    """

    options: dict[str, Any] = field(default_factory=dict)
    words: str = ""


def place(kind: type[PreTrainedModel], folder: Any, facts: ModelFacts, title: str) -> Placement:
    """Where the model can be put. Called while the build lock is held.

    On a machine with accelerators, accelerate spreads it over them. Without one it goes to memory
    if it fits; else its blocks go to disk as far as they must, while both tables stay in memory.

    Raises:
        OpeningRefusal: not even the tables and the largest block fit.
        OpeningRefusal: the rest does not fit on the disk.
    """
    import torch

    if torch.accelerator.is_available():
        return Placement({"device_map": "auto"}, "spread over the accelerators")
    room = available_memory() - HEADROOM
    if facts.float32_bytes <= room:
        return Placement()
    sizes = _sizes(kind, folder)
    kept = sizes.tables + 2 * sizes.largest_block
    if kept > room:
        raise OpeningRefusal.too_little_memory(title, kept + HEADROOM, room + HEADROOM)
    require_disk(title, facts.float32_bytes)
    return Placement(
        {"device_map": sizes.spread(room), "offload_folder": str(entry("offload", folder.name))},
        "partly on disk, so every answer is slow",
    )


@dataclass(frozen=True)
class _Sizes:
    """Bytes in float32: of each block by name, and of everything that is no block."""

    blocks: dict[str, int]
    others: tuple[str, ...]
    tables: int

    @property
    def largest_block(self) -> int:
        return max(self.blocks.values(), default=0)

    def spread(self, room: int) -> dict[str, str]:
        """Modules by place: blocks in memory while they fit, with room to bring one back in."""
        left = room - self.tables - self.largest_block
        places = dict.fromkeys(self.others, "cpu")
        for name, size in self.blocks.items():
            left -= size
            places[name] = "cpu" if left >= 0 else "disk"
        return places


def _sizes(kind: type[PreTrainedModel], folder: Any) -> _Sizes:
    """The model's blocks and the rest, from its architecture on the meta device."""
    import torch

    from tiedviz.models.checkpoint import plain_config

    config = plain_config(kind, folder)
    with torch.device("meta"):
        model = kind(config)
    lists = [
        (name, module)
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.ModuleList)
    ]
    if not lists:  # nothing can be put on disk by itself
        return _Sizes({}, ("",), _bytes(model))
    name, blocks = max(lists, key=lambda item: _bytes(item[1]))
    sizes = {f"{name}.{index}": _bytes(block) for index, block in enumerate(blocks)}
    others = tuple(_outside(model, name))
    return _Sizes(sizes, others, _bytes(model) - sum(sizes.values()))


def _bytes(module: torch.nn.Module) -> int:
    return sum(4 * parameter.numel() for parameter in module.parameters())


def _outside(model: torch.nn.Module, blocks: str) -> list[str]:
    """Names of the outermost modules that hold no block and lie beside the way to them."""
    names: list[str] = []
    for name, _ in model.named_modules():
        above = blocks == name or blocks.startswith(f"{name}.") or not name
        inside = name.startswith(f"{blocks}.") or any(
            name.startswith(f"{other}.") for other in names
        )
        if not above and not inside:
            names.append(name)
    return names
