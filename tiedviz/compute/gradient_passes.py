"""Two passes there and back: one with two views of the matrix, one with a single one.

`torch.func.functional_call` lets views stand in for the parameters during a call, so that nobody
ever sets `requires_grad` or `.grad` on those of the loaded model. The call is made on a second
module tree over the same tensors (`forward.same_tensors_elsewhere`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from tiedviz.compute.forward import call_arguments, forward, same_tensors_elsewhere
from tiedviz.compute.gradient_task import Sentence, Sides
from tiedviz.compute.unembedding import probe_ids
from tiedviz.models.loaded import LoadedModel, ModelKind
from tiedviz.words.refusals.gradient import GradientRefusal


@dataclass(frozen=True)
class TwoSides:
    """The gradient of the mean cross-entropy, by side.

    Attributes:
        rows: (k,) ids of the rows that were read, each once, ascending.
        values: (k, d) the input side of these rows; all others are zero.
        output: (V, d) the output side.
        losses: (n,) float32, −ln p of each target.
    """

    rows: torch.Tensor
    values: torch.Tensor
    output: torch.Tensor
    losses: torch.Tensor


def two_sides(model: nn.Module, sides: Sides, sentence: Sentence, title: str) -> TwoSides:
    """Run the model with one view of the matrix where it is read and another where it scores.

    Raises:
        GradientRefusal: a view was not used, or the one that is read not only by lookup.
    """
    reading, scoring = _view(sides.reads), _view(sides.scores)
    stand_ins = dict.fromkeys(sides.read, reading) | dict.fromkeys(sides.scored, scoring)
    with torch.inference_mode(False), torch.enable_grad(), _LookedUpRows(reading):
        losses = _losses(model, stand_ins, sentence)
        read, output = torch.autograd.grad(losses.mean(), (reading, scoring), allow_unused=True)
    _require_used(read, output, title)
    if not read.is_sparse:
        raise GradientRefusal.sides_not_separate(
            title, "its input table is multiplied by as well as looked up in"
        )
    read = read.coalesce()  # a row that was read twice gets the sum
    return TwoSides(read.indices()[0], read.values(), output, losses.detach())


def ordinary_gradients(
    model: nn.Module, sides: Sides, sentence: Sentence, title: str
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """What autograd gives in the ordinary way, all lookups dense: (V, d) for each matrix.

    One gradient and None where one matrix does both jobs.

    Raises:
        GradientRefusal: the loss does not depend on one of the two matrices.
    """
    reading = _view(sides.reads)
    scoring = reading if sides.tied else _view(sides.scores)
    stand_ins = dict.fromkeys(sides.read, reading) | dict.fromkeys(sides.scored, scoring)
    wanted = (reading,) if sides.tied else (reading, scoring)
    with torch.inference_mode(False), torch.enable_grad():
        loss = _losses(model, stand_ins, sentence).mean()
        read, *output = torch.autograd.grad(loss, wanted, allow_unused=True)
    _require_used(read, output[0] if output else read, title)
    return read, output[0] if output else None


def _require_used(read: torch.Tensor | None, output: torch.Tensor | None, title: str) -> None:
    if output is None:
        raise GradientRefusal.sides_not_separate(
            title, "its output matrix is not what its logits come from"
        )
    if read is None:
        raise GradientRefusal.sides_not_separate(
            title, "its input table is not what its tokens are looked up in"
        )


def _view(matrix: torch.Tensor) -> torch.Tensor:
    """Another tensor over the same numbers, which gradients can be asked for."""
    with torch.inference_mode(False):
        return matrix.detach().requires_grad_()


def _losses(
    model: nn.Module, stand_ins: dict[str, torch.Tensor], sentence: Sentence
) -> torch.Tensor:
    """(n,) float32, −ln p of each target, with the graph that leads to it."""
    stand_ins = _ordinary(model.named_buffers()) | stand_ins
    arguments = call_arguments(model, sentence.ids, sentence.decoder_ids)
    tree = same_tensors_elsewhere(model)
    # the stand-ins for one tied parameter differ, which functional_call must be told is meant
    output = torch.func.functional_call(tree, stand_ins, (), arguments, tie_weights=False)
    logits = output.logits[0].float()
    targets = torch.tensor(sentence.targets, device=logits.device)
    return functional.cross_entropy(logits, targets, reduction="none")


def _ordinary(buffers: Iterable[tuple[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Copies of buffers that an earlier pass made without gradients; autograd refuses those."""
    return {name: buffer.clone() for name, buffer in buffers if buffer.is_inference()}


class _LookedUpRows(TorchFunctionMode):
    """Every lookup in one table gives its gradient as rows instead of a table of zeros.

    The mode is this thread's own, so that nothing changes for anybody else, and the module's
    settings stay as they are.
    """

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__()
        self._table = table

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if function is functional.embedding and args[1] is self._table:
            kwargs = {**kwargs, "sparse": True}
        return function(*args, **kwargs)


# Many roundings: what a library adds up in another order moves a logit by a few.
_ROUNDINGS = 1000


def later_tokens_move(loaded: LoadedModel) -> float | None:
    """By how much another last token moves the logits before it, at most; 0.0 within rounding.

    No list of architectures says it: a fixed probe is read twice, the second time with another last
    token. Where earlier logits differ, the model has seen that token at them, as XLNet does without
    a permutation mask: what it gives there is no prediction of the next token.

    Once for each model. The caller holds the model's lock. None for models that are not asked for
    the next token of what they read (masked ones, encoder–decoder models).
    """
    if loaded.kind is not ModelKind.CAUSAL:
        return None
    if "later tokens move" not in loaded.memo:
        loaded.memo["later tokens move"] = _measured(loaded)
    return float(loaded.memo["later tokens move"])


def _measured(loaded: LoadedModel) -> float:
    ids = probe_ids(loaded)
    other = [*ids[:-1], (ids[-1] + 1) % loaded.embedding.shape[0]]
    one, two = (forward(loaded.model, each).logits[0, :-1].float() for each in (ids, other))
    rounding = torch.finfo(loaded.scoring_matrix.dtype).eps * max(1.0, float(one.abs().max()))
    moved = float((one - two).abs().max())
    return moved if moved > _ROUNDINGS * rounding else 0.0
