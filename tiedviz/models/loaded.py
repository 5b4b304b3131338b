"""A model that is open: the live module, its tokenizer, and the lock around both."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel

from tiedviz.models.vocabulary import Vocabulary


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
    lock: threading.RLock = field(default_factory=threading.RLock)
    memo: dict[str, Any] = field(default_factory=dict)

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
        """Bytes of its parameters and buffers."""
        tensors = {*self.model.parameters(), *self.model.buffers()}
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    @property
    def layers(self) -> int | None:
        """Block calls, as its config states them."""
        config = self.model.config.get_text_config(decoder=True)
        return getattr(config, "num_hidden_layers", None)

    @property
    def positions(self) -> int | None:
        """The longest sequence it was trained for, as its config states it."""
        config = self.model.config.get_text_config(decoder=True)
        return getattr(config, "max_position_embeddings", None)
