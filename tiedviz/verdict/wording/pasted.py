"""What do the error messages about shared tensors mean, when somebody pastes one?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tiedviz.words.refusals.file import listed

_SHARED = re.compile(r"some tensors share memory|contained shared tensors", re.IGNORECASE)
_SET = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"'([^']{1,300})'")


@dataclass(frozen=True)
class Explanation:
    """A message put into plain words."""

    names: tuple[tuple[str, ...], ...]
    """The tensors it names, a group for each run of numbers."""
    meaning: str
    remedy: str


def explain(message: str) -> Explanation | None:
    """What a pasted error says about tying; None where it is none of those messages."""
    if not _SHARED.search(message):
        return None
    groups = tuple(tuple(sorted(_NAME.findall(part))) for part in _SET.findall(message))
    groups = tuple(group for group in groups if len(group) > 1)
    which = f" ({listed(groups[0])})" if groups else ""
    return Explanation(
        names=groups,
        meaning=f"These tensors are one run of numbers in memory{which}: that is proof of tying.",
        remedy="Save with `save_pretrained()`, or safetensors' `save_model()`: one name is kept.",
    )
