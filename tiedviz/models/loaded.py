"""A model that is open: the live module, its tokenizer, and the lock around both."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
)

from tiedviz.models.sizes import layers_of, positions_of
from tiedviz.models.vocabulary import Vocabulary
from tiedviz.words.refusals.prompt import NoAnswerBegun


class Kind(StrEnum):
    """What a language model does with a text."""

    CAUSAL = "causal"  # goes on with it
    MASKED = "masked"  # fills its gaps
    SEQ2SEQ = "seq2seq"  # reads it, and writes another


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """An open model. Shared by all visitors, so nobody may change it.

    Attributes:
        source: what was asked for: a shelf name, a path, a Hub id.
        title: what it is called on a page.
        key: identity of the weights and the dtype they are held in; what caches are keyed by.
        model: the live module, in evaluation mode, without gradients.
        tokenizer: its tokenizer.
        dtype: of the weights in memory, as "float32".
        folder: where it was opened from.
        placement: where the weights lie, where that is not simply memory.
        missing: parameters that the files did not hold, so that they are random.
        lock: held around tokenising, forward passes and hooks.
        memo: what was measured once on this model; it goes when the model goes.
    """

    source: str
    title: str
    key: str
    model: PreTrainedModel
    tokenizer: Any
    dtype: str
    folder: Path
    missing: tuple[str, ...] = ()
    placement: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock)
    memo: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def kind(self) -> Kind:
        """What it does with a text, by its class: one class of an architecture for each."""
        if self.model.config.is_encoder_decoder:
            return Kind.SEQ2SEQ
        name = type(self.model).__name__
        fills = name in _class_names(MODEL_FOR_MASKED_LM_MAPPING_NAMES)
        goes_on = name in _class_names(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
        return Kind.MASKED if fills and not goes_on else Kind.CAUSAL

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Its tokens by id."""
        return Vocabulary(self.tokenizer)

    @property
    def embedding(self) -> torch.Tensor:
        """E, (V, d): the rows that tokens are read from."""
        return self.model.get_input_embeddings().weight

    @property
    def scoring_matrix(self) -> torch.Tensor:
        """W, (V, d): the rows that score the next token. The same tensor as E where tied."""
        return self.model.get_output_embeddings().weight

    @property
    def tied(self) -> bool:
        """Whether the input and the output matrix are one parameter in memory."""
        return self.scoring_matrix is self.embedding

    @cached_property
    def random_tables(self) -> tuple[str, ...]:
        """Names of E and W among what the files did not hold: every answer would be noise."""
        tables = (self.embedding, self.scoring_matrix)
        return tuple(
            name
            for name, parameter in self.model.named_parameters(remove_duplicate=False)
            if name in self.missing and any(parameter is table for table in tables)
        )

    @cached_property
    def parameters(self) -> int:
        """Parameters, each shared one counted once."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    @property
    def share(self) -> float:
        """The part of the parameters that lies in E, and in W where it is another matrix."""
        tables = self.embedding.numel() + (0 if self.tied else self.scoring_matrix.numel())
        return tables / self.parameters

    @cached_property
    def nbytes(self) -> int:
        """Bytes of its parameters and buffers in memory; what lies on disk is left out."""
        tensors = {*self.model.parameters(), *self.model.buffers()}
        return sum(tensor.nbytes for tensor in tensors if not tensor.is_meta)

    @property
    def layers(self) -> int | None:
        """Block calls on the side that scores, as its config states them."""
        return layers_of(self.model.config)

    @property
    def positions(self) -> int | None:
        """The longest sequence it was trained for, as its config states it."""
        return positions_of(self.model.config)


def _class_names(mapping: Any) -> set[str]:
    """The class names in one of transformers' own tables; an entry may be one name or several."""
    names: set[str] = set()
    for entry in mapping.values():
        names |= {entry} if isinstance(entry, str) else set(entry)
    return names


def decoder_start(model: PreTrainedModel) -> int:
    """The id that every answer of an encoder–decoder model begins with.

    Raises:
        NoAnswerBegun: neither of its configs names one.
    """
    configs = (getattr(model, "generation_config", None), model.config)
    for field_name in ("decoder_start_token_id", "bos_token_id"):
        for config in configs:
            start = getattr(config, field_name, None)
            if isinstance(start, int):
                return start
    raise NoAnswerBegun(type(model).__name__)
