"""One position of one prompt, read: its h, the model's logits, and the same logits by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from tiedviz.compute.forward import first_tensor, forward, hooked, sequence_read, within_length
from tiedviz.compute.unembedding.measure import (
    Unembedding,
    limit_for,
    plain_product,
    unembedding_of,
)
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.model import HeadMissing, NoLens, NotReproduced
from tiedviz.words.refusals.prompt import NoSuchPosition


@dataclass(frozen=True)
class Reading:
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
    def state(self) -> str:
        """What the state is called: h_L, or h_k of a layer below the last."""
        return "h_L" if self.layer == self.layers else f"h_{self.layer}"

    @property
    def agrees(self) -> bool:
        """Whether rounding explains the whole difference."""
        return self.max_abs_error <= self.tolerance


def read(
    loaded: LoadedModel,
    ids: Sequence[int],
    *,
    decoder_ids: Sequence[int] | None = None,
    position: int = -1,
    layer: int = -1,
    pause: Callable[[], Any] = lambda: None,
) -> Reading:
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
    if random := loaded.random_tables:
        raise HeadMissing(loaded.title, random)
    with loaded.lock:
        pause()
        unembedding = unembedding_of(loaded)
        if unembedding.after is None:
            raise NotReproduced(loaded.title, unembedding.reason, unembedding.max_abs_error)
        with within_length(loaded, max(len(ids), length)):
            caught = _catch(loaded.model, unembedding, position, length, ids, decoder_ids)
        return _reading(loaded, unembedding, caught, position, layer)


@dataclass
class _Caught:
    """What hooks caught during one pass, at one position: h and logits as float32, r_0 … r_L."""

    h: torch.Tensor
    logits: torch.Tensor
    states: list[torch.Tensor]


def _catch(
    model: PreTrainedModel,
    unembedding: Unembedding,
    position: int,
    length: int,
    ids: Sequence[int],
    decoder_ids: Sequence[int] | None,
) -> _Caught:
    states: list[torch.Tensor] = []
    entering: list[torch.Tensor] = []

    def at_position(value: Any) -> torch.Tensor:
        tensor = first_tensor(value)
        assert tensor is not None
        # a model that was asked for one position only calls its head on that one
        return tensor[0, position if tensor.shape[1] == length else 0].clone()

    def before_block(module: nn.Module, args: Any, kwargs: Any) -> None:
        if not states:
            states.append(at_position((*args, *kwargs.values())))

    def after_block(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        states.append(at_position(output))

    def before_head(module: nn.Module, args: Any, kwargs: Any) -> None:
        entering.append(at_position((*args, *kwargs.values())))

    hooks: list[tuple[nn.Module, Callable[..., Any], bool]] = [
        (model.get_output_embeddings(), before_head, True)
    ]
    for block in dict.fromkeys(unembedding.path.blocks if unembedding.path else ()):
        hooks += [(block, before_block, True), (block, after_block, False)]
    with hooked(*hooks):
        output = forward(model, ids, decoder_ids=decoder_ids, keep=position)
    [h] = entering
    return _Caught(h.float().cpu(), at_position(output.logits).float().cpu(), states)


def _reading(
    loaded: LoadedModel, unembedding: Unembedding, caught: _Caught, position: int, layer: int
) -> Reading:
    assert unembedding.after is not None
    # without a path the last layer can be read all the same, and the config says which it is
    layers = unembedding.layers or loaded.layers or 0
    product = plain_product(caught.h, loaded.scoring_matrix)
    mine = unembedding.after(product)
    error = float((mine - caught.logits).abs().max())
    limit = limit_for(caught.h, caught.logits, loaded, unembedding.after.scale.value)
    h, logits = caught.h, caught.logits
    if layer == -1 or (layer == layers and layers):
        layer = layers
    else:
        h = _lens_state(loaded, unembedding, caught, layer)
        product = plain_product(h, loaded.scoring_matrix)
        logits = unembedding.after(product)
    norm = float(caught.states[layer].float().norm()) if caught.states else None
    return Reading(position, layer, layers, h, norm, product, logits, error, limit)


def _lens_state(
    loaded: LoadedModel, unembedding: Unembedding, caught: _Caught, layer: int
) -> torch.Tensor:
    """h_k = u(r_k) for a layer below L."""
    if unembedding.path is None:
        raise NoLens(loaded.title, unembedding.reason)
    if not 0 <= layer <= unembedding.layers:
        raise NoLens(loaded.title, f"it has layers 0 to {unembedding.layers}, not {layer}")
    return unembedding.path(caught.states[layer][None])[0].float().cpu()
