"""How much memory there is, whether a model fits, and where its weights go. Torch comes in late."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from tiedviz.files.facts import ModelFacts
from tiedviz.models.cache import entry, require_disk
from tiedviz.words.refusals.opening import TooLittleMemory

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

# What stays free for the page, the forward pass and the tokenizer while a model opens.
HEADROOM = 400_000_000

_CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> int:
    """Bytes that could be used without anything being swapped or killed.

    The smaller of what the machine has and what a container's limit leaves (cgroup v2).
    """
    return min(int(psutil.virtual_memory().available), _container_room())


def _container_room() -> int:
    try:
        limit = int((_CGROUP / "memory.max").read_text())
        used = int((_CGROUP / "memory.current").read_text())
        pages = (_CGROUP / "memory.stat").read_text()
    except (OSError, ValueError):
        return 1 << 62  # no container, or one without a limit (it says "max" then)
    # file pages count as used but are given back on demand
    cached = next((line for line in pages.splitlines() if line.startswith("inactive_file ")), "0 0")
    return max(0, limit - used + int(cached.split()[1]))


def require_memory(title: str, needed: int) -> None:
    """Nothing, or a refusal where `needed` bytes and some headroom are not free.

    Raises:
        TooLittleMemory: with both numbers.
    """
    free = available_memory()
    if needed + HEADROOM > free:
        raise TooLittleMemory(title, needed + HEADROOM, free)


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
        TooLittleMemory: not even the tables and the largest block fit.
        TooLittleDisk: the rest does not fit on the disk.
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
        raise TooLittleMemory(title, kept + HEADROOM, room + HEADROOM)
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
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
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
