"""A model that is open: the live module, its tokenizer, and the lock around both."""

from __future__ import annotations

import threading
from collections.abc import Sequence
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

from tiedviz.files.fit import Fit
from tiedviz.words.refusals.prompt import PromptRefusal
from tiedviz.words.tokens import Alphabet, Token, piece_bytes


class ModelKind(StrEnum):
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
        fit: how its files fitted its config.json; None for a model that was built in memory.
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
    fit: Fit | None = None
    placement: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock)
    memo: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def kind(self) -> ModelKind:
        """What it does with a text, by its class: one class of an architecture for each."""
        if self.model.config.is_encoder_decoder:
            return ModelKind.SEQ2SEQ
        name = type(self.model).__name__
        fills = name in _class_names(MODEL_FOR_MASKED_LM_MAPPING_NAMES)
        goes_on = name in _class_names(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
        return ModelKind.MASKED if fills and not goes_on else ModelKind.CAUSAL

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
        PromptRefusal: neither of its configs names one.
    """
    configs = (getattr(model, "generation_config", None), model.config)
    for field_name in ("decoder_start_token_id", "bos_token_id"):
        for config in configs:
            start = getattr(config, field_name, None)
            if isinstance(start, int):
                return start
    raise PromptRefusal.no_answer_begun(type(model).__name__)


class Vocabulary:
    """Token by id, for any tokenizer that transformers loads.

    Attributes:
        size: ids that name a token, counting added ones.
        alphabet: how this tokenizer writes bytes as pieces.
        special_ids: ids that are marks instead of text.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.size = len(tokenizer)
        self.alphabet = _alphabet(tokenizer)
        self._added = {int(id): token for id, token in tokenizer.added_tokens_decoder.items()}
        self.special_ids = frozenset(tokenizer.all_special_ids) | frozenset(
            id for id, token in self._added.items() if token.special
        )

    def token(self, id: int) -> Token:
        """The token in row `id`; one without a piece where the tokenizer has none for that row."""
        piece = self._piece(id)
        if piece is None:
            return Token(id, None, b"")
        if id in self._added or id in self.special_ids:
            return Token(id, piece, piece.encode(), special=id in self.special_ids)
        return Token(id, piece, piece_bytes(piece, self.alphabet))

    def tokens(self, ids: list[int]) -> list[Token]:
        """The tokens in these rows, in this order."""
        return [self.token(id) for id in ids]

    def _piece(self, id: int) -> str | None:
        """The stored piece, or None where the row has none (padded vocabularies)."""
        if id in self._added:
            return str(self._added[id].content)
        try:
            piece = self._tokenizer.convert_ids_to_tokens(id)
        except (IndexError, KeyError, OverflowError, ValueError):
            return None
        return piece if isinstance(piece, str) else None


def _alphabet(tokenizer: Any) -> Alphabet:
    """The alphabet, from the tokenizer's own decoder; where it has none, from its pieces."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    decoder = str(getattr(backend, "decoder", None) or "")
    for mark, alphabet in (
        ("ByteLevel", Alphabet.BYTE_LEVEL),
        ("ByteFallback", Alphabet.BYTE_FALLBACK),
        ("Metaspace", Alphabet.METASPACE),
        ("WordPiece", Alphabet.WORDPIECE),
        ("BPEDecoder", Alphabet.END_OF_WORD),
    ):
        if mark in decoder:
            return alphabet
    return _alphabet_of_pieces(tokenizer)


def _alphabet_of_pieces(tokenizer: Any) -> Alphabet:
    pieces = [tokenizer.convert_ids_to_tokens(id) or "" for id in range(min(len(tokenizer), 3000))]
    if any(piece.startswith("<0x") for piece in pieces):
        return Alphabet.BYTE_FALLBACK
    if any(piece.startswith("▁") for piece in pieces):
        return Alphabet.METASPACE
    if any(piece.startswith("##") for piece in pieces):
        return Alphabet.WORDPIECE
    if any(piece.endswith("</w>") for piece in pieces):
        return Alphabet.END_OF_WORD
    return Alphabet.PLAIN


_DECODER_LAYERS = ("num_decoder_layers", "decoder_layers", "decoder_num_hidden_layers")
_LAYERS = ("num_hidden_layers", "num_layers", "n_layer")
_POSITIONS = ("max_position_embeddings", "max_seq_len")


def stated(config: Any, names: Sequence[str]) -> int | None:
    """The first of these fields that holds a whole number above 0; None where none does."""
    values = (getattr(config, name, None) for name in names)
    return next((value for value in values if type(value) is int and value > 0), None)


def layers_of(config: Any) -> int | None:
    """Block calls on the way to the output matrix: of an encoder and a decoder, the decoder's.

    The decoder's names come first: where a decoder stands alone (BartForCausalLM),
    `num_hidden_layers` still means the encoder's.
    """
    return stated(config, _DECODER_LAYERS) or stated(config.get_text_config(decoder=True), _LAYERS)


def positions_of(config: Any) -> int | None:
    """The longest sequence the model was trained for."""
    return stated(config.get_text_config(decoder=True), _POSITIONS)
