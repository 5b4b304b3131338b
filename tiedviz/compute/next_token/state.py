"""One position of one prompt, read: its h, the model's logits, and the same logits by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from tiedviz.compute.forward import sequence_read, within_length
from tiedviz.compute.unembedding import AfterHead, Unembedding, reproduced_unembedding
from tiedviz.compute.unembedding.product import limit_for, plain_product
from tiedviz.compute.unembedding.states import States, catch_states
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.model import NoLens
from tiedviz.words.refusals.prompt import NoSuchPosition


@dataclass(frozen=True)
class ScoredState:
    """What one state says about the next token.

    Attributes:
        position: the position read, from 0.
        layer: the layer read; L is the model's own answer.
        layers: L.
        h: (d,) float32, what enters the output matrix.
        residual_norm: ‖r_k‖ of the state that h came from; None where the way was not reproduced.
        product: (V,) float32, h·Wᵀ computed here.
        logits: (V,) float32, the model's own at layer L; below it, computed here.
        max_abs_error: largest difference between the logits computed here and the model's own, at
            layer L of this position.
        tolerance: what rounding explains of it.
    """

    position: int
    layer: int
    layers: int
    h: torch.Tensor
    residual_norm: float | None
    product: torch.Tensor
    logits: torch.Tensor
    max_abs_error: float
    tolerance: float

    @property
    def name(self) -> str:
        """What the state is called: h_L, or h_k of a layer below the last."""
        return "h_L" if self.layer == self.layers else f"h_{self.layer}"

    @property
    def agrees(self) -> bool:
        """Whether rounding explains the whole difference."""
        return self.max_abs_error <= self.tolerance


def score_state(
    loaded: LoadedModel,
    ids: Sequence[int],
    *,
    decoder_ids: Sequence[int] | None = None,
    position: int = -1,
    layer: int = -1,
    pause: Callable[[], Any] = lambda: None,
) -> ScoredState:
    """Read the state at `position` (−1 is the last) and `layer` (−1 is L) of a prompt.

    Args:
        loaded: the model.
        ids: the prompt, at least one token.
        decoder_ids: the answer so far, for a model with an encoder and a decoder; None is the mark
            that every answer begins with. Positions are this sequence's then, not the prompt's.
        position: counted from 0, or from the end if negative.
        layer: 0 is what enters the first block.
        pause: called once the lock is held; may raise, where nobody waits for the answer any more.

    Raises:
        HeadMissing: the files held no output matrix, so that the one in memory is random.
        NoSuchPosition: the sequence is shorter.
        PromptTooLong: it is longer than the model can be run on.
        NoAnswerBegun: see `decoder_ids`; the model names no such mark.
        NotReproduced: this model's logits cannot be recomputed from h and W.
        NoLens: a layer below L was asked for and the way from it to h was not reproduced.
    """
    length = len(sequence_read(loaded.model, ids, decoder_ids))
    if not -length <= position < length:
        raise NoSuchPosition(position, length)
    position %= length
    with loaded.lock:
        pause()
        unembedding, after = reproduced_unembedding(loaded)
        with within_length(loaded, max(len(ids), length)):
            blocks = unembedding.path.blocks if unembedding.path else ()
            caught = catch_states(loaded.model, blocks, ids, decoder_ids, [position], length)
        return _scored_state(loaded, unembedding, after, caught, position, layer)


def _scored_state(
    loaded: LoadedModel,
    unembedding: Unembedding,
    after: AfterHead,
    caught: States,
    position: int,
    layer: int,
) -> ScoredState:
    # without a path the last layer can be read all the same, and the config says which it is
    layers = unembedding.layers or loaded.layers or 0
    h, logits = caught.entering[0], caught.logits[0]
    product = plain_product(h, loaded.scoring_matrix)
    error = float((after(product) - logits).abs().max())
    limit = limit_for(h, logits, loaded, after.scale.value)
    if layer == -1 or (layer == layers and layers):
        layer = layers
    else:
        h = _lens_state(loaded, unembedding, caught, layer)
        product = plain_product(h, loaded.scoring_matrix)
        logits = after(product)
    norm = float(caught.residual[layer].float().norm()) if caught.residual else None
    return ScoredState(position, layer, layers, h, norm, product, logits, error, limit)


def _lens_state(
    loaded: LoadedModel, unembedding: Unembedding, caught: States, layer: int
) -> torch.Tensor:
    """h_k = u(r_k) for a layer below L."""
    if unembedding.path is None:
        raise NoLens(loaded.title, unembedding.reason)
    if not 0 <= layer <= unembedding.layers:
        raise NoLens(loaded.title, f"it has layers 0 to {unembedding.layers}, not {layer}")
    return unembedding.path(caught.residual[layer])[0].float().cpu()
