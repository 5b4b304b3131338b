"""An accelerator made of memory: tensors that say they are elsewhere, and do not mix with others.

No machine that runs these tests needs one. Each of its tensors holds one of the CPU, on which every
operation is done; what a real accelerator would not take is refused: a tensor of the CPU beside one
of its own, and float64, which Apple's has not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

ELSEWHERE = torch.device("mps", 0)

_aten = torch.ops.aten
# an index may lie on the CPU whatever it points into
_INDEXING = (_aten.index.Tensor, _aten.index_put_.default, _aten.index_put.default)


class Elsewhere(torch.Tensor):
    """A tensor of the accelerator; `held` are its numbers."""

    held: torch.Tensor
    device = property(lambda self: ELSEWHERE)  # type: ignore[assignment]
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> Elsewhere:
        if held.dtype is torch.float64:
            raise TypeError("the accelerator has no float64")
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device="cpu",
        )
        made.held = held.detach()
        return made

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        flat = [each for each in pytree.arg_tree_leaves(*args, **kwargs) if _is_tensor(each)]
        here = [each for each in flat if not isinstance(each, Elsewhere) and each.dim()]
        if here and not (function in _INDEXING and isinstance(args[0], Elsewhere)):
            raise RuntimeError(f"{function}: tensors on two devices")
        args, kwargs = pytree.tree_map_only(Elsewhere, lambda each: each.held, (args, kwargs))
        found = function(*args, **kwargs)
        if function._schema.is_mutable and flat and found is not None:
            return pytree.tree_map_only(torch.Tensor, lambda each: _known(each, flat), found)
        return pytree.tree_map_only(torch.Tensor, Elsewhere, found)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _known(found: torch.Tensor, given: list[Any]) -> Any:
    """What an operation in place gave back: the very tensor it was given."""
    return next(each for each in given if isinstance(each, Elsewhere) and each.held is found)


class _Moving(TorchFunctionMode):
    """Whatever is made or moved there is made or moved there."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if function in (torch.Tensor.cpu, torch.Tensor.numpy) and isinstance(args[0], Elsewhere):
            if function is torch.Tensor.numpy:
                raise TypeError("numpy cannot read the accelerator's tensors")
            return args[0].held
        if function is torch.Tensor.tolist and isinstance(args[0], Elsewhere):
            return args[0].held.tolist()
        if function is torch.Tensor.copy_:
            source, target = args[1], args[0]
            (target.held if isinstance(target, Elsewhere) else target).copy_(
                source.held if isinstance(source, Elsewhere) else source
            )
            return target
        if function is torch.Tensor.to:
            return _to(args[0], list(args[1:]), kwargs)
        if (device := kwargs.get("device")) is not None and _there(device):
            found = function(*args, **{**kwargs, "device": "cpu"})
            return Elsewhere(found)
        return function(*args, **kwargs)


def _there(device: Any) -> bool:
    return not isinstance(device, int) and torch.device(device).type == ELSEWHERE.type


def _to(tensor: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    device = kwargs.pop("device", None)
    if args and isinstance(args[0], torch.Tensor):
        device, kwargs["dtype"] = args[0].device, args[0].dtype
        args = args[1:]
    elif args and isinstance(args[0], (str, torch.device)):
        device, args = args[0], args[1:]
    there = isinstance(tensor, Elsewhere) if device is None else _there(device)
    held = tensor.held if isinstance(tensor, Elsewhere) else tensor
    changed = held.to(*args, **kwargs) if args or kwargs else held
    if there == isinstance(tensor, Elsewhere) and changed is held:
        return tensor
    return Elsewhere(changed) if there else changed


@contextmanager
def accelerator() -> Iterator[Callable[[Any], Any]]:
    """For the length of the block there is one; gives what moves a model to it."""
    # tensors made of others cannot be told apart from those of an inference
    plain = torch.inference_mode
    torch.inference_mode = lambda mode=True: torch.no_grad() if mode else nullcontext()
    try:
        with _Moving():
            yield moved
    finally:
        torch.inference_mode = plain


def moved(model: Any) -> Any:
    """The model with all its parameters and buffers on the accelerator, tied ones still tied."""
    made: dict[int, Any] = {}
    for module in model.modules():
        for name, tensor in module._parameters.items():
            if tensor is not None and id(tensor) not in made:
                made[id(tensor)] = Elsewhere(tensor.detach())
                made[id(tensor)]._is_param = True
            module._parameters[name] = None if tensor is None else made[id(tensor)]
        for name, tensor in module._buffers.items():
            if tensor is not None:
                module._buffers[name] = Elsewhere(tensor)
    return model
