"""The logits after a text that grows by a token at a time, from what was kept of the last step.

A model's cache (keys and values, or a state) spares computing the whole text again. Whether it
gives the same answer as no cache is measured once, on a probe; where it does not, where there is
none, or where a decoder reads an encoder, the whole text is computed each time.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Sequence
from typing import Any

import torch

from tiedviz.compute.forward import forward
from tiedviz.compute.unembedding import probe_ids
from tiedviz.models.loaded import LoadedModel

_LOG = logging.getLogger(__name__)

# What two orders of adding up may differ by, as a part of the largest logit.
_ROUNDING = {torch.float32: 1e-4, torch.float64: 1e-4}
_COARSE_ROUNDING = 5e-2

# What transformers calls the thing that is kept, from today's name back to older and rarer ones.
_NAMES = ("cache", "past_key_values", "cache_params", "state")


class Stepper:
    """Logits of one growing sequence. The caller holds the model's lock at each call.

    Args:
        loaded: the model.
        encoded: what the encoder reads, for a model with a decoder; else None.
    """

    def __init__(self, loaded: LoadedModel, encoded: Sequence[int] | None = None) -> None:
        self._loaded = loaded
        self._encoded = encoded
        self._kept: Any = None
        self._read: list[int] = []

    def logits(self, ids: Sequence[int]) -> torch.Tensor:
        """The model's own logits after `ids`, (V,) float32."""
        model = self._loaded.model
        if self._encoded is not None:
            output = forward(model, self._encoded, decoder_ids=ids, keep=len(ids) - 1)
            return output.logits[0, -1].float().cpu()
        if not cache_is_exact(self._loaded):
            return forward(model, ids, keep=len(ids) - 1).logits[0, -1].float().cpu()
        if self._kept is None or list(ids[:-1]) != self._read:
            self._kept, rest = None, list(ids)
        else:
            rest = [ids[-1]]
        logits, self._kept = _step(self._loaded, rest, len(ids), self._kept)
        self._read = list(ids)
        return logits


def cache_is_exact(loaded: LoadedModel) -> bool:
    """Whether the model's cache gives the logits that computing all of the text gives.

    Measured at the first call, on the last two of six tokens, and kept with the model.
    """
    if "cache is exact" not in loaded.memo:
        loaded.memo["cache is exact"] = _measure(loaded)
    return bool(loaded.memo["cache is exact"])


def _measure(loaded: LoadedModel) -> bool:
    if _name_of_kept(loaded) is None:
        return False
    ids = probe_ids(loaded)
    try:
        _, kept = _step(loaded, ids[:-2], len(ids) - 2, None)
        _, kept = _step(loaded, [ids[-2]], len(ids) - 1, kept)
        mine, _ = _step(loaded, [ids[-1]], len(ids), kept)
    except Exception as error:  # whatever the library's code for this model cares to raise
        _LOG.info("%s is continued without its cache: %r", loaded.title, error)
        return False
    theirs = forward(loaded.model, ids, keep=len(ids) - 1).logits[0, -1].float().cpu()
    allowed = _ROUNDING.get(loaded.model.dtype, _COARSE_ROUNDING) * float(theirs.abs().max())
    return bool((mine - theirs).abs().max() <= allowed)


def _step(
    loaded: LoadedModel, ids: Sequence[int], length: int, kept: Any
) -> tuple[torch.Tensor, Any]:
    """The logits after the last of `ids`, and the cache; `length` counts what was read before too.

    Raises:
        ValueError: the model gives no cache.
    """
    model, name = loaded.model, _name_of_kept(loaded)
    accepted = inspect.signature(model.forward).parameters
    device = next(model.parameters()).device
    wanted: dict[str, Any] = {
        "input_ids": torch.tensor([list(ids)], device=device),
        str(name): kept,
        "use_cache": True,
    }
    if "attention_mask" in accepted:
        wanted["attention_mask"] = torch.ones((1, length), dtype=torch.long, device=device)
    if "logits_to_keep" in accepted:
        wanted["logits_to_keep"] = 1
    with torch.inference_mode():
        output = model(**wanted)
    if output.get(name) is None:
        raise ValueError(f"{type(model).__name__} gives no cache")
    return output.logits[0, -1].float().cpu(), output[name]


def _name_of_kept(loaded: LoadedModel) -> str | None:
    """What this model calls its cache; None where it takes none."""
    accepted = inspect.signature(loaded.model.forward).parameters
    return next((name for name in _NAMES if name in accepted), None)
