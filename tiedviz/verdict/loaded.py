"""The third witness: what a live model shares, under wrappers, adapters and quantisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

from tiedviz.verdict.storage import (
    count_parameters,
    overlap,
    same_storage,
    same_values,
    tie_groups,
)
from tiedviz.verdict.witnesses import Loaded

_ROWS = 4096  # in a block


@dataclass(frozen=True)
class _Side:
    """The input or the output layer of a model.

    Attributes:
        module: the layer.
        name: the full name of its matrix in the model, or empty.
        weight: its matrix as a plain tensor, or None where it keeps it in another form.
        quantised: in which form, such as "qint8" or the name of the layer's class.
        adapted: whether an adapter changes what the layer does.
    """

    module: nn.Module
    name: str
    weight: torch.Tensor | None
    quantised: str
    adapted: bool


def hear_loaded(model: nn.Module, missing: Sequence[str] = ()) -> Loaded:
    """What `model` shares in memory. It is looked at, and not changed.

    Args:
        model: a transformers model, perhaps compiled, wrapped, adapted, quantised or offloaded.
        missing: names of parameters that its files did not hold, as `from_pretrained` reports.
    """
    model = _unwrapped(model)
    one, other = _input_side(model), _output_side(model)
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
        near="quantisation" if other.quantised and _equals_quantised(e, other.module) else "",
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


def _numbers(side: _Side | None) -> int:
    return 0 if side is None or side.weight is None else side.weight.numel()


def _adapters(one: _Side, other: _Side) -> tuple[str, ...]:
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


def _unwrapped(model: nn.Module) -> nn.Module:
    """The model inside `torch.compile`, `DataParallel` and `DistributedDataParallel`."""
    while True:
        inner = model._modules.get("_orig_mod")
        if inner is None and isinstance(
            model, nn.DataParallel | nn.parallel.DistributedDataParallel
        ):
            inner = model.module
        if inner is None:
            return model
        model = inner


def _input_side(model: nn.Module) -> _Side | None:
    """The layer that tokens are read from."""
    return _side(model, _ask(model, "get_input_embeddings"))


def _output_side(model: nn.Module) -> _Side | None:
    """The layer that scores tokens; None where the model has none."""
    return _side(model, _ask(model, "get_output_embeddings"))


def _ask(model: nn.Module, name: str) -> nn.Module | None:
    try:
        found = getattr(model, name)()
    except (AttributeError, NotImplementedError):
        return None
    return found if isinstance(found, nn.Module) else None


def _side(model: nn.Module, layer: nn.Module | None) -> _Side | None:
    if layer is None:
        return None
    base, adapted = _under_adapter(layer)
    weight: Any = getattr(base, "weight", None)
    if callable(weight) and not isinstance(weight, torch.Tensor):
        weight = weight()  # torch's dynamically quantised layers have a method of this name
    form = _form(base, weight)
    plain = isinstance(weight, torch.Tensor) and not form
    return _Side(layer, _name(model, base), weight if plain else None, form, adapted)


def _under_adapter(layer: nn.Module) -> tuple[nn.Module, bool]:
    """The layer as it was before an adapter was put over it, and whether one was."""
    adapted = any(".lora_" in f".{name}" for name, _ in layer.named_modules())
    adapted = adapted or hasattr(layer, "parametrizations")
    for inner in ("base_layer", "original_module"):
        while isinstance(base := layer._modules.get(inner), nn.Module):
            layer, adapted = base, True
    return layer, adapted


def _form(layer: nn.Module, weight: Any) -> str:
    """How the layer keeps its matrix, if not as plain floating-point numbers."""
    if not isinstance(weight, torch.Tensor):
        return type(layer).__name__
    if weight.is_quantized:
        return str(weight.dtype).removeprefix("torch.")
    if not weight.is_floating_point() or weight.ndim != 2:
        return f"{type(layer).__name__}, {str(weight.dtype).removeprefix('torch.')}"
    return ""


def _name(model: nn.Module, layer: nn.Module) -> str:
    for name, module in model.named_modules(remove_duplicate=False):
        if module is layer:
            return f"{name}.weight" if name else "weight"
    return ""


def _equals_quantised(embedding: torch.Tensor | None, layer: nn.Module) -> bool:
    """Whether torch's own quantised layer holds `embedding` within one step for each number.

    Other libraries' layers cannot be read here, and give False.
    """
    method: Any = getattr(layer, "weight", None)
    if embedding is None or embedding.is_meta or not callable(method):
        return False
    packed = method()
    if not isinstance(packed, torch.Tensor) or not packed.is_quantized:
        return False
    if packed.shape != embedding.shape:
        return False
    steps = _steps(packed)
    numbers = packed.dequantize()
    return all(
        _within(embedding[start : start + _ROWS], numbers[start : start + _ROWS], steps[start:])
        for start in range(0, len(embedding), _ROWS)
    )


def _steps(packed: torch.Tensor) -> torch.Tensor:
    """One step for each row, (V, 1)."""
    if packed.qscheme() in (torch.per_channel_affine, torch.per_channel_symmetric):
        return packed.q_per_channel_scales().float()[:, None]
    return torch.full((len(packed), 1), packed.q_scale())


def _within(one: torch.Tensor, other: torch.Tensor, steps: torch.Tensor) -> bool:
    return bool(((one.detach().float() - other).abs() <= steps[: len(one)] * 1.001).all())
