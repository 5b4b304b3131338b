"""The state of a prompt on its way through the layers, as vectors that can lie on the map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from tiedviz.compute.forward import sequence_read, within_length
from tiedviz.compute.next_token.state import score_state
from tiedviz.compute.unembedding import unembedding_of
from tiedviz.compute.unembedding.forward_trace import catch_states
from tiedviz.models.loaded import LoadedModel


@dataclass(frozen=True)
class HiddenPath:
    """h_0 … h_L at one position, with h_k = u(r_k); h_L is exactly what entered the matrix.

    Attributes:
        h: (n, d) float32 on the CPU; n is L + 1, or 1 where only h_L can be had.
        layers: (n,) the k of each.
        residual_norms: (n,) ‖r_k‖; None where only h_L can be had.
        reason: why only h_L can be had, as a clause; else empty.
    """

    h: torch.Tensor
    layers: tuple[int, ...]
    residual_norms: tuple[float, ...] | None
    reason: str = ""


def hidden_path(
    loaded: LoadedModel,
    ids: Sequence[int],
    position: int,
    *,
    decoder_ids: Sequence[int] | None = None,
) -> HiddenPath:
    """Follow one position through the layers.

    Args:
        loaded: the model.
        ids: the prompt.
        position: which, from 0; negative counts from the end.
        decoder_ids: as in `score_state`.

    Raises:
        ModelRefusal, PromptRefusal, PromptTooLong: as `score_state`.
    """
    with loaded.lock, torch.inference_mode():
        reading = score_state(loaded, ids, position=position, decoder_ids=decoder_ids)
        unembedding = unembedding_of(loaded)
        if unembedding.path is None:
            only = (reading.layers,)
            return HiddenPath(reading.h[None], only, None, unembedding.reason)
        length = len(sequence_read(loaded.model, ids, decoder_ids))
        with within_length(loaded, max(len(ids), length)):
            caught = catch_states(
                loaded.model, unembedding.path.blocks, ids, decoder_ids, [reading.position], length
            )
        widths = [r.shape[-1] for r in caught.residual]
        if len(set(widths)) > 1:
            only, why = (reading.layers,), f"its layers differ in width: {widths}"
            return HiddenPath(reading.h[None], only, None, why)
        below = [unembedding.path(r)[0].float().cpu() for r in caught.residual[:-1]]
        norms = tuple(float(r.float().norm()) for r in caught.residual)
    # h_L is not replayed: it was caught where it entered the matrix
    return HiddenPath(torch.stack([*below, reading.h]), tuple(range(len(norms))), norms)
