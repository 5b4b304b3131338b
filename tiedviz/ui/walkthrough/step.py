"""What a step of the walkthrough is made of: its words, its two halves, and a question."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tiedviz.compute.toy import Toy

PAPER = (
    "Press & Wolf, *Using the Output Embedding to Improve Language Models*, 2017, "
    "[arXiv 1608.05859](https://arxiv.org/abs/1608.05859)"
)


@dataclass(frozen=True)
class Choice:
    """A question with a few answers to pick from.

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
    """A question for whole numbers to work out.

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
    """A question for sentences of one's own; what a good answer mentions is looked for.

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


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes:
        title: its name.
        idea: the one thing to take away, in two or three sentences.
        task: the one thing to do.
        toy_half: draws the left half, on the toy; it needs no model. None: there are no halves.
        real_half: draws the right half, on the chosen model. What it refuses leaves the left one.
        below: draws what stands below both, over the whole width.
        question: asked at the end, answered from the toy as it is now.
    """

    title: str
    idea: str
    task: str
    toy_half: Callable[[], None] | None = None
    real_half: Callable[[], None] | None = None
    below: Callable[[], None] | None = None
    question: Callable[[Toy], Question] | None = None


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
