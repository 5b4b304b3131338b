"""Which tokens of a text spell one character together: pieces of an emoji, bytes of a letter."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from tiedviz.words.tokens import Token


def characters(tokens: Sequence[Token]) -> list[list[int]]:
    """Positions grouped so that each group spells whole characters.

    A token that is whole on its own is a group of one; the pieces of one character (an emoji cut
    into eight byte tokens) are one group. Returns lists of positions, in order, covering all.
    """
    groups: list[list[int]] = []
    start = 0
    while start < len(tokens):
        end = _end_of_character(tokens, start)
        group = list(range(start, end))
        if groups and _joined(tokens, groups[-1], group):
            groups[-1] += group
        else:
            groups.append(group)
        start = end
    return groups


def _end_of_character(tokens: Sequence[Token], start: int) -> int:
    """Where the whole characters that begin at `start` end; the next position if none do."""
    raw = b""
    for end in range(start, len(tokens)):
        raw += tokens[end].raw
        try:
            raw.decode("utf-8")
            return end + 1
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                break  # whatever follows, these bytes are no character
    return start + 1


_JOINER = "\u200d"
_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


def _joined(tokens: Sequence[Token], one: list[int], other: list[int]) -> bool:
    """Whether two neighbouring groups are one picture, of which a part was cut into pieces."""
    if len(one) == len(other) == 1:
        return False
    before, after = (b"".join(tokens[at].raw for at in group) for group in (one, other))
    left, right = before.decode("utf-8", "ignore")[-1:], after.decode("utf-8", "ignore")[:1]
    if not left or not right:
        return False
    extends = right in _SKIN_TONES or unicodedata.category(right)[0] == "M"
    return extends or _JOINER in (left, right)
