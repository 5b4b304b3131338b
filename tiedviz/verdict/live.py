"""What an open model says: what it shares, what its logits come from, which rows are untrained."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Literal

import torch

from tiedviz.compute.forward import forward
from tiedviz.compute.next_token.candidates import mass_beyond
from tiedviz.compute.next_token.formula import formula_text
from tiedviz.compute.unembedding import Unembedding, probe_ids, unembedding_of
from tiedviz.models.loaded import LoadedModel
from tiedviz.models.loading import load
from tiedviz.models.progress import Report, Stage
from tiedviz.verdict.audit import Audit
from tiedviz.verdict.loaded import hear_loaded
from tiedviz.verdict.prove import Side, prove
from tiedviz.verdict.witnesses import Measured
from tiedviz.words.numbers import count, or_none, percent, plural

_LOG = logging.getLogger(__name__)
_TRIED = 3  # rows; one may be masked, or be at a softcap
_PROBE = (5, 11, 17, 23, 31, 41)  # ids, for a prompt that every vocabulary has
_LOW = 0.5  # a fresh row's norm is below this part of the usual one
_ALIKE = 0.95  # cosine of fresh rows with each other
_BLOCK = 4096  # rows
_NAMED = 5


def open_and_hear(model: str, report: Report) -> Audit:
    """What a model says once it is opened.

    Raises:
        Refusal: it cannot be opened.
    """
    loaded = load(model, report=report)
    report(Stage("Measuring"))
    return live_witnesses(loaded)


def live_witnesses(loaded: LoadedModel) -> Audit:
    """The audit of an open model without its files. Heard once; the model is not changed."""
    with loaded.lock:
        if "live witnesses" not in loaded.memo:
            loaded.memo["live witnesses"] = _hear(loaded)
        found: Audit = loaded.memo["live witnesses"]
        return found


def _hear(loaded: LoadedModel) -> Audit:
    heard, fit = hear_loaded(loaded.model), loaded.fit
    if heard.on_meta or not heard.has_head:
        return Audit(None, None, heard, reported=fit)  # without numbers nothing is proved
    empty, fresh = empty_rows(loaded), fresh_rows(loaded.embedding)
    checks = {
        "rows_without_token": empty.count,
        "mass_without_token": empty.mass,
        "fresh_rows": [] if fresh is None else list(fresh.ids),
    }
    notes: tuple[str, ...] = () if fresh is None else (fresh.words,)
    if empty.count:
        rows, mass = plural(empty.count, "row"), percent(empty.mass)
        notes += (f"No token belongs to {rows} of E; {mass} of the probability falls there.",)
    return Audit(None, None, heard, hear_measured(loaded), reported=fit, checks=checks, notes=notes)


def hear_measured(loaded: LoadedModel) -> Measured:
    """What recomputing this model's logits on a fixed probe gave. Measured once for each model.

    Where they were not reproduced it is found out by experiment which matrix they come from.
    """
    if "measured" not in loaded.memo:
        loaded.memo["measured"] = _measured(loaded, unembedding_of(loaded))
    found: Measured = loaded.memo["measured"]
    return found


def _measured(loaded: LoadedModel, found: Unembedding) -> Measured:
    return Measured(
        formula=None if found.after is None else formula_text(found.after, tied=loaded.tied),
        max_abs_error=or_none(found.max_abs_error),
        tolerance=or_none(found.tolerance),
        reproduced=found.scores,
        reason="" if found.scores else found.reason,
        dtype=loaded.dtype,
        scored_by=_scored_by(loaded, found),
    )


def _scored_by(loaded: LoadedModel, found: Unembedding) -> Literal["", "E", "W", "neither"]:
    """The matrix whose rows move the logits, told by changing rows of a copy."""
    if found.scores:
        return "E" if loaded.tied else "W"
    try:
        if not loaded.tied and _moves(loaded, Side.OUTPUT):
            return "W"
        return "E" if _moves(loaded, Side.INPUT) else "neither"
    except Exception as error:  # a model that cannot be run on a bare list of tokens
        _LOG.info("nothing tells which matrix scores in %s: %r", loaded.title, error)
        return ""


def _moves(loaded: LoadedModel, side: Side) -> bool:
    """Whether a changed row of this matrix changes its token's logit, in any of three tries.

    No changed row is read: neither the probe nor the mark that begins an answer names it.
    """
    matrix = loaded.embedding if side is Side.INPUT else loaded.scoring_matrix
    ids = probe_ids(loaded)
    read = {*ids, *loaded.vocabulary.special_ids}
    rows = min(loaded.vocabulary.size, matrix.shape[0])
    unread = [row for row in range(rows - 1, -1, -1) if row not in read][:_TRIED]
    return any(prove(loaded, ids, row, side=side).logit_moved != 0 for row in unread)


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
