"""The tokens that several vocabularies have in common, by the bytes they stand for.

Ids say nothing across tokenizers, and stored pieces are written in alphabets of their own (`Ġcold`,
`▁cold`); the bytes say the same everywhere. Special tokens are marks, not text: two of them play
the same part under different names, so none is matched. Rows that no token uses have no bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest

import numpy as np
import pandas as pd

from tiedviz.models.loaded import Vocabulary
from tiedviz.words.tokens import Alphabet, Token, visible

Texts = tuple[bytes | None, ...]
"""What each row stands for, (V,); None for marks and for rows without a token."""


def token_texts(vocabulary: Vocabulary, rows: int) -> Texts:
    """What each of `rows` rows stands for.

    WordPiece leaves out the space in front of a word and marks what is not a beginning instead
    (`cold`, `##ly`); here it gets the space, so that a word is the same text as elsewhere.
    """
    begins = vocabulary.alphabet is Alphabet.WORDPIECE
    known = vocabulary.tokens(list(range(min(rows, vocabulary.size))))
    texts = [_text(token, begins) for token in known]
    return tuple(texts + [None] * (rows - len(texts)))


def _text(token: Token, wordpiece: bool) -> bytes | None:
    if token.special or token.piece is None or not token.raw:
        return None
    if wordpiece and not token.piece.startswith("##") and token.text[:1].isalnum():
        return b" " + token.raw
    return token.raw


@dataclass(frozen=True)
class SharedTokens:
    """The texts that all of several vocabularies have a token for.

    Attributes:
        texts: them, n in all, in the order of the first vocabulary.
        groups: for each vocabulary, (V,) int64: which of the n a row is, or −1. Two rows of one
            vocabulary that stand for one text have the same number.
    """

    texts: tuple[bytes, ...]
    groups: tuple[np.ndarray, ...]

    def summed(self, which: int, probabilities: np.ndarray) -> np.ndarray:
        """(n,) float64: the probability of each shared text, its rows added up.

        Args:
            which: the vocabulary.
            probabilities: (V,) of its rows.
        """
        groups = self.groups[which]
        known = groups >= 0
        return np.bincount(groups[known], weights=probabilities[known], minlength=len(self.texts))

    def rows(self, which: int) -> np.ndarray:
        """(n,) int64: the first row of each shared text in a vocabulary."""
        groups = self.groups[which]
        found = np.full(len(self.texts), -1, dtype=np.int64)
        ids = np.flatnonzero(groups >= 0)[::-1]  # from the end, so that the first row stays
        found[groups[ids]] = ids
        return found


def shared_tokens(vocabularies: Sequence[Texts]) -> SharedTokens:
    """The texts that all of these have in common."""
    first, *others = vocabularies
    common = set(first).intersection(*others) - {None}
    number: dict[bytes, int] = {}
    for text in first:
        if text is not None and text in common:
            number.setdefault(text, len(number))
    groups = tuple(
        np.array([-1 if text is None else number.get(text, -1) for text in texts], dtype=np.int64)
        for texts in vocabularies
    )
    return SharedTokens(tuple(number), groups)


def likeliest(probabilities: np.ndarray, texts: Texts, top: int) -> list[tuple[bytes, float]]:
    """The `top` likeliest texts with their probabilities."""
    return nlargest(top, probability_by_text(probabilities, texts).items(), key=lambda it: it[1])


def probability_by_text(probabilities: np.ndarray, texts: Texts) -> dict[bytes, float]:
    """The probability of every text, rows of one text added up; marks are left out.

    Args:
        probabilities: (V,) of the rows.
        texts: what they stand for.
    """
    total: dict[bytes, float] = {}
    for text, probability in zip(texts, probabilities.tolist(), strict=True):
        if text is not None:
            total[text] = total.get(text, 0.0) + probability
    return total


def likeliest_texts(
    letters: Sequence[str],
    probabilities: Sequence[np.ndarray],
    texts: Sequence[Texts],
    *,
    top: int = 10,
) -> pd.DataFrame:
    """Every text among the `top` of any model, for every model, the likeliest anywhere first.

    Columns: order (of the text), text (as printed), letter (of the model), probability (not a
    number where the model has no token for it), rank (among the texts of that model, 1 is the
    likeliest; −1 where it has none).
    """
    tables = [
        probability_by_text(each, known) for each, known in zip(probabilities, texts, strict=True)
    ]
    ranked = [sorted(table, key=table.__getitem__, reverse=True) for table in tables]
    union = dict.fromkeys(text for each in ranked for text in each[:top])
    best = sorted(union, key=lambda text: -max(table.get(text, 0.0) for table in tables))
    places = [{text: place for place, text in enumerate(each, 1)} for each in ranked]
    return pd.DataFrame(
        [
            {
                "order": order,
                "text": visible(text),
                "letter": letter,
                "probability": table.get(text, float("nan")),
                "rank": place.get(text, -1),
            }
            for order, text in enumerate(best)
            for letter, table, place in zip(letters, tables, places, strict=True)
        ]
    )
