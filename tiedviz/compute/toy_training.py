"""The toy learns: the gradient of both jobs by hand, for one table, a copy, and two tables.

The toy reads word x and should go on with word y. Its blocks add a fixed vector b, so that

    h_L = E[x] + b,   z = W·h_L,   loss = −ln softmax(z)[y].

With p = softmax(z) the gradient reaches the tables on two ways (the chain rule, by hand):

    output side   dL/dW[j] = (p[j] − 1 where j = y)·h_L, every row
    input side    dL/dE[x] = Wᵀ·(p − onehot(y)),         the row that was read, no other

Where W is E, one table gets the sum of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from tiedviz.compute.toy import Toy, one_hot

TOY_W = ((0.4, -0.6, 0.2), (-0.3, 0.5, 0.7), (0.8, 0.1, -0.2), (-0.5, 0.3, 0.1))
"""What an output matrix of its own might hold, for showing what "untied" means."""


class Weights(StrEnum):
    """What the output matrix is."""

    TIED = "tied"  # E itself
    COPY = "equal copy"  # another matrix that starts with the same numbers
    SEPARATE = "separate"  # another matrix with numbers of its own


@dataclass(frozen=True, eq=False)
class Tables:
    """The two ends: E (V, d) reads, W (V, d) scores. Where tied, W is E: the same object."""

    E: np.ndarray
    W: np.ndarray

    @property
    def tied(self) -> bool:
        """Whether both names mean one array."""
        return self.W is self.E

    @property
    def numbers(self) -> int:
        """Numbers stored, each once."""
        return self.E.size if self.tied else self.E.size + self.W.size


def tables_of(toy: Toy, weights: Weights) -> Tables:
    """The toy's tables before anything is learned."""
    if weights is Weights.TIED:
        return Tables(toy.E, toy.E)
    return Tables(toy.E, toy.E.copy() if weights is Weights.COPY else np.array(TOY_W))


@dataclass(frozen=True, eq=False)
class LearningStep:
    """One step of gradient descent.

    Attributes:
        before, after: the tables.
        h_before, h_after: (d,), h_L.
        logits_before, logits_after: (V,).
        probabilities: (V,), before.
        loss_before, loss_after: −ln of the target's probability.
        input_gradient: (V, d), zero but in the row that was read.
        output_gradient: (V, d).
    """

    before: Tables
    after: Tables
    h_before: np.ndarray
    h_after: np.ndarray
    logits_before: np.ndarray
    logits_after: np.ndarray
    probabilities: np.ndarray
    loss_before: float
    loss_after: float
    input_gradient: np.ndarray
    output_gradient: np.ndarray


def learn(tables: Tables, blocks: np.ndarray, read: int, target: int, rate: float) -> LearningStep:
    """One step of the toy.

    Args:
        tables: E and W, (V, d); not changed.
        blocks: b, (d,): what the blocks add to the row that was read.
        read: x, the word that is read.
        target: y, the word that really came next.
        rate: the learning rate.
    """
    h, logits, probabilities, loss = _forward(tables, blocks, read, target)
    error = probabilities - one_hot(len(tables.E), target)
    output_gradient = np.outer(error, h)
    input_gradient = np.outer(one_hot(len(tables.E), read), tables.W.T @ error)
    if tables.tied:
        E = tables.E - rate * (input_gradient + output_gradient)
        after = Tables(E, E)
    else:
        after = Tables(tables.E - rate * input_gradient, tables.W - rate * output_gradient)
    h_after, logits_after, _, loss_after = _forward(after, blocks, read, target)
    return LearningStep(
        tables, after, h, h_after, logits, logits_after, probabilities, loss, loss_after,
        input_gradient, output_gradient,
    )  # fmt: skip


def _forward(
    tables: Tables, blocks: np.ndarray, read: int, target: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """h_L, logits, probabilities, loss."""
    h = tables.E[read] + blocks
    logits = tables.W @ h
    shifted = logits - logits.max()
    log_total = np.log(np.exp(shifted).sum())
    return h, logits, np.exp(shifted - log_total), float(log_total - shifted[target])


def what_moved(words: tuple[str, ...], step: LearningStep) -> pd.DataFrame:
    """One row for each word.

    Columns: word, input_side and output_side (lengths of the two gradients), vector_moved (of the
    row that embeds the word, ‖ΔE[j]‖), logit_before, logit_after.
    """
    return pd.DataFrame(
        {
            "word": words,
            "input_side": np.linalg.norm(step.input_gradient, axis=1),
            "output_side": np.linalg.norm(step.output_gradient, axis=1),
            "vector_moved": np.linalg.norm(step.after.E - step.before.E, axis=1),
            "logit_before": step.logits_before,
            "logit_after": step.logits_after,
        }
    )


def drift(
    toy: Toy, weights: Weights, read: int, target: int, rate: float, steps: int
) -> tuple[Tables, list[float]]:
    """The tables after some steps, and ‖W − E‖ before the first and after each, steps + 1 numbers.

    The blocks are those that make h_L the toy's own at the start.
    """
    tables, blocks = tables_of(toy, weights), toy.h - toy.E[read]
    apart = [float(np.linalg.norm(tables.W - tables.E))]
    for _ in range(steps):
        tables = learn(tables, blocks, read, target, rate).after
        apart.append(float(np.linalg.norm(tables.W - tables.E)))
    return tables, apart
