"""Can a checkpoint be opened here, and as which class? Asked before any weight is read."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import transformers
from transformers import CONFIG_MAPPING, PretrainedConfig, PreTrainedModel
from transformers.models.auto import modeling_auto

from tiedviz.files.config import read_config
from tiedviz.words.refusals.opening import CheckpointRefusal

# Methods that transformers expands to ordinary weights by itself, on any machine.
_READ_BY_ITSELF = ("fp8", "mxfp4")


def checked_class(folder: Path, title: str) -> type[PreTrainedModel]:
    """The class that config.json names, after everything that would stand in its way was checked.

    Raises:
        CheckpointRefusal: one of its kinds.
        FileRefusal: there is no config.json, or it is broken.
    """
    config = read_config(folder)
    check_model_type(config, title)
    _check_quantisation(config, title)
    found = named_class(config)
    if found is None:
        raise CheckpointRefusal.no_architecture(title, _listed(config.get("architectures")))
    return found


def plain_config(kind: type[PreTrainedModel], folder: Path) -> PretrainedConfig:
    """The configuration in `folder`, with the way to compute attention left to the class.

    A config.json may name an implementation that transformers would fetch as compiled code from the
    Hub, or one that is not installed. Without a name the class takes sdpa, or eager where it has no
    other: each part of it, since the setter passes the value down.
    """
    config = kind.config_class.from_pretrained(
        folder, local_files_only=True, trust_remote_code=False
    )
    config._attn_implementation = None
    config._experts_implementation = None
    return config


def _listed(named: object) -> str:
    if isinstance(named, list) and named:
        return ", ".join(str(name) for name in named[:3])
    return "nothing"


def check_model_type(config: Mapping[str, object], title: str) -> None:
    """Nothing, or a refusal where the installed transformers has no such kind of model.

    Raises:
        CheckpointRefusal: why.
    """
    kind = str(config.get("model_type") or "")
    if kind in CONFIG_MAPPING:
        return
    code = config.get("auto_map")
    if isinstance(code, dict) and code:
        raise CheckpointRefusal.remote_code(
            title, ", ".join(sorted({str(value) for value in code.values()})[:3])
        )
    saved, installed = str(config.get("transformers_version") or ""), transformers.__version__
    if _release(saved) > _release(installed):
        raise CheckpointRefusal.needs_newer_transformers(title, kind, saved, installed)
    raise CheckpointRefusal.unknown_model_type(title, kind or "(none)", installed)


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version; a development version counts as its release."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _check_quantisation(config: Mapping[str, Any], title: str) -> None:
    settings = config.get("quantization_config")
    if not isinstance(settings, dict):
        return
    method = str(settings.get("quant_method") or "")
    if not method and (settings.get("load_in_4bit") or settings.get("load_in_8bit")):
        method = "bitsandbytes"  # what it wrote before the method had a name
    if method in _READ_BY_ITSELF:
        return
    if method not in PACKAGES:
        raise CheckpointRefusal.unknown_quantisation(title, method or "(unnamed)")
    module, package = PACKAGES[method]
    if not _installed(module):
        raise CheckpointRefusal.quantised_without_package(title, method, package)


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False


# The kinds of language model, and transformers' list of the classes of each. The first in which a
# configuration is found is built where config.json names no class.
_LISTS = {
    "causal": modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING,
    "speech": modeling_auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING,
    "seq2seq": modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
    "masked": modeling_auto.MODEL_FOR_MASKED_LM_MAPPING,
}


def named_class(config: Mapping[str, Any]) -> type[PreTrainedModel] | None:
    """The first class in `architectures` of a raw config.json that transformers has, or None."""
    named = config.get("architectures")
    for name in named if isinstance(named, list) else []:
        found = getattr(transformers, str(name), None)
        if isinstance(found, type) and issubclass(found, PreTrainedModel):
            return found
    return None


def listed_class(config: PretrainedConfig, kind: str | None = None) -> type[PreTrainedModel]:
    """The class of that kind for a configuration; without a kind, of the first that has one.

    Args:
        config: the configuration.
        kind: causal, speech, seq2seq or masked.

    Raises:
        ValueError: transformers has no language model of this configuration.
    """
    for listed in _LISTS.values() if kind is None else [_LISTS[kind]]:
        if type(config) in listed:
            return listed[type(config)]
    raise ValueError(f"{type(config).__name__} belongs to no {kind or 'language'} model")


def kind_of(model: PreTrainedModel) -> str:
    """Causal, speech, seq2seq or masked by transformers' lists; else "other"."""
    for kind, listed in _LISTS.items():
        if type(model.config) in listed and isinstance(model, listed[type(model.config)]):
            return kind
    return "other"


# method as config.json names it → (import name, name on the package index)
PACKAGES: dict[str, tuple[str, str]] = {
    "bitsandbytes": ("bitsandbytes", "bitsandbytes"),
    "gptq": ("gptqmodel", "gptqmodel"),
    "awq": ("gptqmodel", "gptqmodel"),
    "compressed-tensors": ("compressed_tensors", "compressed-tensors"),
    "aqlm": ("aqlm", "aqlm"),
    "quanto": ("optimum.quanto", "optimum-quanto"),
    "eetq": ("eetq", "eetq"),
    "hqq": ("hqq", "hqq"),
    "higgs": ("flute", "flute-kernel"),
    "fbgemm_fp8": ("fbgemm_gpu", "fbgemm-gpu"),
    "torchao": ("torchao", "torchao"),
    "auto-round": ("auto_round", "auto-round"),
    "vptq": ("vptq", "vptq"),
    "spqr": ("spqr_quant", "spqr-quant"),
    "quark": ("quark", "amd-quark"),
}
