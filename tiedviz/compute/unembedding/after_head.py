"""What happens to the product h·Wᵀ on its way to the logits: bias, scale, softcap.

Measured by putting known numbers in the place of the product and reading what comes out. All known
models treat each logit by itself here, so six positions with six constants say everything:
0 shows the bias, ±1 the scale, 2¹³ the cap. All are powers of two, exact in every dtype. Each
number is called by the field of the config, or the stored tensor, that it equals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tiedviz.compute.forward import forward, hooked

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


_LEVELS = (0.0, 1.0, -1.0, 32.0, -32.0, 8192.0)


class NotUnderstood(Exception):
    """What the model does here has no form this app knows; the text says what was seen."""


@dataclass(frozen=True)
class AfterHead:
    """logits = cap · tanh((scale · product + bias) / cap), with the parts that are there.

    Attributes:
        bias: (V,) float32, or None.
        bias_name: the stored tensor it is.
        scale: the factor on the product.
        cap: the softcap, or None.
    """

    bias: torch.Tensor | None
    bias_name: str
    scale: Factor
    cap: Factor | None

    def __call__(self, product: torch.Tensor, rows: torch.Tensor | None = None) -> torch.Tensor:
        """Logits from products h·Wᵀ, (…, V) float32; `rows` where only these columns are given."""
        logits = product if self.scale.is_one else product * self.scale.value
        if self.bias is not None:
            logits = logits + (self.bias if rows is None else self.bias[rows])
        if self.cap is not None:
            logits = self.cap.value * torch.tanh(logits / self.cap.value)
        return logits


def measure_after_head(model: nn.Module, head: nn.Module, ids: Sequence[int]) -> AfterHead:
    """What the model does after its output matrix, a bias inside the head module included.

    Raises:
        NotUnderstood: it is not a bias, a scale and a softcap.
    """
    answers = _feed(model, head, ids)
    dtype = next(head.parameters()).dtype  # the model works in it, whatever it prints its logits in
    close = max(1e-4, 4 * torch.finfo(dtype).eps)
    if not bool(torch.isfinite(answers).all()):
        raise NotUnderstood("some logits are set to infinity whatever the matrix says")
    cap = _find_cap(answers)
    flat = answers[:3] if cap is None else _uncapped(answers[:3], cap)
    offset = flat[0]
    scale = float(((flat[1] - flat[2]) / 2).double().mean())
    levels = torch.tensor(_LEVELS)[:, None]
    expected = scale * levels + offset
    if cap is not None:
        expected = cap * torch.tanh(expected / cap)
    error = float(((answers - expected) / (1 + levels.abs())).abs().max())
    if not error <= close * (1 + float(offset.abs().max())):
        raise NotUnderstood("logits are no bias, scale and softcap of the product")
    factor = name_factor(scale, model.config, dtype)
    bias, name = _bias(model, head, offset, factor.value)
    return AfterHead(
        bias=bias,
        bias_name=name,
        scale=factor,
        cap=None if cap is None else name_factor(cap, model.config, dtype),
    )


def _feed(model: nn.Module, head: nn.Module, ids: Sequence[int]) -> torch.Tensor:
    """The logits, (levels, V) float32, where the product is each level in turn."""
    assert len(ids) >= len(_LEVELS)

    def replace(module: nn.Module, args: Any, kwargs: Any, output: torch.Tensor) -> torch.Tensor:
        fed = torch.zeros_like(output)
        for position, level in enumerate(_LEVELS):
            fed[0, position] = level
        return fed

    with hooked((head, replace, False)):
        return forward(model, ids, decoder_ids=ids).logits[0, : len(_LEVELS)].float().cpu()


def _find_cap(answers: torch.Tensor) -> float | None:
    """The value at which the logits stop growing, if they do."""
    top = float(answers[5].max())
    grew = (answers[5] - answers[0]).abs() / _LEVELS[5]
    step = (answers[1] - answers[2]).abs() / 2
    if bool((grew > 0.5 * step).all()):
        return None
    if float(answers[5].min()) < top * (1 - 1e-3):
        raise NotUnderstood("logits stop growing, but not all at one value")
    return top


def _uncapped(answers: torch.Tensor, cap: float) -> torch.Tensor:
    return cap * torch.atanh((answers / cap).double()).float()


def _bias(
    model: nn.Module, head: nn.Module, offset: torch.Tensor, scale: float
) -> tuple[torch.Tensor | None, str]:
    """The bias of the head module and what is added after it, as one; each must be stored.

    `offset` is what is added outside the module; its own bias still passes through `scale`.
    """
    own = getattr(head, "bias", None)
    inside = None if own is None else own.detach().float().cpu() * scale
    if not bool(offset.abs().max() > 1e-7):
        return inside, "" if own is None else _name_of(model, own)
    found = name_tensor(model, offset)
    if found is None:
        raise NotUnderstood("something is added to every logit that no stored tensor holds")
    name, after = found
    return (after if inside is None else after + inside), name


def _name_of(model: nn.Module, tensor: torch.Tensor) -> str:
    return next(
        (name for name, parameter in model.named_parameters() if parameter is tensor), "bias"
    )
