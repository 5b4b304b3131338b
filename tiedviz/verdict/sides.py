"""Where are E and W in a live model, under wrappers, adapters and quantisation?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True)
class Side:
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


def unwrapped(model: nn.Module) -> nn.Module:
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


def input_side(model: nn.Module) -> Side | None:
    """The layer that tokens are read from."""
    return _side(model, _ask(model, "get_input_embeddings"))


def output_side(model: nn.Module) -> Side | None:
    """The layer that scores tokens; None where the model has none."""
    return _side(model, _ask(model, "get_output_embeddings"))


def _ask(model: nn.Module, name: str) -> nn.Module | None:
    try:
        found = getattr(model, name)()
    except (AttributeError, NotImplementedError):
        return None
    return found if isinstance(found, nn.Module) else None


def _side(model: nn.Module, layer: nn.Module | None) -> Side | None:
    if layer is None:
        return None
    base, adapted = _under_adapter(layer)
    weight: Any = getattr(base, "weight", None)
    if callable(weight) and not isinstance(weight, torch.Tensor):
        weight = weight()  # torch's dynamically quantised layers have a method of this name
    form = _form(base, weight)
    plain = isinstance(weight, torch.Tensor) and not form
    return Side(layer, _name(model, base), weight if plain else None, form, adapted)


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
