"""How far two answers to one prompt agree, without a common tokenizer or width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiedviz.compute.compare.shared_tokens import SharedTokens, Texts, likeliest
from tiedviz.words.tokens import is_whole


@dataclass(frozen=True)
class Agreement:
    """Two answers compared.

    Attributes:
        shared: how many texts both have a token for.
        mass: the probability each gives to them.
        js_bits: Jensen–Shannon divergence of the two over these texts, each scaled up to 1; 0 where
            they are the same, 1 where they have nothing in common. None where one gives all of its
            probability to what the other has no token for.
        top: how many of the likeliest texts were compared.
        in_both: those among the `top` of both, in the order of the first.
        same_first: whether the likeliest text is the same.
        divergence_point: where two greedy continuations part; None where one of the two has none.
    """

    shared: int
    mass: tuple[float, float]
    js_bits: float | None
    top: int
    in_both: tuple[bytes, ...]
    same_first: bool
    divergence_point: DivergencePoint | None

    @property
    def left_out(self) -> tuple[float, float]:
        """The probability of each that is not compared."""
        return 1 - self.mass[0], 1 - self.mass[1]


def agreement(
    probabilities: Sequence[np.ndarray],
    shared: SharedTokens,
    texts: Sequence[Texts],
    greedy: Sequence[WrittenText | None] = (None, None),
    *,
    top: int = 10,
) -> Agreement:
    """How far two answers agree.

    Args:
        probabilities: of the rows of each model, (V,).
        shared: what their two vocabularies have in common.
        texts: what the rows of each stand for.
        greedy: what each wrote, where it continues a text.
        top: how many of the likeliest texts of each to compare.
    """
    p, q = (shared.summed(which, each) for which, each in enumerate(probabilities))
    mine, theirs = (
        [text for text, _ in likeliest(each, known, top)]
        for each, known in zip(probabilities, texts, strict=True)
    )
    one, other = greedy
    return Agreement(
        shared=len(shared.texts),
        # a sum of rounded numbers may pass 1 in its last digit
        mass=(min(1.0, float(p.sum())), min(1.0, float(q.sum()))),
        js_bits=jensen_shannon(p, q),
        top=top,
        in_both=tuple(text for text in mine if text in theirs),
        same_first=mine[:1] == theirs[:1],
        divergence_point=None if one is None or other is None else divergence_point(one, other),
    )


def jensen_shannon(p: np.ndarray, q: np.ndarray) -> float | None:
    """The Jensen–Shannon divergence (Lin 1991) in bits, from 0 to 1; each is scaled to sum to 1.

    None where either is all zeros.
    """
    if not p.sum() > 0 or not q.sum() > 0:
        return None
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2
    total = (_kullback_leibler(p, middle) + _kullback_leibler(q, middle)) / 2
    return min(1.0, max(0.0, total))


def _kullback_leibler(p: np.ndarray, q: np.ndarray) -> float:
    """Kullback–Leibler, in bits; what has no probability adds nothing."""
    some = p > 0
    return float((p[some] * np.log2(p[some] / q[some])).sum())


def agreement_record(found: Agreement, names: tuple[str, str]) -> dict[str, Any]:
    """An agreement as plain values ready for JSON. Texts are decoded."""
    point = found.divergence_point
    return {
        "models": list(names),
        "shared_tokens": found.shared,
        "mass_shared": list(found.mass),
        "mass_left_out": list(found.left_out),
        "js_divergence_bits": found.js_bits,
        "top": found.top,
        "top_in_both": [text.decode("utf-8", "replace") for text in found.in_both],
        "top_overlap": len(found.in_both) / found.top,
        "same_first": found.same_first,
        "greedy": None
        if point is None
        else {
            "common": point.common.decode("utf-8", "replace"),
            "differ": point.differ,
            "first_differing_token": list(point.places),
            "ended": list(point.ended),
        },
    }


@dataclass(frozen=True)
class WrittenText:
    """A continuation as text.

    Attributes:
        tokens: the bytes of each token, without the mark that ended it.
        ended: whether the model ended it by itself.
    """

    tokens: tuple[bytes, ...]
    ended: bool


@dataclass(frozen=True)
class DivergencePoint:
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


def divergence_point(one: WrittenText, other: WrittenText) -> DivergencePoint:
    """Where two continuations part, compared as text, byte by byte."""
    a, b = b"".join(one.tokens), b"".join(other.tokens)
    same = next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    if same is None:
        same = min(len(a), len(b))
    places = (_token_at(one, same), _token_at(other, same))
    common = a[:same]
    while common and not is_whole(common):
        common = common[:-1]
    return DivergencePoint(common, places, (one.ended, other.ended))


def _token_at(text: WrittenText, byte: int) -> int | None:
    """Which token holds a byte of the text, or None past its end."""
    seen = 0
    for index, token in enumerate(text.tokens):
        seen += len(token)
        if byte < seen:
            return index
    return None
