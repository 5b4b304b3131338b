"""The one lock under which models are built, and the checks that nothing was left broken.

transformers 5.24 exchanges a method on `PreTrainedModel` itself, and torch's default dtype, while
it builds a model. Two threads that build at once leave tied heads on the meta device, untied, and
spoil every later model of the process. So everything that builds a model, weights or not, happens
inside `building()`, and nowhere else.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

# Nobody's compiled code is fetched: transformers would load kernels from the Hub for some classes,
# whatever the configuration says. It asks at each use.
os.environ["USE_HUB_KERNELS"] = "NO"

import torch
from torch.nn.modules.module import register_module_parameter_registration_hook
from transformers import CONFIG_MAPPING, LlamaConfig, LlamaForCausalLM, PreTrainedModel
from transformers.initialization import no_init_weights

from tiedviz.files.bounds import MAX_PARAMETERS, MAX_TENSORS, check_bounds
from tiedviz.models.checkpoint import check_model_type, listed_class, named_class
from tiedviz.words.refusals.count import CountRefusal

_LOCK = threading.RLock()
_BEAT = 0.3  # seconds
_TIE_WEIGHTS = PreTrainedModel.tie_weights
_DEFAULT_DTYPE = torch.float32


@contextmanager
def building(while_waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the process-wide lock while a model is built; put back what the library exchanged.

    Args:
        while_waiting: called a few times a second while another thread holds the lock; may raise.
    """
    while not _LOCK.acquire(timeout=_BEAT):
        while_waiting()
    try:
        _restore()  # what somebody outside this lock may have left
        yield
    finally:
        _restore()
        _LOCK.release()


@contextmanager
def while_built(check: Callable[[int, int], None]) -> Iterator[None]:
    """Look at what this thread builds on the meta device, one parameter after the other.

    A model is built there first and filled afterwards; what its files lack would be filled with
    random numbers, however much that is.

    Args:
        check: told how many parameters there are so far, tied ones counted at each place, and how
            many numbers in them; what it raises ends the building.
    """
    mine, seen = threading.get_ident(), [0, 0]

    def look(module: Any, name: str, parameter: Any) -> None:
        if threading.get_ident() != mine or parameter is None or not parameter.is_meta:
            return
        seen[0] += 1
        seen[1] += parameter.numel()
        check(*seen)

    handle = register_module_parameter_registration_hook(look)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def quiet_library() -> Iterator[None]:
    """Keep the library's advice about configurations off the command line's output.

    Its logger alone: what other threads have to say about an opening that fails must be heard.
    """
    logger = logging.getLogger("transformers")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _restore() -> None:
    if PreTrainedModel.tie_weights is not _TIE_WEIGHTS:
        PreTrainedModel.tie_weights = _TIE_WEIGHTS
    if torch.get_default_dtype() is not _DEFAULT_DTYPE:
        torch.set_default_dtype(_DEFAULT_DTYPE)


def intact() -> bool:
    """Whether the library is as it was when this module was first imported."""
    return (
        PreTrainedModel.tie_weights is _TIE_WEIGHTS and torch.get_default_dtype() is _DEFAULT_DTYPE
    )


# Nobody else can open a model meanwhile; the largest real ones take a second or two.
_PATIENCE = 10.0  # seconds

# Keys that say how weights are stored or run; they change no shape, and some ask for packages.
_NOT_OF_THE_SHAPE = (
    *("quantization_config", "auto_map", "torch_dtype", "dtype", "attn_implementation"),
    *("_attn_implementation", "_attn_implementation_internal", "_name_or_path"),
    *("experts_implementation", "_experts_implementation", "_experts_implementation_internal"),
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


ROWS, WIDTH = 50, 16


def tiny_llama(*, tied: bool) -> LlamaForCausalLM:
    """A two-block Llama of width 16 with 50 rows, the same random numbers each time."""
    config = LlamaConfig(
        vocab_size=ROWS,
        hidden_size=WIDTH,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
        tie_word_embeddings=tied,
    )
    with building(), torch.random.fork_rng():
        torch.manual_seed(0)
        model = LlamaForCausalLM(config)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(0, 0.3)
    return model


def resize(folder: Path, rows: int) -> None:
    """Give the Llama in `folder` so many rows, as `resize_token_embeddings` does, and save it.

    The new rows are random, and the same each time.
    """
    with building(), torch.random.fork_rng():
        torch.manual_seed(0)
        model = LlamaForCausalLM.from_pretrained(folder)
        model.resize_token_embeddings(rows)
    model.save_pretrained(folder)
