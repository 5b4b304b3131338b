"""The rows nearest to a row, to any vector, or to a sum of rows: king − man + woman."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import torch

from tiedviz.compute.token_map.rows import MapRows
from tiedviz.compute.unembedding.product import plain_product
from tiedviz.models.loaded import LoadedModel
from tiedviz.models.prompt import one_token
from tiedviz.words.numbers import or_none
from tiedviz.words.refusals.prompt import NotAToken
from tiedviz.words.refusals.vector import VectorRefusal
from tiedviz.words.tokens import Token

# Rounding of one product relative to ‖a‖‖b‖: what may make an equal row seem nearer than the row.
_ROUNDING = 1e-6

_SIGN = re.compile(r"\s+([+−–-])\s+")


class Measure(StrEnum):
    """What "near" means."""

    COSINE = "cosine"
    DOT = "dot"
    L2 = "l2"


@dataclass(frozen=True)
class Neighbours:
    """The nearest rows of one vector.

    Attributes:
        by: what they are ordered by.
        ids: (k,) nearest first.
        cosine: (k,) NaN where a row has no direction.
        dot: (k,)
        distance: (k,) Euclidean.
        self_rank: the place of the row itself under each measure, 1 is nearest; empty for a vector
            that is no row.
    """

    by: Measure
    ids: np.ndarray
    cosine: np.ndarray
    dot: np.ndarray
    distance: np.ndarray
    self_rank: dict[Measure, int]


def neighbours_of(
    matrix: torch.Tensor, rows: MapRows, row: int, *, by: Measure = Measure.COSINE, top: int = 10
) -> Neighbours:
    """The rows nearest to a row, itself left out, and its own rank under each measure.

    Args:
        matrix: E, (V, d).
        rows: what is known of its rows. Rows that are not finite or have no token are nobody's
            neighbours.
        row: whose neighbours.
        by: the measure.
        top: how many.

    Raises:
        VectorRefusal: the row holds no finite vector.
    """
    if not rows.finite[row]:
        raise VectorRefusal.row_not_finite(f"#{row}", row)
    return _nearest(matrix, rows, matrix.detach()[row], by, top, [row], row)


def neighbours_of_vector(
    matrix: torch.Tensor,
    rows: MapRows,
    vector: torch.Tensor,
    *,
    by: Measure = Measure.COSINE,
    top: int = 10,
    left_out: Sequence[int] = (),
) -> Neighbours:
    """The rows nearest to any vector, (d,), but for those left out."""
    return _nearest(matrix, rows, vector, by, top, left_out, None)


def _nearest(
    matrix: torch.Tensor,
    rows: MapRows,
    vector: torch.Tensor,
    by: Measure,
    top: int,
    left_out: Sequence[int],
    row: int | None,
) -> Neighbours:
    vector = vector.float().cpu()
    scores = _scores(matrix, rows, vector)
    if not rows.usable.all():
        barred = torch.from_numpy(~rows.usable)
        scores = {
            measure: score.masked_fill(barred, -torch.inf) for measure, score in scores.items()
        }
    ranks = {} if row is None else _self_ranks(scores, rows, row)
    wanted = scores[by]
    best = torch.topk(wanted, min(top + len(left_out), len(wanted))).indices
    allowed = [int(id) for id in best if int(id) not in left_out and wanted[id] > -torch.inf]
    return _exact(matrix, rows, vector, by, allowed[:top], ranks)


def _scores(
    matrix: torch.Tensor, rows: MapRows, vector: torch.Tensor
) -> dict[Measure, torch.Tensor]:
    """(V,) each, larger is nearer, all from one product. ‖e − v‖² = ‖e‖² − 2 e·v + ‖v‖²."""
    with torch.inference_mode():
        dot = plain_product(vector, matrix)
        norms = torch.from_numpy(rows.norms)
        cosine = dot / norms
        cosine[norms == 0] = -torch.inf
        return {Measure.COSINE: cosine, Measure.DOT: dot, Measure.L2: 2 * dot - norms * norms}


def _self_ranks(scores: dict[Measure, torch.Tensor], rows: MapRows, row: int) -> dict[Measure, int]:
    """One more than the number of rows that are nearer by more than rounding explains."""
    length = float(rows.norms[row])
    slack = {
        Measure.COSINE: _ROUNDING * length,
        Measure.DOT: _ROUNDING * length * length,
        Measure.L2: 4 * _ROUNDING * length * length,
    }
    return {
        measure: int((score > float(score[row]) + slack[measure]).sum()) + 1
        for measure, score in scores.items()
    }


def _exact(
    matrix: torch.Tensor,
    rows: MapRows,
    vector: torch.Tensor,
    by: Measure,
    ids: list[int],
    ranks: dict[Measure, int],
) -> Neighbours:
    """The three numbers of the few rows found, in float64, and the rows in their order."""
    near = matrix.detach()[ids].cpu().double().numpy()
    own = vector.double().numpy()
    dot = near @ own
    distance = np.linalg.norm(near - own, axis=1)
    lengths = np.linalg.norm(near, axis=1) * np.linalg.norm(own)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = np.where(lengths > 0, np.clip(dot / lengths, -1, 1), np.nan)
    nearness = {Measure.COSINE: cosine, Measure.DOT: dot, Measure.L2: -distance}[by]
    order = np.argsort(-np.nan_to_num(nearness, nan=-2.0), kind="stable")
    return Neighbours(
        by, np.array(ids, int)[order], cosine[order], dot[order], distance[order], ranks
    )


def neighbours_record(
    loaded: LoadedModel, row: int, found: Neighbours, norm: float
) -> dict[str, Any]:
    """Ready for JSON.

    Keys: model, dtype, token (id, text, norm), by, self_rank (cosine, dot, l2), neighbors: each
    with rank, id, text, cosine (None where a row has no direction), dot, distance. `text` is the
    decoded text, so that a program can use it.
    """
    tokens = loaded.vocabulary.tokens(found.ids.tolist())
    return {
        "model": loaded.source,
        "dtype": loaded.dtype,
        "token": {"id": row, "text": loaded.vocabulary.token(row).text, "norm": norm},
        "by": found.by.value,
        "self_rank": {measure.value: rank for measure, rank in found.self_rank.items()},
        "neighbors": [
            {
                "rank": place + 1,
                "id": token.id,
                "text": token.text,
                "cosine": or_none(float(found.cosine[place])),
                "dot": float(found.dot[place]),
                "distance": float(found.distance[place]),
            }
            for place, token in enumerate(tokens)
        ],
    }


@dataclass(frozen=True)
class VectorSum:
    """An analogy: rows added and subtracted.

    Attributes:
        terms: (sign, token) each, sign 1 or −1, in the order typed.
    """

    terms: tuple[tuple[int, Token], ...]

    @property
    def shown(self) -> str:
        """As printed: ␣king − ␣man + ␣woman."""
        first, *rest = self.terms
        words = [("− " if first[0] < 0 else "") + first[1].shown]
        words += [("+ " if sign > 0 else "− ") + token.shown for sign, token in rest]
        return " ".join(words)

    @property
    def ids(self) -> tuple[int, ...]:
        """The rows it is made of."""
        return tuple(token.id for _, token in self.terms)

    def vector(self, matrix: torch.Tensor) -> torch.Tensor:
        """(d,) float32, the sum.

        Raises:
            VectorRefusal: one of the rows is damaged, or the terms cancel.
        """
        table = matrix.detach()
        total = torch.zeros(table.shape[1], dtype=torch.float64)
        largest = 0.0
        for sign, token in self.terms:
            row = table[token.id].cpu().double()
            if not bool(row.isfinite().all()):
                raise VectorRefusal.row_not_finite(token.shown, token.id)
            total += sign * row
            largest = max(largest, float(row.norm()))
        if float(total.norm()) <= 1e-9 * largest:
            raise VectorRefusal.sum_is_zero(self.shown)
        return total.float()


def is_sum(text: str) -> bool:
    """Whether a text has a sign between two terms."""
    return bool(_SIGN.search(text.strip()))


def read_sum(loaded: LoadedModel, text: str) -> VectorSum:
    """The sum that `text` writes.

    A bare word is the token with a space in front where there is one, as it would stand in running
    text; `id:123` names any other row.

    Raises:
        VectorRefusal: signs and terms do not take turns.
        NotAToken, PromptRefusal: a term is no token of this model.
    """
    pieces = _SIGN.split(text.strip())
    terms, signs = pieces[0::2], ["+", *pieces[1::2]]
    if len(terms) < 2 or not all(terms) or len(terms) > 12:
        raise VectorRefusal.not_a_sum(text)
    return VectorSum(
        tuple(
            (1 if sign == "+" else -1, _word(loaded, term))
            for sign, term in zip(signs, terms, strict=True)
        )
    )


def _word(loaded: LoadedModel, term: str) -> Token:
    if term.isalpha():
        try:
            return one_token(loaded, f" {term}")
        except NotAToken:
            pass  # this tokenizer marks words in another way
    return named_token(loaded, term)


def named_token(loaded: LoadedModel, text: str) -> Token:
    """The token a person means: as written, `id:123`, or the one with a space in front.

    Raises:
        NotAToken, PromptRefusal: there is none.
    """
    written = text.replace("␣", " ")
    try:
        return one_token(loaded, written)
    except NotAToken as refusal:
        if written.startswith((" ", "id:")):
            raise
        try:
            return one_token(loaded, f" {written}")
        except NotAToken:
            raise refusal from None
