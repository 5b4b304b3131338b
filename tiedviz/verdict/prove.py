"""The proof by experiment: change one row in a copy, and see which ends of the model move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import torch
from torch import nn

from tiedviz.compute.forward import call_arguments, same_tensors_elsewhere
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.prompt import require_row


class Side(StrEnum):
    """Which matrix a row is changed in; for a tied model it makes no difference."""

    INPUT = "input"
    OUTPUT = "output"


@dataclass(frozen=True)
class Proof:
    """What a changed row did.

    Attributes:
        token: the row that was changed.
        side: the matrix it was changed in.
        tied: whether that matrix is both.
        input_moved: how far the token's input vector moved, ‖Δ‖.
        logit_before, logit_after: the token's logit at the position that was read.
        others_moved: the largest change among the logits of all other tokens.
    """

    token: int
    side: Side
    tied: bool
    input_moved: float
    logit_before: float
    logit_after: float
    others_moved: float

    @property
    def logit_moved(self) -> float:
        """How far the token's logit moved."""
        return self.logit_after - self.logit_before


def prove(
    loaded: LoadedModel, ids: Sequence[int], token: int, *, side: Side = Side.INPUT, by: float = 0.5
) -> Proof:
    """Change row `token` by `by` times the average row length and run the model again.

    The row changes along itself, in a copy that stands in for the matrix during one call; the
    loaded model is never touched. The prompt should not contain the token, so that only its score
    can move.

    Raises:
        PromptRefusal: the matrix has fewer rows.
    """
    matrix = loaded.embedding if side is Side.INPUT else loaded.scoring_matrix
    require_row(token, matrix.shape[0])
    with loaded.lock, torch.inference_mode():
        model = same_tensors_elsewhere(loaded.model)
        before, vector_before = _run(model, ids, token, {})
        changed = matrix.detach().clone()
        changed[token] += _nudge(matrix, token) * by
        names = {name: changed for name in names_of(model, matrix)}
        after, vector_after = _run(model, ids, token, names)
    moved = (after - before).abs()
    moved[token] = 0
    return Proof(
        token=token,
        side=side,
        tied=loaded.tied,
        input_moved=float((vector_after - vector_before).norm()),
        logit_before=float(before[token]),
        logit_after=float(after[token]),
        others_moved=float(moved.max()),
    )


def _nudge(matrix: torch.Tensor, token: int) -> torch.Tensor:
    """A step as long as an average row, in the row's own direction; in every one if it has none."""
    row = matrix[token].detach().float()
    row = row if bool(row.any()) else torch.ones_like(row)
    length = matrix.detach().float().norm(dim=1).mean()
    return (row / row.norm() * length).to(matrix.dtype)


def names_of(model: nn.Module, matrix: torch.Tensor) -> list[str]:
    """Every name under which the model holds this matrix."""
    return [
        name
        for name, parameter in model.named_parameters(remove_duplicate=False)
        if parameter is matrix
    ]


def _run(
    model: Any, ids: Sequence[int], token: int, replaced: dict[str, torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """The last position's logits (V,) and the token's input vector, with some matrices replaced."""
    arguments = call_arguments(model, ids)
    logits = torch.func.functional_call(model, replaced, (), arguments).logits[0, -1].float()
    table = model.get_input_embeddings()
    own = next(name for name, module in model.named_modules() if module is table)
    inside = {
        name.removeprefix(f"{own}."): value
        for name, value in replaced.items()
        if name.startswith(f"{own}.")
    }
    one = torch.tensor([token], device=arguments["input_ids"].device)
    vector = torch.func.functional_call(table, inside, (one,))[0].float()
    return logits.cpu(), vector.cpu()
