"""One forward pass, the same for every kind of model, with hooks only for its duration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn


@contextmanager
def hooked(*hooks: tuple[nn.Module, Callable[..., Any], bool]) -> Iterator[None]:
    """Attach hooks, and take them off whatever happens.

    Args:
        hooks: (module, function, before) each; `before` runs ahead of the module with its
            arguments, else the function runs after it with its output and may replace it.

    The caller holds the model's lock: another thread's pass would run through the same hooks.
    """
    handles = []
    try:
        for module, function, before in hooks:
            attach = module.register_forward_pre_hook if before else module.register_forward_hook
            handles.append(attach(function, with_kwargs=True))
        yield
    finally:
        for handle in handles:
            handle.remove()


def forward(
    model: nn.Module, ids: Sequence[int], *, keep: int | None = None, hidden_states: bool = False
) -> Any:
    """The model's output for one sequence, without gradients.

    Args:
        model: a transformers model.
        ids: the prompt.
        keep: the one position whose logits are wanted; models that can, compute no other.
        hidden_states: whether the output lists them.
    """
    accepted = inspect.signature(model.forward).parameters
    sequence = torch.tensor([list(ids)], device=next(model.parameters()).device)
    wanted: dict[str, Any] = {"input_ids": sequence, "attention_mask": torch.ones_like(sequence)}
    if "use_cache" in accepted:
        wanted["use_cache"] = False
    if hidden_states:
        wanted["output_hidden_states"] = True
    if keep is not None and "logits_to_keep" in accepted:
        wanted["logits_to_keep"] = torch.tensor([keep], device=sequence.device)
    if "attention_mask" not in accepted:
        del wanted["attention_mask"]
    with torch.inference_mode():
        return model(**wanted)


def first_tensor(value: Any) -> torch.Tensor | None:
    """The tensor a module gave: its output, or the first entry of a tuple or output object."""
    while not isinstance(value, torch.Tensor):
        if isinstance(value, (tuple, list)) and value:
            value = value[0]
        elif isinstance(value, dict) and value:
            value = next(iter(value.values()))
        else:
            return None
    return value
