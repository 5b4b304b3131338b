"""What enters the matrix that scores, and what the matrix makes of it.

One position of one prompt (`score_state`), or any vector of the right width (`score_vector`), from
a `.npy` file and back.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tiedviz.compute.forward import sequence_read, within_length
from tiedviz.compute.unembedding import AfterHead, Unembedding, reproduced_unembedding
from tiedviz.compute.unembedding.forward_trace import States, catch_states
from tiedviz.compute.unembedding.product import limit_for, plain_product
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.prompt import ModelRefusal, PromptRefusal
from tiedviz.words.refusals.vector import VectorRefusal

# The header of an honest .npy file is 128 bytes; numpy reads at most this much of a stranger's.
_HEADER = 10_000


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
    def is_last(self) -> bool:
        """Whether it is of layer L, so that its logits are the model's own answer."""
        return self.layer == self.layers

    @property
    def name(self) -> str:
        """What the state is called: h_L, or h_k of a layer below the last."""
        return "h_L" if self.is_last else f"h_{self.layer}"

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
        ModelRefusal: the files held no output matrix, so that the one in memory is random.
        PromptRefusal: the sequence is shorter.
        PromptTooLong: it is longer than the model can be run on.
        PromptRefusal: see `decoder_ids`; the model names no such mark.
        ModelRefusal: this model's logits cannot be recomputed from h and W.
        ModelRefusal: a layer below L was asked for and the way from it to h was not reproduced.
    """
    length = len(sequence_read(loaded.model, ids, decoder_ids))
    if not -length <= position < length:
        raise PromptRefusal.no_such_position(position, length)
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
        raise ModelRefusal.no_lens(loaded.title, unembedding.reason)
    if not 0 <= layer <= unembedding.layers:
        raise ModelRefusal.no_lens(
            loaded.title, f"it has layers 0 to {unembedding.layers}, not {layer}"
        )
    return unembedding.path(caught.residual[layer])[0].float().cpu()


@dataclass(frozen=True)
class ScoredVector:
    """A vector in the place of h. Has what `nearest_tokens` needs of a state.

    Attributes:
        h: (d,) float32.
        product: (V,) float32, h·Wᵀ.
        logits: (V,) float32, what the model would make of that product.
    """

    h: torch.Tensor
    product: torch.Tensor
    logits: torch.Tensor


Scored = ScoredState | ScoredVector


def score_vector(loaded: LoadedModel, vector: torch.Tensor) -> ScoredVector:
    """The vector, (d,), as if it had entered the output matrix: nothing is normed before.

    Raises:
        ModelRefusal: what the model makes of it is not known.
    """
    _, after = reproduced_unembedding(loaded)
    with torch.inference_mode():
        product = plain_product(vector, loaded.scoring_matrix)
        return ScoredVector(vector, product, after(product))


def vector_bytes(h: torch.Tensor) -> bytes:
    """A `.npy` file with the vector, float32."""
    file = io.BytesIO()
    np.save(file, h.detach().float().cpu().numpy(), allow_pickle=False)
    return file.getvalue()


def read_vector(raw: bytes, width: int) -> torch.Tensor:
    """The vector in a `.npy` file, (width,) float32. Nothing in the file is ever run.

    Args:
        raw: the file.
        width: d of the matrix.

    Raises:
        VectorRefusal: it says what was found.
    """
    limit = 16 * width + _HEADER  # no number that numpy has takes more than 16 bytes
    if len(raw) > limit:
        raise VectorRefusal.too_large(len(raw), limit)
    shape, dtype = _header(raw)
    if dtype.kind not in "fiu":
        raise VectorRefusal.not_numbers("object" if dtype.hasobject else str(dtype))
    if shape not in ((width,), (1, width)):
        raise VectorRefusal.wrong_shape(shape, width)
    try:
        array = np.load(io.BytesIO(raw), allow_pickle=False, max_header_size=_HEADER)
    except (ValueError, EOFError, OSError) as error:
        raise VectorRefusal.not_an_array(_first_line(error)) from error
    with np.errstate(over="ignore"):
        numbers = np.ascontiguousarray(array.reshape(width), dtype=np.float32)
    if lost := int((~np.isfinite(numbers)).sum()):
        raise VectorRefusal.not_finite(lost)
    return torch.from_numpy(numbers)


def _header(raw: bytes) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and dtype, before any number is read."""
    file = io.BytesIO(raw)
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file, max_header_size=_HEADER)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(file, max_header_size=_HEADER)
    except Exception as error:  # the header is a Python literal: a stranger's fails in many ways
        raise VectorRefusal.not_an_array(_first_line(error)) from error
    return shape, dtype


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:200].rstrip(".") or type(error).__name__
