"""The toy as one value: four words, their rows, and the state that scores them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tiedviz.compute.toy.scores import TOY_E, TOY_H, TOY_WORDS, toy_scores


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

    def scores(self, temperature: float = 1.0) -> pd.DataFrame:
        """One row for each word: word, products, logit, probability."""
        return toy_scores(list(self.words), self.E, self.h, temperature)

    def loss(self, target: int, temperature: float = 1.0) -> float:
        """−ln of a word's probability, exact where the probability itself rounds to 0."""
        scaled = self.logits / temperature
        return float(np.log(np.exp(scaled - scaled.max()).sum()) + scaled.max() - scaled[target])

    @property
    def best(self) -> int:
        """The id of the largest logit; of the first, where several are equal."""
        return int(self.logits.argmax())

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
