"""A model without weights: the architecture of a config.json on torch's meta device."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from transformers import CONFIG_MAPPING, PreTrainedModel
from transformers.initialization import no_init_weights

from tiedviz.files.bounds import MAX_PARAMETERS, MAX_TENSORS, check_bounds
from tiedviz.models.building import building, quiet_library, while_built
from tiedviz.models.checkpoint import check_model_type
from tiedviz.models.classes import listed_class, named_class
from tiedviz.words.refusals.count import CountRefusal

# Nobody else can open a model meanwhile; the largest real ones take a second or two.
_PATIENCE = 10.0  # seconds

# Keys that say how weights are stored or run; they change no shape, and some ask for packages.
_NOT_OF_THE_SHAPE = (
    *("quantization_config", "auto_map", "torch_dtype", "dtype", "attn_implementation"),
    *("_attn_implementation", "_attn_implementation_internal", "_name_or_path"),
    # a language model has no such labels, and a list of a million takes its time
    *("num_labels", "id2label", "label2id"),
)


def unweighted_model(
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
        stack.enter_context(quiet_library())
        stack.enter_context(_readable_faults(config, title))
        made = CONFIG_MAPPING[str(config["model_type"])].from_dict(_shape_of(config))
        named = named_class(config) if kind is None else None
        chosen = named or listed_class(made, kind)
        stack.enter_context(no_init_weights())  # there is nothing to initialise, and it takes time
        stack.enter_context(while_built(_limits(title)))
        stack.enter_context(torch.device("meta"))
        model = chosen(made)
        model.tie_weights()  # part of what no_init_weights leaves out
        return model


def _shape_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration and those inside it, without what says nothing about shapes."""
    return {
        key: _shape_of(value) if isinstance(value, Mapping) else value
        for key, value in config.items()
        if key not in _NOT_OF_THE_SHAPE
    }


def _limits(title: str) -> Callable[[int, int], None]:
    """Nothing, or a refusal once there is more of the model than anything real has."""
    deadline = time.monotonic() + _PATIENCE

    def check(tensors: int, numbers: int) -> None:
        if tensors > MAX_TENSORS or time.monotonic() > deadline:
            raise CountRefusal.too_many_tensors(title, MAX_TENSORS)
        if numbers > MAX_PARAMETERS:
            raise CountRefusal.too_many_parameters(title, MAX_PARAMETERS)

    return check


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
        raise CountRefusal.cannot_build(title, str(name), said) from error
