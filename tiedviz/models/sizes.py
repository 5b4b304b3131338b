"""Sizes as a configuration of transformers states them, under whichever name its class uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
