"""What the walkthrough measures between a model's two ends: entrance, blocks, shapes, pulls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch
from torch import nn

from tiedviz.compute.forward import forward, hooked
from tiedviz.compute.next_token.state import ScoredState
from tiedviz.compute.unembedding import AfterHead, unembedding_of
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
    """The same token read at every position, in two runs: a, a, a, … and b, b, b, ….

    If what enters the first block is r_0[t] = s·E[x] + p[t], then the difference of the two runs is
    s·(E[a] − E[b]) at every position, which gives s; what is left of r_0[t] is p[t]. Where that
    does not come out, something else stands there (a norm, a projection), and that is what is said.
    """
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
    # least squares: the s for which s·expected comes closest to what was seen
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


@dataclass(frozen=True)
class Blocks:
    """The blocks on the way to the output matrix.

    Attributes:
        calls: L, how many times a state passes a block.
        modules: how many different modules those are.
        parameters: of all of them, each shared number once.
        largest: of the largest one: what would be left if one were called L times.
    """

    calls: int
    modules: int
    parameters: int
    largest: int

    @property
    def shared(self) -> bool:
        """Whether some block is called more than once."""
        return self.modules < self.calls


def blocks_of(loaded: LoadedModel) -> Blocks | None:
    """The blocks, or None where the way through this model was not reproduced."""
    path = unembedding_of(loaded).path
    if path is None:
        return None
    modules = list(dict.fromkeys(path.blocks))
    everything = {parameter for module in modules for parameter in module.parameters()}
    return Blocks(
        calls=len(path.blocks),
        modules=len(modules),
        parameters=sum(parameter.numel() for parameter in everything),
        largest=max(sum(each.numel() for each in module.parameters()) for module in modules),
    )


@dataclass(frozen=True)
class TwoEnds:
    """One version, after it was run once.

    Attributes:
        input_shape: of the embedding's weight.
        output_shape: of the output layer's weight, as PyTorch stores it.
        logits_shape: of what came out.
        parameters: each shared number once.
        same: whether `head.weight is embedding.weight`.
    """

    input_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    logits_shape: tuple[int, ...]
    parameters: int
    same: bool


TWO_ENDS_CODE = """\
embedding = nn.Embedding(V, d)
head = nn.Linear(d, V, bias=False)
logits = head(embedding(ids))         # untied
head.weight = embedding.weight        # tied
logits = head(embedding(ids))"""


def build_both(V: int, d: int, *, tokens: int = 5, device: str = "cpu") -> tuple[TwoEnds, TwoEnds]:
    """Untied, and the same tied; run on `tokens` IDs. Blocks would stand between, d to d.

    Args:
        V: rows.
        d: width.
        tokens: how many IDs are read.
        device: "meta" gives shapes and counts without memory, whatever the size.
    """
    # the default dtype is the process's, and somebody may be opening a model just now
    with torch.inference_mode():
        ids = torch.zeros(1, tokens, dtype=torch.long, device=device)
        embedding = nn.Embedding(V, d, dtype=torch.float32, device=device)
        head = nn.Linear(d, V, bias=False, dtype=torch.float32, device=device)
        untied = _run(embedding, head, ids)
        head.weight = embedding.weight
        return untied, _run(embedding, head, ids)


def _run(embedding: nn.Embedding, head: nn.Linear, ids: torch.Tensor) -> TwoEnds:
    logits = head(embedding(ids))
    return TwoEnds(
        input_shape=tuple(embedding.weight.shape),
        output_shape=tuple(head.weight.shape),
        logits_shape=tuple(logits.shape),
        parameters=sum(each.numel() for each in {embedding.weight, head.weight}),
        same=head.weight is embedding.weight,
    )


def pulls(
    loaded: LoadedModel, reading: ScoredState, after: AfterHead, target: int, *, top: int = 6
) -> pd.DataFrame:
    """The target and the rows that are pushed hardest, hardest first.

    Columns: id, text, probability, coefficient (c_j: below 0 pulls the row towards h_L), length
    (‖c_j·h_L‖, of the gradient of the row).
    """
    coefficients, probabilities = _coefficients(reading, after, target)
    largest = coefficients.abs().topk(min(top, len(coefficients))).indices.tolist()
    ids = list(dict.fromkeys([target, *largest]))[:top]
    length = float(reading.h.norm())
    return pd.DataFrame(
        {
            "id": ids,
            "text": [token.shown for token in loaded.vocabulary.tokens(ids)],
            "probability": probabilities[ids].tolist(),
            "coefficient": coefficients[ids].tolist(),
            "length": (coefficients[ids].abs() * length).tolist(),
        }
    )


def rows_pushed(reading: ScoredState, after: AfterHead, target: int) -> int:
    """How many rows get a gradient that is not exactly 0 in float64."""
    return int((_coefficients(reading, after, target)[0] != 0).sum())


def _coefficients(
    reading: ScoredState, after: AfterHead, target: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The coefficients c and the probabilities p, (V,) float64.

    For one position with target y the loss is −ln p[y], and the gradient of row j is c_j·h_L with
    c_j = (p_j − 1 where j = y)·dz_j/d(h·w_j): exact, from the forward pass alone.
    """
    logits = reading.logits.double()
    probabilities = torch.softmax(logits, 0)
    error = probabilities.clone()
    error[target] -= 1
    slope = torch.full_like(logits, after.scale.value)
    if after.cap is not None:
        slope = slope * (1 - (logits / after.cap.value) ** 2)
    return error * slope, probabilities
