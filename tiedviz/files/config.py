"""What does config.json say about tying, and about the sizes of the model?"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tiedviz.files.json_text import parse_object, read_object
from tiedviz.files.listing import CONFIG, CONFIG_LIMIT, list_names, refuse_not_a_model
from tiedviz.files.opening import StrPath
from tiedviz.words.refusals.file import HeaderTooLarge, HostileHeader

MAX_DEPTH = 64

# LFM2 writes `tie_embedding`; all others in transformers the long name. Beyond it: mamba_ssm,
# OLMo, fairseq.
TIE_KEYS = (
    *("tie_word_embeddings", "tie_embedding", "tie_embeddings", "weight_tying"),
    *("share_decoder_input_output_embed", "share_input_output_embed"),
)

# Where models of several parts keep the sizes of the one that writes text, in this order.
_TEXT_PARTS = ("text_config", "language_config", "llm_config", "thinker_config", "decoder")

# One quantity, and the names it goes by; the first that holds a whole number counts. Of an
# encoder and a decoder, the decoder's: it is the one that ends in the output matrix.
_VOCABULARY = ("vocab_size", "padded_vocab_size", "n_words")
_WIDTH = ("hidden_size", "n_embd", "d_model", "dim", "n_embed", "emb_dim", "model_dim")
_EMBEDDING_WIDTH = ("word_embed_proj_dim", "embedding_size")
_LAYERS = (
    *("num_decoder_layers", "decoder_layers", "decoder_num_hidden_layers", "num_hidden_layers"),
    *("n_layer", "num_layers", "n_layers", "num_transformer_layers"),
)
_POSITIONS = (
    *("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "max_target_positions"),
    *("max_sequence_length", "max_context_length", "context_length", "seq_length", "seq_len"),
)


class Flag(NamedTuple):
    """One place in config.json that says whether the matrix is shared."""

    path: str
    """With dots, such as "text_config.tie_word_embeddings"."""
    value: object
    """As written: true, false, null, or whatever stands there."""


class Dimensions(NamedTuple):
    """Sizes as config.json gives them; None where it does not."""

    vocab_size: int | None = None
    d_model: int | None = None
    embedding_width: int | None = None
    """Width of a row of E: `d_model`, or the factorised width where one is named."""
    layers: int | None = None
    """Calls of a block on the way to the output matrix."""
    positions: int | None = None


def read_config(folder: StrPath) -> dict[str, object]:
    """The raw config.json of a model folder.

    Raises:
        NotAModelFolder: there is none; says what is there.
        AdapterOnly: there is an adapter_config.json instead.
        BrokenJson: it cannot be parsed; says where.
        FileRefusal: it cannot be opened, or is too large or too deep to be a configuration.
    """
    names = list_names(folder)
    if CONFIG not in names:
        refuse_not_a_model(folder, names)
    return _shallow(read_object(os.path.join(folder, CONFIG), CONFIG_LIMIT), CONFIG)


def read_config_file(path: StrPath) -> dict[str, object]:
    """The configuration in a file of any name, refused as by `read_config`."""
    return _shallow(read_object(path, CONFIG_LIMIT), os.path.basename(path))


def parse_config(raw: bytes, name: str = CONFIG) -> dict[str, object]:
    """The configuration in the bytes of a config.json, refused as by `read_config`."""
    if len(raw) > CONFIG_LIMIT:
        raise HeaderTooLarge(name, len(raw), CONFIG_LIMIT)
    return _shallow(parse_object(raw, name), name)


def tie_flags(config: Mapping[str, object]) -> tuple[Flag, ...]:
    """Every flag about tying, at any depth, the outermost first."""
    found = [
        Flag(".".join(path), value) for path, value in _entries(config) if path[-1] in TIE_KEYS
    ]
    return tuple(sorted(found, key=lambda flag: flag.path.count(".")))


def dimensions(config: Mapping[str, object]) -> Dimensions:
    """The sizes under whatever names they have; a nested `text_config` comes before the outside."""
    parts = list(_text_parts(config))
    width = _first(parts, _WIDTH)
    return Dimensions(
        vocab_size=_first(parts, _VOCABULARY),
        d_model=width,
        embedding_width=_first(parts, _EMBEDDING_WIDTH) or width,
        layers=_first(parts, _LAYERS),
        positions=_first(parts, _POSITIONS),
    )


def _shallow(config: dict[str, object], name: str) -> dict[str, object]:
    if any(len(path) > MAX_DEPTH for path, _ in _entries(config)):
        raise HostileHeader(name, "JSON nested too deep")
    return config


def _entries(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every value inside, with the keys that lead to it; not far beyond the greatest depth."""
    parts: Iterable[tuple[object, object]] = ()
    if isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    for key, part in parts:
        yield (*path, str(key)), part
        if len(path) <= MAX_DEPTH:
            yield from _entries(part, (*path, str(key)))


def _text_parts(config: Mapping[str, object], depth: int = 0) -> Iterator[Mapping[str, object]]:
    """The configuration of the part that writes text, from the innermost out."""
    for key in _TEXT_PARTS:
        part = config.get(key)
        if isinstance(part, Mapping) and depth < MAX_DEPTH:
            yield from _text_parts(part, depth + 1)
    yield config


def _first(parts: Sequence[Mapping[str, object]], keys: Sequence[str]) -> int | None:
    for part in parts:
        for key in keys:
            value = part.get(key)
            if type(value) is int and value > 0:
                return value
    return None
