"""Which field of the config, or which stored tensor, a measured number is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

# What a config field is called that holds such a factor; a number of heads that happens to equal it
# is not its name. Those that also name the output come first.
_TELLING = ("scal", "multipl", "cap", "temperature", "factor", "logit", "mup")
_OUTPUT = ("logit", "head", "output", "vocab")

# How close a config value must come to a measured one to be its name, in float32.
_CLOSE = 2e-5


@dataclass(frozen=True)
class Factor:
    """A scalar the model multiplies by.

    Attributes:
        value: the factor; the config's exact value where it has a name, else as measured.
        name: where it is written down, or "measured" where no field of the config equals it.
    """

    value: float
    name: str

    @property
    def is_one(self) -> bool:
        """Whether it changes nothing."""
        return self.value == 1.0


ONE = Factor(1.0, "")


def name_factor(measured: float, config: Any, dtype: torch.dtype = torch.float32) -> Factor:
    """The measured factor with its name in `config`, if it has one there.

    Args:
        measured: the factor as numbers showed it.
        config: the model's.
        dtype: the coarsest that those numbers went through; their rounding hides small differences.
    """
    close = max(_CLOSE, torch.finfo(dtype).eps / 2)
    if abs(measured - 1) < close:
        return ONE
    for value, name in _candidates(config):
        if abs(value - measured) <= close * abs(measured):
            return Factor(value, name)
    return Factor(measured, "measured")


def _candidates(config: Any) -> Iterator[tuple[float, str]]:
    """Numbers a factor could be, likeliest first."""
    fields = _numbers(config)
    telling = [pair for pair in fields if any(word in pair[0] for word in _TELLING)]
    telling.sort(key=lambda pair: not any(word in pair[0] for word in _OUTPUT))
    for name, value in telling:
        yield value, name
        yield 1 / value, f"1/{name}"
    widths = [pair for pair in fields if pair[0] in ("d_model", "hidden_size", "n_embd")]
    for name, value in widths:
        yield value**-0.5, f"1/√{name}"
        yield value**0.5, f"√{name}"
        for base, number in fields:
            if "base" in base:
                yield number / value, f"{base}/{name}"


def _numbers(config: Any) -> list[tuple[str, float]]:
    """The config's positive numbers, and those of its text part."""
    merged = {**config.to_dict(), **config.get_text_config(decoder=True).to_dict()}
    return [
        (name, float(value))
        for name, value in merged.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
    ]


def name_tensor(model: nn.Module, values: torch.Tensor) -> tuple[str, torch.Tensor] | None:
    """The stored parameter or buffer with these values, one for each row of the vocabulary."""
    largest = float(values.abs().max())
    stored = (*model.named_buffers(remove_duplicate=True), *model.named_parameters())
    for name, tensor in stored:
        if tensor.numel() != values.numel():
            continue
        flat = tensor.detach().reshape(-1).float().cpu()
        if float((flat - values).abs().max()) <= 1e-5 * max(largest, 1e-3):
            return name, flat
    return None
