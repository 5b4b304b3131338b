"""How many parameters do packed weights hold? Told from names, types and shapes alone.

A packed tensor keeps several weights in each stored number, with scales and the like beside it:

| who wrote it | the tensor | parameters |
|---|---|---|
| MXFP4 (gpt-oss) | `X_blocks` U8, `X_scales` | two in a byte |
| GPTQ | `qweight` I32 (in·bits/32, out), `g_idx` (in), `scales` (groups, out) | in × out |
| AWQ | `qweight` I32 (in, out·bits/32), `scales` (groups, out) | in × out |
| bitsandbytes, 4 bits | `weight` U8, `weight.quant_state.…` | two in a byte |
| compressed-tensors | `weight_packed` I32 (out, in·bits/32), U8 for FP4 | by its stated bits |
| ModelOpt, Quark (FP4) | `weight` U8 (out, in/2), `weight_scale` by blocks | two in a byte |
| MLX | `weight` U32 (out, in·bits/32), `scales`, `biases` | by its stated bits |

Stated bits are those in config.json. Weights of eight bits hold one parameter each, whatever scales
stand beside them.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tiedviz.files.header import StoredTensor

_PACKED = re.compile(
    r"(.*)(?:_blocks|[._]packed|\.packed_weight|\.qweight|\.q_weight|\.W_q|\.weight)"
)
_BESIDE = re.compile(
    r"(?:scales|qzeros|g_idx|zeros|biases|q_\w+|meta|perm)"
    r"|(?:weight\.)?(?:absmax|quant_map|nested_\w+|quant_state\.\w+)"
)
_BLOCK_OF_FP4 = (16, 32)  # weights that share a scale


class Packing(NamedTuple):
    """What the packed tensors of a model hold."""

    numbers: Mapping[str, int] = {}
    """Parameters in each packed tensor, by its name."""
    beside: frozenset[str] = frozenset()
    """Names of scales, zero points and the like that belong to packed tensors."""
    unclear: tuple[str, ...] = ()
    """Packed tensors of which neither the header nor config.json tells how many they hold."""


def packing_of(tensors: Iterable[StoredTensor], config: Mapping[str, object]) -> Packing:
    """How the packed tensors among these count; all that is not packed is left out."""
    by_name = {tensor.name: tensor for tensor in tensors}
    numbers: dict[str, int] = {}
    bases: set[str] = set()
    unclear: list[str] = []
    for name, tensor in by_name.items():
        match = _PACKED.fullmatch(name)
        if match is None or tensor.dtype[0] not in "IU":
            continue
        base = match[1]
        found = _numbers(tensor, base, name.removeprefix(base), by_name, config)
        if found is None:
            continue
        bases.add(base)
        if found:
            numbers[name] = found
        else:
            unclear.append(name)
    beside = frozenset(name for name in by_name if _is_beside(name, bases))
    return Packing(numbers, beside, tuple(unclear))


def _is_beside(name: str, bases: set[str]) -> bool:
    """Whether the name is a packed layer's, and says that it is no weight."""
    if name.endswith("_scales") and name.removesuffix("_scales") in bases:
        return True
    at = name.find(".")
    while at >= 0:
        if name[:at] in bases:
            return bool(_BESIDE.fullmatch(name[at + 1 :]))
        at = name.find(".", at + 1)
    return False


def _numbers(
    tensor: StoredTensor,
    base: str,
    end: str,
    beside: Mapping[str, StoredTensor],
    config: Mapping[str, object],
) -> int | None:
    """Parameters in the tensor; 0 where that cannot be told, None where it is not packed."""
    if end == "_blocks":
        return 2 * tensor.numbers if tensor.dtype == "U8" and f"{base}_scales" in beside else None
    if end == ".weight":
        return _of_plain_name(tensor, base, beside, config)
    if end == ".qweight":
        return _of_qweight(tensor, base, beside, config)
    if end == "_packed" or end == ".packed":
        return _by_bits(tensor, _stated_bits(config, base))
    return 0


def _of_plain_name(
    tensor: StoredTensor,
    base: str,
    beside: Mapping[str, StoredTensor],
    config: Mapping[str, object],
) -> int | None:
    """Of a tensor called `weight`, which most often is one."""
    if tensor.dtype == "U8" and f"{base}.weight.absmax" in beside:
        kept = f"{base}.weight.quant_state.bitsandbytes__"
        four = any(f"{kept}{kind}" in beside for kind in ("nf4", "fp4"))
        return 2 * tensor.numbers if four else _by_bits(tensor, _stated_bits(config, base))
    scale = beside.get(f"{base}.weight_scale")
    if tensor.dtype == "U8" and scale is not None:
        return 2 * tensor.numbers if _is_fp4(tensor, scale) else 0
    if tensor.dtype in ("U32", "I32") and f"{base}.scales" in beside:
        return _by_bits(tensor, _stated_bits(config, base))
    return None


def _is_fp4(tensor: StoredTensor, scale: StoredTensor) -> bool:
    """Whether the scale is one for each block of four-bit floats, two of them in a byte."""
    if tensor.shape[:-1] != scale.shape[:-1] or not scale.shape:
        return False
    return any(scale.shape[-1] * block == 2 * tensor.shape[-1] for block in _BLOCK_OF_FP4)


def _of_qweight(
    tensor: StoredTensor,
    base: str,
    beside: Mapping[str, StoredTensor],
    config: Mapping[str, object],
) -> int:
    """GPTQ packs along the input, AWQ along the output; what lies beside tells the other length."""
    if len(tensor.shape) != 2:
        return 0
    scales, order = beside.get(f"{base}.scales"), beside.get(f"{base}.g_idx")
    if order is not None and len(order.shape) == 1:
        return order.shape[0] * tensor.shape[1]
    if scales is not None and len(scales.shape) == 2 and scales.shape[1] > tensor.shape[1]:
        return tensor.shape[0] * scales.shape[1]
    return _by_bits(tensor, _stated_bits(config, base))


def _by_bits(tensor: StoredTensor, bits: int) -> int:
    """Weights of so many bits in the numbers of a tensor; 0 where nobody states the bits."""
    held = {"8": 8, "16": 16, "32": 32}.get(tensor.dtype[1:], 0)
    return tensor.numbers * held // bits if bits else 0


def _stated_bits(config: Mapping[str, object], layer: str) -> int:
    """Bits of a weight as config.json states them, for this layer or for all; else 0."""
    for key in ("quantization_config", "quantization"):
        settings = config.get(key)
        if isinstance(settings, Mapping):
            own = settings.get(layer)
            bits = _bits_in(own) if isinstance(own, Mapping) else 0
            if bits or (bits := _bits_in(settings)):
                return bits
    return 0


def _bits_in(settings: Mapping[str, object]) -> int:
    for key in ("bits", "w_bit", "num_bits"):
        value = settings.get(key)
        if type(value) is int and 1 <= value <= 8:
            return value
    if settings.get("load_in_4bit") is True:
        return 4
    groups = settings.get("config_groups")
    found = set()
    for group in groups.values() if isinstance(groups, Mapping) else ():
        weights = group.get("weights") if isinstance(group, Mapping) else None
        found.add(_bits_in(weights) if isinstance(weights, Mapping) else 0)
    return found.pop() if len(found) == 1 else 0
