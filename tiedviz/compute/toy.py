"""A language model's two ends, small enough to check by hand: four words, their rows, one state.

Needs no torch. What the toy learns stands in `toy_training`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tiedviz.words.refusals.toy import ToyRefusal

TOY_WORDS = ("cat", "dog", "the", "ran")
TOY_E = ((0.2, 0.3, -0.9), (0.6, -0.5, -0.4), (0.1, 0.3, 0.8), (0.7, 0.2, -0.5))
TOY_H = (0.5, 0.2, -0.3)
DIMENSIONS = ("x₁", "x₂", "x₃")

LARGEST = 100.0
"""The largest number a cell takes, either way: softmax of anything larger is 0 and 1 on paper."""

# An exported toy has about 1 kB.
MOST_BYTES = 20_000


@dataclass(frozen=True, eq=False)
class Toy:
    """A table and a state.

    Attributes:
        words: V names, in the order of their ids.
        E: (V, d), one row for each word.
        h: (d,), h_L: what the blocks made of the text, after the final norm.
    """

    words: tuple[str, ...]
    E: np.ndarray
    h: np.ndarray

    @classmethod
    def published(cls) -> Toy:
        """The toy before anyone edits it."""
        return cls(TOY_WORDS, np.array(TOY_E), np.array(TOY_H))

    @property
    def V(self) -> int:
        """Rows of E."""
        return self.E.shape[0]

    @property
    def d(self) -> int:
        """Width of E."""
        return self.E.shape[1]

    @property
    def logits(self) -> np.ndarray:
        """E·h, (V,)."""
        return self.E @ self.h

    @property
    def best(self) -> int:
        """The id of the largest logit; of the first, where several are equal."""
        return int(self.logits.argmax())

    def scores(self, temperature: float = 1.0) -> pd.DataFrame:
        """One row for each word: word, products (as text), logit (e·h), probability (softmax).

        Args:
            temperature: what logits are divided by before softmax, above 0.
        """
        logits = self.logits
        weights = np.exp((logits - logits.max()) / temperature)
        return pd.DataFrame(
            {
                "word": self.words,
                "products": [
                    " + ".join(f"{_factor(a)}·{_factor(b)}" for a, b in zip(self.h, e, strict=True))
                    for e in self.E
                ],
                "logit": logits,
                "probability": weights / weights.sum(),
            }
        )

    def loss(self, target: int, temperature: float = 1.0) -> float:
        """−ln of a word's probability, exact where the probability itself rounds to 0."""
        scaled = self.logits / temperature
        return float(np.log(np.exp(scaled - scaled.max()).sum()) + scaled.max() - scaled[target])

    def frames(self) -> dict[str, pd.DataFrame]:
        """E and h as tables to edit: a row for each word, and one for h_L."""
        return {
            "E": pd.DataFrame(self.E, pd.Index(self.words), DIMENSIONS),
            "h": pd.DataFrame(self.h[None], pd.Index(["h_L"]), DIMENSIONS),
        }

    def record(self) -> dict[str, Any]:
        """All of it as plain values, ready for JSON."""
        return {
            "words": list(self.words),
            "E": self.E.tolist(),
            "h_L": self.h.tolist(),
            "logits": self.logits.tolist(),
            "probabilities": self.scores()["probability"].tolist(),
            "next": self.words[self.best],
        }


def _factor(number: float) -> str:
    """A number as a factor: in brackets where it is negative."""
    return f"(−{-number:g})" if number < 0 else f"{number:g}"


def word_ids(text: str, words: tuple[str, ...]) -> list[tuple[str, int | None]]:
    """Each word of `text` with its id; None where the vocabulary has no such word (UNK)."""
    known = {word: id for id, word in enumerate(words)}
    return [(word, known.get(word.lower())) for word in text.split()]


def byte_ids(text: str) -> list[int]:
    """The UTF-8 bytes of `text`: ids 0 to 255, whatever the text is."""
    return list(text.encode("utf-8", "replace"))


def one_hot(rows: int, row: int) -> np.ndarray:
    """(rows,): 1 at `row`, 0 elsewhere."""
    vector = np.zeros(rows)
    vector[row] = 1.0
    return vector


def zero_share(rows: int) -> float:
    """The part of the products in one_hot·E that multiply by zero: (V − 1)/V."""
    return (rows - 1) / rows


