"""The third witness: what a live model shares."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import transformers
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

from tiedviz.verdict.live import Loaded
from tiedviz.verdict.quantised import equals_quantised
from tiedviz.verdict.sides import Side, input_side, output_side, unwrapped
from tiedviz.verdict.storage import (
    count_parameters,
    overlap,
    same_storage,
    same_values,
    tie_groups,
)


def hear_loaded(model: nn.Module, missing: Sequence[str] = ()) -> Loaded:
    """What `model` shares in memory. It is looked at, and not changed.

    Args:
        model: a transformers model, perhaps compiled, wrapped, adapted, quantised or offloaded.
        missing: names of parameters that its files did not hold, as `from_pretrained` reports.
    """
    model = unwrapped(model)
    one, other = input_side(model), output_side(model)
    groups, version = tie_groups(model), transformers.__version__
    if one is None or other is None:
        return Loaded(
            has_head=other is not None,
            groups=groups,
            parameters=count_parameters(model),
            embedding=_numbers(one),
            version=version,
        )
    e, w = one.weight, other.weight
    pair = None if e is None or w is None else (e, w)
    shared = pair is not None and same_storage(*pair)
    return Loaded(
        same_object=e is not None and e is w,
        same_storage=shared,
        overlapping=pair is not None and not shared and overlap(*pair),
        same_values=None if pair is None else same_values(*pair),
        dtype="" if e is None else str(e.dtype).removeprefix("torch."),
        on_meta=any(weight is not None and weight.is_meta for weight in (e, w)),
        quantised=other.quantised,
        strange=_strange(model, e, w),
        near="quantisation" if other.quantised and equals_quantised(e, other.module) else "",
        adapters=_adapters(one, other),
        missing=tuple(name for name in missing if name in (one.name, other.name)),
        effective=_effective(model, other.name),
        groups=groups,
        embedding_name=one.name,
        head_name=other.name,
        parameters=count_parameters(model),
        embedding=_numbers(one),
        head=_numbers(other),
        version=version,
    )


def _strange(model: nn.Module, e: torch.Tensor | None, w: torch.Tensor | None) -> str:
    """Why W can be no matrix over tokens: it has fewer rows than E, and no vocabulary so few."""
    if e is None or w is None or len(w) >= len(e) or overlap(e, w):
        return ""
    settings = getattr(model, "config", None)
    sizes = settings.to_dict() if isinstance(settings, PreTrainedConfig) else {}
    if any("vocab" in key and value == len(w) for key, value in sizes.items()):
        return ""
    return f"the layer it names as its output has {len(w):,} rows for {len(e):,} tokens"


def _numbers(side: Side | None) -> int:
    return 0 if side is None or side.weight is None else side.weight.numel()


def _adapters(one: Side, other: Side) -> tuple[str, ...]:
    sides = (("input", one), ("output", other))
    return tuple(name for name, side in sides if side.adapted)


def _effective(model: nn.Module, head: str) -> bool:
    """The flag in the configuration that the class which ties the head looks at.

    The part of the model nearest to the head that lists it as tied decides; where none does, the
    outermost configuration is all there is.
    """
    found = [
        (len(prefix), module)
        for prefix, module in model.named_modules()
        if isinstance(module, PreTrainedModel) and _lists(module, prefix, head)
    ]
    owner = max(found, key=lambda pair: pair[0])[1] if found else model
    return bool(getattr(getattr(owner, "config", None), "tie_word_embeddings", False))


def _lists(module: PreTrainedModel, prefix: str, head: str) -> bool:
    inside = head.removeprefix(f"{prefix}.") if prefix else head
    keys = module._tied_weights_keys or {}
    return inside in keys or inside.removesuffix(".weight") in keys
