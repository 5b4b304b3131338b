"""One forward pass, the same for every kind of model, with hooks only for its duration."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from tiedviz.models.loaded import LoadedModel, decoder_start
from tiedviz.words.refusals.prompt import PromptTooLong


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
    model: nn.Module,
    ids: Sequence[int],
    *,
    decoder_ids: Sequence[int] | None = None,
    keep: int | Sequence[int] | None = None,
    hidden_states: bool = False,
) -> Any:
    """The model's output for one sequence, without gradients.

    Args:
        model: a transformers model.
        ids: the prompt.
        decoder_ids: what the decoder has written so far, for a model that has an encoder and a
            decoder; others never see it. None is the mark that every answer begins with.
        keep: the position or positions whose logits are wanted; models that can, compute no other.
        hidden_states: whether the output lists them.
    """
    wanted = call_arguments(model, ids, decoder_ids)
    if hidden_states:
        wanted["output_hidden_states"] = True
    if keep is not None and "logits_to_keep" in inspect.signature(model.forward).parameters:
        kept = [keep] if isinstance(keep, int) else list(keep)
        wanted["logits_to_keep"] = torch.tensor(kept, device=wanted["input_ids"].device)
    with torch.inference_mode():
        return model(**wanted)


def call_arguments(
    model: nn.Module, ids: Sequence[int], decoder_ids: Sequence[int] | None = None
) -> dict[str, Any]:
    """What the model is called with for one sequence, as keyword arguments.

    Args:
        model: a transformers model.
        ids: the prompt.
        decoder_ids: as in `forward`.
    """
    accepted = inspect.signature(model.forward).parameters
    device = next(model.parameters()).device
    sequence = torch.tensor([list(ids)], device=device)
    wanted: dict[str, Any] = {"input_ids": sequence}
    if "attention_mask" in accepted:
        wanted["attention_mask"] = torch.ones_like(sequence)
    if has_decoder(model):
        written = torch.tensor([list(sequence_read(model, ids, decoder_ids))], device=device)
        wanted["decoder_input_ids"] = written
    if "use_cache" in accepted:
        wanted["use_cache"] = False
    return wanted


def same_tensors_elsewhere(model: nn.Module) -> nn.Module:
    """A copy of the modules that holds the very tensors of `model`: no numbers are copied.

    For `torch.func.functional_call`: while it runs, what stands in for the parameters hangs in the
    modules themselves, where other threads would see it (a sidebar that asks whether E is W, or a
    page that multiplies by the matrix without the model's lock). A function that somebody hung into
    the model and that keeps a module of its own by closure goes on with that module.
    """
    held = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    return copy.deepcopy(model, memo=dict(held))


@contextmanager
def within_length(loaded: LoadedModel, tokens: int) -> Iterator[None]:
    """Run the model in this block; what it raises past its trained length becomes a refusal.

    Learned positions are counted before (`models.prompt`); models also keep computed ones in tables
    that end, each in its own way, and only running them shows it.

    Raises:
        PromptTooLong: the sequence is longer than the model was trained for, and it failed.
    """
    try:
        yield
    except (IndexError, RuntimeError) as error:
        trained = loaded.positions
        if trained is None or tokens <= trained:
            raise
        why = f"{loaded.title} cannot be run past the length it was trained for,"
        raise PromptTooLong(tokens, trained, why) from error


def has_decoder(model: nn.Module) -> bool:
    """Whether one part of the model reads the prompt and another writes the answer."""
    return bool(getattr(model.config, "is_encoder_decoder", False))


def sequence_read(
    model: nn.Module, ids: Sequence[int], decoder_ids: Sequence[int] | None = None
) -> Sequence[int]:
    """The ids at whose positions the model answers: the prompt's, or with a decoder the decoder's.

    Raises:
        PromptRefusal: the decoder has nothing to begin with, and nothing says how it begins.
    """
    if not has_decoder(model):
        return ids
    if decoder_ids:
        return decoder_ids
    return [decoder_start(model)]


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


def with_first_tensor(value: Any, tensor: torch.Tensor) -> Any:
    """What a module gave, with `tensor` in the place of the one that `first_tensor` finds."""
    if isinstance(value, (tuple, list)) and value:
        rest = [with_first_tensor(value[0], tensor), *value[1:]]
        return rest if isinstance(value, list) else tuple(rest)
    if isinstance(value, dict) and value:
        changed = copy.copy(value)
        first = next(iter(value))
        changed[first] = with_first_tensor(value[first], tensor)
        return changed
    return tensor
