"""Which rows of E were never trained: added by a resize, or padding without a token?"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from tiedviz.compute.forward import forward
from tiedviz.compute.next_token.ranking import mass_beyond
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.numbers import count

_PROBE = (5, 11, 17, 23, 31, 41)  # ids, for a prompt that every vocabulary has
_LOW = 0.5  # a fresh row's norm is below this part of the usual one
_ALIKE = 0.95  # cosine of fresh rows with each other
_BLOCK = 4096  # rows
_NAMED = 5


@dataclass(frozen=True)
class FreshRows:
    """Rows that look freshly added: short, and all alike (the mean of the old rows, and a little).

    Attributes:
        ids: which, in order.
        norm: their median norm.
        usual_norm: the median norm of all rows that are not zero.
        cosine: the least cosine of one of them with their mean.
    """

    ids: tuple[int, ...]
    norm: float
    usual_norm: float
    cosine: float

    @property
    def words(self) -> str:
        """Which, and why they look so, as a sentence."""
        names = [count(row) for row in self.ids[:_NAMED]]
        more = len(self.ids) - len(names)
        names += [f"{count(more)} more"] if more else []
        return (
            f"Rows {', '.join(names[:-1])} and {names[-1]} look freshly added and untrained: their "
            f"length is {self.norm:.3f} where {self.usual_norm:.3f} is usual, and they point the "
            f"same way (least cosine with their mean {self.cosine:.3f})."
        )


@dataclass(frozen=True)
class EmptyRows:
    """Rows that no token names.

    Attributes:
        rows: V.
        tokens: what the tokenizer knows.
        mass: the probability that falls to them after a fixed prompt.
    """

    rows: int
    tokens: int
    mass: float = 0.0

    @property
    def count(self) -> int:
        """How many rows have no token."""
        return max(0, self.rows - self.tokens)


def empty_rows(loaded: LoadedModel) -> EmptyRows:
    """How many rows of E this model's tokenizer has no token for, and what falls to them."""
    rows, tokens = loaded.embedding.shape[0], loaded.vocabulary.size
    if rows <= tokens:
        return EmptyRows(rows, tokens)
    ids = [id % tokens for id in _PROBE]
    with loaded.lock, torch.inference_mode():
        logits = forward(loaded.model, ids, decoder_ids=ids).logits[0, -1]
    return EmptyRows(rows, tokens, mass_beyond(logits, tokens))


def fresh_rows(matrix: torch.Tensor) -> FreshRows | None:
    """Rows of E, (V, d), that `resize_token_embeddings` may have added; None where there are none.

    At least two, at the end or anywhere: their norm is far below the usual, and they point the same
    way as the last of them. Zero rows are padding, not fresh rows.
    """
    norms = _norms(matrix)
    present = norms > 0
    if int(present.sum()) < 4:
        return None
    usual = float(norms[present].median())
    short = torch.nonzero(present & (norms < _LOW * usual)).flatten()
    if len(short) < 2:
        return None
    units = _units(matrix, short, norms)
    alike = units @ units[-1] >= _ALIKE
    ids, units = short[alike], units[alike]
    if len(ids) < 2:
        return None
    cosine = float((units @ torch.nn.functional.normalize(units.mean(0), dim=0)).min())
    return FreshRows(tuple(ids.tolist()), float(norms[ids].median()), usual, min(cosine, 1.0))


def _norms(matrix: torch.Tensor) -> torch.Tensor:
    blocks = matrix.detach().split(_BLOCK)
    return torch.cat([block.float().norm(dim=1) for block in blocks])


def _units(matrix: torch.Tensor, ids: torch.Tensor, norms: torch.Tensor) -> torch.Tensor:
    return matrix.detach()[ids].float() / norms[ids][:, None]
