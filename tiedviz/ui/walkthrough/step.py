"""Questions that are checked at once: a choice, whole numbers, or two sentences of one's own."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """Pick one.

    Attributes:
        key: what its state is kept under.
        text: the question.
        options: what can be picked, each a different text.
        right: which of them.
        hint: what to think of.
        answer: why.
    """

    key: str
    text: str
    options: tuple[str, ...]
    right: int
    hint: str
    answer: str


@dataclass(frozen=True)
class Numbers:
    """Work out whole numbers.

    Attributes:
        key, text, hint, answer: as above.
        blanks: what is asked for, and the number that is right.
    """

    key: str
    text: str
    blanks: tuple[tuple[str, int], ...]
    hint: str
    answer: str


@dataclass(frozen=True)
class OwnWords:
    """Say it in your own words; what a good answer mentions is looked for.

    Attributes:
        key, text, hint, answer: as above.
        points: what it should mention, and a pattern by which that is found.
    """

    key: str
    text: str
    points: tuple[tuple[str, str], ...]
    hint: str
    answer: str

    def mentioned(self, said: str) -> list[bool]:
        """For each point, whether `said` mentions it."""
        return [bool(re.search(pattern, said, re.IGNORECASE)) for _, pattern in self.points]


Question = Choice | Numbers | OwnWords

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}
_NUMBER = re.compile(r"(\d+)(?:\.(\d+))?([kmb]?)", re.IGNORECASE)


def read_whole_number(text: str) -> int | None:
    """The whole number that `text` writes, or None.

    38400000, 38,400,000, 38 400 000, 38_400_000 and 38.4M are all the same; 1.5 is none.
    """
    figures = _NUMBER.fullmatch(re.sub(r"[\s,_'’]", "", text))
    if figures is None or len(figures[0]) > 30:
        return None
    whole, part, unit = figures[1], figures[2] or "", figures[3]
    scaled = int(whole + part) * _UNITS[unit.lower()]
    return None if scaled % 10 ** len(part) else scaled // 10 ** len(part)