def neighbours(words: tuple[str, ...], E: np.ndarray, row: int) -> pd.DataFrame:
    """All other rows, the most alike first.

    Columns: id, word, cosine (0 where a row is all zeros), ids_apart.
    """
    lengths = np.linalg.norm(E, axis=1)
    scale = lengths * lengths[row]
    cosine = np.divide(E @ E[row], scale, out=np.zeros(len(E)), where=scale > 0)
    frame = pd.DataFrame(
        {
            "id": range(len(E)),
            "word": words,
            "cosine": cosine,
            "ids_apart": np.abs(np.arange(len(E)) - row),
        }
    )
    return frame[frame["id"] != row].sort_values("cosine", ascending=False, ignore_index=True)


def seen_along(h: np.ndarray, rows: np.ndarray) -> pd.DataFrame:
    """Where the tips of `rows` lie when h points along the first axis: further is a larger logit.

    Columns: along (h·e / ‖h‖, exact, so that the order is that of the logits), across (in the one
    direction at right angles to h in which these rows differ most), hidden (the length of what
    neither axis shows).

    Args:
        h: (d,), not zero.
        rows: (n, d).

    Raises:
        ValueError: h is zero and points nowhere.
    """
    length = float(np.linalg.norm(h))
    if length == 0:
        raise ValueError("h is zero: it has no direction")
    unit = h / length
    along = rows @ unit
    beside = rows - np.outer(along, unit)
    # the first right singular vector: the direction in which what is left is longest
    direction = np.linalg.svd(beside, full_matrices=False)[2][0]
    if direction[np.abs(direction).argmax()] < 0:  # of the two signs, always the same
        direction = -direction
    across = beside @ direction
    hidden = np.linalg.norm(beside - np.outer(across, direction), axis=1)
    return pd.DataFrame({"along": along, "across": across, "hidden": hidden})


def read_cells(frame: pd.DataFrame) -> tuple[np.ndarray, list[str]]:
    """The numbers of an edited table (rows, columns), and what had to be read as something else.

    An empty cell, or one that is no finite number, counts as 0; one beyond ±`LARGEST` as ±that.
    Each such cell is named in one sentence.
    """
    numbers = frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    notes = []
    for (row, column), number in np.ndenumerate(numbers):
        cell = f"{frame.index[row]}, {frame.columns[column]}"
        if not np.isfinite(number):
            notes.append(f"{cell} is empty and counts as 0 until you fill it.")
        elif abs(number) > LARGEST:
            bound = f"{LARGEST:g}" if number > 0 else f"−{LARGEST:g}"
            notes.append(f"{cell} is beyond ±{LARGEST:g} and counts as {bound}.")
    usable = np.where(np.isfinite(numbers), numbers, 0.0)
    return np.clip(usable, -LARGEST, LARGEST), notes


def read_toy(raw: bytes) -> Toy:
    """The toy in a JSON file with `words`, `E` and `h_L`; anything else in it is ignored.

    It is what the page exports, perhaps edited by hand, perhaps by a stranger.

    Raises:
        ToyRefusal: it is none, and what was found instead.
    """
    if len(raw) > MOST_BYTES:
        raise ToyRefusal.too_large(len(raw), MOST_BYTES)
    found = _json_object(raw)
    words = found.get("words", list(TOY_WORDS))
    if words != list(TOY_WORDS):
        named = [str(word) for word in words[:8]] if isinstance(words, list) else []
        raise ToyRefusal.other_words(named, list(TOY_WORDS))
    rows, width = len(TOY_E), len(TOY_E[0])
    E, h = found.get("E"), found.get("h_L")
    if not isinstance(E, list) or len(E) != rows:
        raise ToyRefusal.another_shape("E", rows, width)
    table = [_row(row, width, "E", rows, f"row {at}") for at, row in enumerate(E)]
    state = _row(h, width, "h_L", 0, "h_L")
    return Toy(TOY_WORDS, np.array(table), np.array(state))


def _json_object(raw: bytes) -> dict[str, object]:
    try:
        found = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # no UTF-8, no JSON, too deep, too many digits
        said = getattr(error, "msg", "")
        reason = f"it is not JSON: {said}" if said else "it is not JSON in UTF-8"
        raise ToyRefusal.no_toy(reason) from error
    if not isinstance(found, dict):
        raise ToyRefusal.no_toy("its JSON is no object with words, E and h_L")
    return found


def _row(found: object, width: int, table: str, rows: int, place: str) -> list[float]:
    """One row of a table."""
    numbers = found if isinstance(found, list) else []
    if len(numbers) != width or not all(type(each) in (int, float) for each in numbers):
        raise ToyRefusal.another_shape(table, rows, width)
    for at, each in enumerate(numbers):
        if not abs(each) <= LARGEST:  # nor is it where it is not a number
            raise ToyRefusal.number_unusable(table, f"{place}, column {at}", LARGEST)
    return [float(each) for each in numbers]
