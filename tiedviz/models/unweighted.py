"""A model without weights: the architecture of a config.json on torch's meta device."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
import transformers
from torch.nn.modules.module import register_module_parameter_registration_hook
from transformers import CONFIG_MAPPING, PretrainedConfig, PreTrainedModel
from transformers.initialization import no_init_weights
from transformers.models.auto import modeling_auto

from tiedviz.files.bounds import MAX_PARAMETERS, MAX_TENSORS, check_bounds
from tiedviz.models.building import building
from tiedviz.models.checkpoint import check_model_type
from tiedviz.words.refusals.count import (
    CannotBuild,
    CountRefusal,
    TooManyParameters,
    TooManyTensors,
)

# Nobody else can open a model meanwhile; the largest real ones take a second or two.
_PATIENCE = 10.0  # seconds

# The kinds of language model, and transformers' list of the classes of each. The first in which a
# configuration is found is built where config.json names no class.
_LISTS = {
    "causal": modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING,
    "speech": modeling_auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING,
    "seq2seq": modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
    "masked": modeling_auto.MODEL_FOR_MASKED_LM_MAPPING,
}
# Keys that say how weights are stored or run; they change no shape, and some ask for packages.
_NOT_OF_THE_SHAPE = (
    *("quantization_config", "auto_map", "torch_dtype", "dtype", "attn_implementation"),
    *("_attn_implementation", "_attn_implementation_internal", "_name_or_path"),
    # a language model has no such labels, and a list of a million takes its time
    *("num_labels", "id2label", "label2id"),
)


def build(
    config: Mapping[str, Any],
    title: str,
    kind: str | None = None,
    while_waiting: Callable[[], None] = lambda: None,
) -> PreTrainedModel:
    """The model of a raw config.json, all parameters on the meta device, tied as its class ties.

    Args:
        config: the raw config.json.
        title: what the model is called in a refusal.
        kind: causal, seq2seq, masked or speech; by default what `architectures` names.
        while_waiting: called while another thread builds a model; may raise.

    Raises:
        CountRefusal: it is out of bounds, or its class will not have it.
        CheckpointRefusal: its kind of model is not known here.
    """
    check_bounds(config, title)
    check_model_type(config, title)
    with ExitStack() as stack:
        stack.enter_context(building(while_waiting))
        stack.enter_context(_silent())
        stack.enter_context(_readable_faults(config, title))
        made = CONFIG_MAPPING[str(config["model_type"])].from_dict(_shape_of(config))
        chosen = model_class(made, config, kind)
        stack.enter_context(no_init_weights())  # there is nothing to initialise, and it takes time
        stack.enter_context(_capped(title))
        stack.enter_context(torch.device("meta"))
        model = chosen(made)
        model.tie_weights()  # part of what no_init_weights leaves out
        return model


def model_class(
    made: PretrainedConfig, config: Mapping[str, Any], kind: str | None = None
) -> type[PreTrainedModel]:
    """The class of that kind; else the one config.json names; else the first that fits.

    Raises:
        ValueError: transformers has no language model of this configuration.
    """
    if kind is not None:
        return _LISTS[kind][type(made)]
    named = config.get("architectures")
    for name in named if isinstance(named, list) else []:
        found = getattr(transformers, str(name), None)
        if isinstance(found, type) and issubclass(found, PreTrainedModel):
            return found
    for listed in _LISTS.values():
        if type(made) in listed:
            return listed[type(made)]
    raise ValueError(f"{type(made).__name__} belongs to no language model")


def kind_of(model: PreTrainedModel) -> str:
    """Causal, speech, seq2seq or masked by transformers' lists; else "other"."""
    for kind, listed in _LISTS.items():
        if type(model.config) in listed and isinstance(model, listed[type(model.config)]):
            return kind
    return "other"


def _shape_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration and those inside it, without what says nothing about shapes."""
    return {
        key: _shape_of(value) if isinstance(value, Mapping) else value
        for key, value in config.items()
        if key not in _NOT_OF_THE_SHAPE
    }


@contextmanager
def _capped(title: str) -> Iterator[None]:
    """Stop building in this thread once there is more than anything real has."""
    mine, seen = threading.get_ident(), [0, 0]
    deadline = time.monotonic() + _PATIENCE

    def look(module: Any, name: str, parameter: Any) -> None:
        if threading.get_ident() != mine or parameter is None:
            return
        seen[0] += 1
        seen[1] += parameter.numel()
        if seen[0] > MAX_TENSORS or time.monotonic() > deadline:
            raise TooManyTensors(title, MAX_TENSORS)
        if seen[1] > MAX_PARAMETERS:
            raise TooManyParameters(title, MAX_PARAMETERS)

    handle = register_module_parameter_registration_hook(look)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def _readable_faults(config: Mapping[str, Any], title: str) -> Iterator[None]:
    """Whatever a class of transformers raises over its sizes comes out as one refusal."""
    try:
        yield
    except CountRefusal:
        raise
    except Exception as error:
        named = config.get("architectures")
        name = named[0] if isinstance(named, list) and named else config.get("model_type")
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200].rstrip(".: ")
        raise CannotBuild(title, str(name), said) from error


@contextmanager
def _silent() -> Iterator[None]:
    """Advice of the library about configurations would land on the command line's output."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        yield
    finally:
        logging.disable(before)
