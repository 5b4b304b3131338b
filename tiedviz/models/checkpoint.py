"""Whether a checkpoint can be opened here, asked of its config.json before any weight is read."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import transformers
from transformers import CONFIG_MAPPING, PreTrainedModel

from tiedviz.files.config import read_config
from tiedviz.models.classes import named_class
from tiedviz.words.quantisation import PACKAGES
from tiedviz.words.refusals.checkpoint import (
    NeedsNewerTransformers,
    NoArchitecture,
    QuantisedWithoutPackage,
    RemoteCode,
    UnknownModelType,
    UnknownQuantisation,
)

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
        raise NoArchitecture(title, _listed(config.get("architectures")))
    return found


def _listed(named: object) -> str:
    if isinstance(named, list) and named:
        return ", ".join(str(name) for name in named[:3])
    return "nothing"


def check_model_type(config: Mapping[str, object], title: str) -> None:
    """Nothing, or a refusal where the installed transformers has no such kind of model.

    Raises:
        RemoteCode, NeedsNewerTransformers, UnknownModelType: why.
    """
    kind = str(config.get("model_type") or "")
    if kind in CONFIG_MAPPING:
        return
    code = config.get("auto_map")
    if isinstance(code, dict) and code:
        raise RemoteCode(title, ", ".join(sorted({str(value) for value in code.values()})[:3]))
    saved, installed = str(config.get("transformers_version") or ""), transformers.__version__
    if _release(saved) > _release(installed):
        raise NeedsNewerTransformers(title, kind, saved, installed)
    raise UnknownModelType(title, kind or "(none)", installed)


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
        raise UnknownQuantisation(title, method or "(unnamed)")
    module, package = PACKAGES[method]
    if not _installed(module):
        raise QuantisedWithoutPackage(title, method, package)


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False
