"""How much memory is free, and whether a model fits, asked before it is opened."""

from __future__ import annotations

from pathlib import Path

import psutil

from tiedviz.words.refusals.opening import TooLittleMemory

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
