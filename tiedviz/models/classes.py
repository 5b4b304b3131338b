"""The class of transformers that a configuration is built as, and its kind of language model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import transformers
from transformers import PretrainedConfig, PreTrainedModel
from transformers.models.auto import modeling_auto

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
