"""Where two continuations part, though their tokenizers cut text in different places."""

from __future__ import annotations

from dataclasses import dataclass

from tiedviz.words.tokens import is_whole


@dataclass(frozen=True)
class Text:
    """A continuation as text.

    Attributes:
        tokens: the bytes of each token, without the mark that ended it.
        ended: whether the model ended it by itself.
    """

    tokens: tuple[bytes, ...]
    ended: bool


@dataclass(frozen=True)
class Parting:
    """Where two continuations part.

    Attributes:
        common: the bytes that both begin with, as whole characters.
        places: which token of each is the first that differs, from 0; None where that one has
            ended, or was not continued further.
        ended: whether each ended there by itself, with a mark.
    """

    common: bytes
    places: tuple[int | None, int | None]
    ended: tuple[bool, bool]

    @property
    def differ(self) -> bool:
        """Whether they differ as far as both were continued."""
        if None not in self.places:
            return True
        one, other = self.places
        # one has ended by itself while the other goes on
        return (one is None and self.ended[0] and other is not None) or (
            other is None and self.ended[1] and one is not None
        )


def parted(one: Text, other: Text) -> Parting:
    """Where two continuations part, compared as text, byte by byte."""
    a, b = b"".join(one.tokens), b"".join(other.tokens)
    same = next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    if same is None:
        same = min(len(a), len(b))
    places = (_token_at(one, same), _token_at(other, same))
    common = a[:same]
    while common and not is_whole(common):
        common = common[:-1]
    return Parting(common, places, (one.ended, other.ended))


def _token_at(text: Text, byte: int) -> int | None:
    """Which token holds a byte of the text, or None past its end."""
    seen = 0
    for index, token in enumerate(text.tokens):
        seen += len(token)
        if byte < seen:
            return index
    return None
