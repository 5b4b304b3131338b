"""When are two tensors the same numbers in memory? Never by `data_ptr` alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import torch
from torch import nn

_BLOCK = 1 << 20  # numbers


def identity(tensor: torch.Tensor) -> Hashable | None:
    """What two tensors have in common if they are the same numbers; None where there are none.

    On the meta device, and in an empty tensor, every pointer is 0.
    """
    place = _place(tensor)
    if place is None:
        return None
    return (*place, tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()))


def same_storage(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether both are the same numbers: storage, place in it, shape and stride."""
    mine = identity(one)
    return mine is not None and mine == identity(other)


def overlap(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether some number of one is a number of the other: a slice, a view, a transpose."""
    mine, its = _place(one), _place(other)
    if mine is None or mine != its:
        return False
    first, last = _reach(one)
    its_first, its_last = _reach(other)
    return first <= its_last and its_first <= last


def same_values(one: torch.Tensor, other: torch.Tensor) -> bool | None:
    """Whether all numbers are equal, a block at a time; None where some are not in memory."""
    if one.is_meta or other.is_meta:
        return None
    if same_storage(one, other):
        return True
    if one.shape != other.shape:
        return False
    rows = max(1, _BLOCK // max(1, one[:1].numel()))
    return all(_equal(one[i : i + rows], other[i : i + rows]) for i in range(0, len(one), rows))


def tie_groups(model: nn.Module) -> tuple[tuple[str, ...], ...]:
    """All names of the same numbers, parameters and buffers, in the order of the model.

    On meta only the same object counts: there every pointer is 0, and one enormous fake group would
    be the answer.
    """
    groups: dict[Hashable, list[str]] = {}
    for name, tensor in _named(model):
        groups.setdefault(identity(tensor) or ("object", id(tensor)), []).append(name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)


def count_parameters(model: nn.Module) -> int:
    """Parameters, the same numbers in memory once, however often they are registered."""
    seen = {identity(p) or ("object", id(p)): p.numel() for p in model.parameters()}
    return sum(seen.values())


def _named(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from model.named_parameters(remove_duplicate=False)
    yield from model.named_buffers(remove_duplicate=False)


def _place(tensor: torch.Tensor) -> tuple[str, int] | None:
    if tensor.is_meta or tensor.numel() == 0:
        return None
    try:
        pointer = tensor.untyped_storage().data_ptr()
    except (NotImplementedError, RuntimeError):  # sparse, or a wrapper without storage
        return None
    return (str(tensor.device), pointer) if pointer else None


def _reach(tensor: torch.Tensor) -> tuple[int, int]:
    """First and last byte inside the storage."""
    start = tensor.storage_offset()
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    end = start + sum((size - 1) * step for size, step in steps)
    width = tensor.element_size()
    return int(start * width), int((end + 1) * width - 1)


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    one, other = one.detach(), other.detach()
    if one.device != other.device:
        one, other = one.cpu(), other.cpu()
    if one.dtype != other.dtype:
        one, other = one.double(), other.double()
    return torch.equal(one, other)
