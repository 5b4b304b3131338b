"""What stands between a row of E and the first block, measured by reading the same token twice.

Two tokens, each repeated: a, a, a and b, b, b. If what enters the first block is r_0[t] = s·E[x] +
p[t], then the difference of the two runs is s·(E[a] − E[b]) at every position, which gives s; what
is left of r_0[t] is p[t]. Where that does not come out, something else stands there (a norm, a
projection), and that is what is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tiedviz.compute.forward import forward, hooked
from tiedviz.compute.unembedding import unembedding_of
from tiedviz.compute.unembedding.after_head import ONE, Factor, name_factor
from tiedviz.models.loaded import LoadedModel

_LENGTH = 4
_CLOSE = 1e-3  # of the largest number seen; bfloat16 rounds coarser than that, see `_close`


@dataclass(frozen=True)
class Entrance:
    """How a row becomes what enters the first block.

    Attributes:
        width: of E's rows.
        block_width: of what enters the first block.
        sum_of_parts: whether it is s·E[x] plus something that does not depend on x.
        scale: s, with the name of its field; 1 where `sum_of_parts` is false.
        row_length: ‖s·E[a]‖ of the token that was read.
        added: ‖p[t]‖ at positions 0, 1, …; empty where `sum_of_parts` is false.
        added_differs: the largest ‖p[t] − p[0]‖: above 0 where position is added.
    """

    width: int
    block_width: int
    sum_of_parts: bool
    scale: Factor
    row_length: float
    added: tuple[float, ...]
    added_differs: float

    @property
    def adds_position(self) -> bool:
        """Whether a vector is added that depends on the position."""
        return self.added_differs > _CLOSE * max(self.row_length, 1e-9)

    @property
    def adds_anything(self) -> bool:
        """Whether anything is added at all."""
        return any(each > _CLOSE * max(self.row_length, 1e-9) for each in self.added)

    @property
    def factorised(self) -> bool:
        """Whether rows of E are not as wide as the blocks."""
        return self.width != self.block_width


def entrance_of(loaded: LoadedModel) -> Entrance | None:
    """The entrance, measured at the first call; None where the blocks were not found."""
    with loaded.lock:
        if "entrance" not in loaded.memo:
            loaded.memo["entrance"] = _measure(loaded)
        found: Entrance | None = loaded.memo["entrance"]
        return found


def _measure(loaded: LoadedModel) -> Entrance | None:
    path = unembedding_of(loaded).path
    tokens = _two_tokens(loaded)
    if path is None or tokens is None:
        return None
    one, other = (_entering(loaded.model, path.blocks[0], [token] * _LENGTH) for token in tokens)
    E = loaded.embedding.detach()
    rows = [E[token].float().cpu() for token in tokens]
    width, block_width = E.shape[1], one.shape[1]
    if width != block_width:
        return Entrance(width, block_width, False, ONE, float(rows[0].norm()), (), 0.0)
    between, expected = one - other, rows[0] - rows[1]
    measured = float((between @ expected).mean() / expected.square().sum())
    error = float((between - measured * expected).abs().max())
    if not error <= _close(E.dtype) * float(between.abs().max()):
        return Entrance(width, block_width, False, ONE, float(rows[0].norm()), (), 0.0)
    scale = name_factor(measured, loaded.model.config, E.dtype)
    added = one - scale.value * rows[0]
    return Entrance(
        width,
        block_width,
        True,
        scale,
        float(rows[0].norm()) * abs(scale.value),
        tuple(added.norm(dim=1).tolist()),
        float((added - added[0]).norm(dim=1).max()),
    )


def _close(dtype: torch.dtype) -> float:
    return max(_CLOSE, 8 * torch.finfo(dtype).eps)


def _two_tokens(loaded: LoadedModel) -> tuple[int, int] | None:
    """Two ordinary tokens from the middle of the vocabulary, whose rows differ."""
    size = min(loaded.vocabulary.size, loaded.embedding.shape[0])
    special = loaded.vocabulary.special_ids
    ordinary = [id for id in range(size // 2, size) if id not in special][:64]
    E = loaded.embedding.detach()
    for other in ordinary[1:]:
        if not torch.equal(E[ordinary[0]], E[other]):
            return ordinary[0], other
    return None


def _entering(model: nn.Module, block: nn.Module, ids: list[int]) -> torch.Tensor:
    """What enters `block` at its first call, (n, width) float32."""
    seen: list[torch.Tensor] = []

    def before(module: nn.Module, args: Any, kwargs: Any) -> None:
        if not seen:
            tensors = [each for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor)]
            seen.append(tensors[0][0].detach().float().cpu())

    with hooked((block, before, True)):
        forward(model, ids, decoder_ids=ids)
    return seen[0]
