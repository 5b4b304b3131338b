"""The logit lens of one prompt: every layer, some positions, the whole vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from tiedviz.compute.forward import sequence_read, within_length
from tiedviz.compute.lens_stream import Streamed, stream
from tiedviz.compute.unembedding import AfterHead, reproduced_unembedding
from tiedviz.compute.unembedding.forward_trace import States, catch_states
from tiedviz.compute.unembedding.path import ResidualPath
from tiedviz.compute.unembedding.product import limit_for
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.prompt import ModelRefusal, PromptRefusal


@dataclass(frozen=True)
class Lens:
    """What each layer would say at P positions. Rows run over layers 0 … L; L is the model itself.

    Attributes:
        positions: the P places read, ascending.
        ids: (L+1, P, k) the tokens with the largest logits, largest first.
        logits: (L+1, P, k) theirs; at L the model's own.
        log_total: (L+1, P) float64, log Σ exp over all V.
        entropy: (L+1, P) float64, of the softmax over all V, in nats.
        norms: (L+1, P) ‖r_k‖.
        final: (P,) the model's own answer at each position: first of the tracked tokens.
        watched: the T further tokens, the same at each position.
        tracked_logits: (L+1, P, 1+T), of the final answer and of the watched tokens.
        tracked_ranks: (L+1, P, 1+T), 1 where no logit is larger.
        max_abs_error: largest difference between the product computed here and the model's own
            logits, at layer L of all P positions.
        tolerance: what rounding explains of it.
    """

    positions: tuple[int, ...]
    ids: torch.Tensor
    logits: torch.Tensor
    log_total: torch.Tensor
    entropy: torch.Tensor
    norms: torch.Tensor
    final: torch.Tensor
    watched: tuple[int, ...]
    tracked_logits: torch.Tensor
    tracked_ranks: torch.Tensor
    max_abs_error: float
    tolerance: float

    @property
    def layers(self) -> int:
        """L."""
        return len(self.ids) - 1

    @property
    def agrees(self) -> bool:
        """Whether rounding explains the whole difference at layer L."""
        return self.max_abs_error <= self.tolerance

    @property
    def probabilities(self) -> torch.Tensor:
        """(L+1, P, k) float64, those of `ids`."""
        return (self.logits.double() - self.log_total[..., None]).exp()

    @property
    def tracked_probabilities(self) -> torch.Tensor:
        """(L+1, P, 1+T) float64."""
        return (self.tracked_logits.double() - self.log_total[..., None]).exp()


def lens(
    loaded: LoadedModel,
    ids: Sequence[int],
    *,
    decoder_ids: Sequence[int] | None = None,
    positions: Sequence[int] | None = None,
    watched: Sequence[int] = (),
    top: int = 10,
) -> Lens:
    """Apply the unembedding to every r_k of a prompt.

    Args:
        loaded: the model.
        ids: the prompt, at least one token.
        decoder_ids: as in `score_state`; positions are those of the answer then.
        positions: which to read, counted from 0, in any order; None is all of them.
        watched: ids whose logits and ranks are wanted at every layer, besides the final answer.
        top: how many tokens to name at each place.

    Raises:
        ModelRefusal: the files held no output matrix, so that the one in memory is random.
        ModelRefusal: not even the model's own answer can be recomputed from h and W.
        ModelRefusal: the way from the residual stream to h was not reproduced.
        PromptRefusal, PromptTooLong: as `score_state`.
    """
    length = len(sequence_read(loaded.model, ids, decoder_ids))
    places = tuple(range(length)) if positions is None else tuple(sorted(set(positions)))
    for place in places:
        if not 0 <= place < length:
            raise PromptRefusal.no_such_position(place, length)
    with loaded.lock, torch.inference_mode():
        unembedding, after = reproduced_unembedding(loaded)
        if unembedding.path is None:
            raise ModelRefusal.no_lens(loaded.title, unembedding.reason)
        with within_length(loaded, max(len(ids), length)):
            blocks = unembedding.path.blocks
            caught = catch_states(loaded.model, blocks, ids, decoder_ids, places, length)
        h = _unembedded(loaded, unembedding.path, caught)
        return _lens(loaded, after, caught, h, places, tuple(watched), top)


def _unembedded(loaded: LoadedModel, path: ResidualPath, caught: States) -> torch.Tensor:
    """(L+1, P, d) float32: u(r_k) below L, and at L what entered the matrix, as it was."""
    widths = [r.shape[-1] for r in caught.residual]
    if len(set(widths)) > 1:
        raise ModelRefusal.no_lens(loaded.title, f"its layers differ in width: {widths}")
    below = [path(r).float().cpu() for r in caught.residual[:-1]]
    return torch.stack([*below, caught.entering])


def _lens(
    loaded: LoadedModel,
    after: AfterHead,
    caught: States,
    h: torch.Tensor,
    places: tuple[int, ...],
    watched: tuple[int, ...],
    top: int,
) -> Lens:
    final = caught.logits.argmax(-1)
    tracked = torch.cat([final[:, None], torch.tensor(watched).long().expand(len(places), -1)], 1)
    found: Streamed = stream(
        h.flatten(0, 1),
        loaded.scoring_matrix,
        after,
        tracked.repeat(len(h), 1),
        own=caught.logits,
        top=top,
    )
    shape = (len(h), len(places))
    return Lens(
        positions=places,
        ids=found.ids.unflatten(0, shape),
        logits=found.logits.unflatten(0, shape),
        log_total=found.log_total.unflatten(0, shape),
        entropy=found.entropy.unflatten(0, shape),
        norms=torch.stack([r.float().norm(dim=-1).cpu() for r in caught.residual]),
        final=final,
        watched=watched,
        tracked_logits=found.tracked_logits.unflatten(0, shape),
        tracked_ranks=found.tracked_ranks.unflatten(0, shape),
        max_abs_error=found.max_abs_error,
        tolerance=limit_for(h[-1], caught.logits, loaded, after.scale.value),
    )
