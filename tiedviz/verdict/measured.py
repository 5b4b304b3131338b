"""The fourth witness: logits recomputed from h_L and the matrix that scores."""

from __future__ import annotations

import logging
from typing import Literal

from tiedviz.compute.next_token.formula import formula_text
from tiedviz.compute.unembedding import Unembedding, unembedding_of
from tiedviz.compute.unembedding.measure import probe_ids
from tiedviz.models.loaded import LoadedModel
from tiedviz.verdict.live import Measured
from tiedviz.verdict.prove import Side, prove
from tiedviz.words.numbers import or_none

_LOG = logging.getLogger(__name__)
_TRIED = 3  # rows; one may be masked, or be at a softcap


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
