"""What do a model's folder and its config.json say, read as JSON from a stranger is read?"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tiedviz.files.access import (
    StrPath,
    name_of,
    open_weights,
    read_exactly,
    refuse_other_content,
)
from tiedviz.words.refusals.file import BrokenJson, FileRefusal

# A list costs Python about 60 bytes where the text has two, so the text's size alone is no bound.
# The largest real index has about half a million of these signs.
MAX_PARTS = 4_000_000


def read_object(path: StrPath, limit: int) -> dict[str, object]:
    """The JSON object in a file of up to `limit` bytes.

    Raises:
        FileRefusal: the file is not there, too large, a web page, or not a JSON object.
    """
    name = name_of(path)
    with open_weights(path) as (read, size):
        if size > limit:
            raise FileRefusal.too_large(name, size, limit)
        raw = read_exactly(read, 0, size, name, size)
    refuse_other_content(raw, size, name, "JSON")
    return parse_object(raw, name)


def parse_object(raw: bytes, name: str) -> dict[str, object]:
    """The JSON object in `raw`.

    Raises:
        BrokenJson: the text is not UTF-8, not JSON, or not an object; says where.
        FileRefusal: it has millions of parts, or is nested too deep to be read.
    """
    if sum(raw.count(sign) for sign in (b"[", b"{", b",")) > MAX_PARTS:
        raise FileRefusal.hostile(name, f"JSON of more than {MAX_PARTS:,} parts")
    value = _parse(raw, name)
    if not isinstance(value, dict):
        raise BrokenJson(name, f"an object in {{}} was expected, not a {type(value).__name__}")
    return value


def _parse(raw: bytes, name: str) -> object:
    if not raw.strip():
        raise BrokenJson(name, "it is empty")
    try:
        return json.loads(raw.decode())
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        raise BrokenJson(name, "it is not UTF-8 text", line, column) from None
    except json.JSONDecodeError as error:
        raise BrokenJson(name, error.msg, error.lineno, error.colno) from None
    except RecursionError:
        raise FileRefusal.hostile(name, "JSON nested too deep") from None
    except ValueError:
        # Python will not turn thousands of digits into a number.
        raise FileRefusal.hostile(name, "a number of thousands of digits") from None


CONFIG = "config.json"
ADAPTER_CONFIG = "adapter_config.json"
CONFIG_LIMIT = 10_000_000  # bytes
MAX_NAMES = 20_000


def list_names(folder: StrPath) -> tuple[str, ...]:
    """Names of what lies directly in the folder, sorted; links that lead nowhere included.

    Raises:
        FileRefusal: there is no such folder, it is a file, or it may not be read.
    """
    try:
        return tuple(sorted(os.listdir(folder)[:MAX_NAMES]))  # noqa: PTH208
    except FileNotFoundError:
        raise FileRefusal.nothing_there(os.fspath(folder)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "this is no path"
        raise FileRefusal.cannot_open(os.fspath(folder), reason) from error


def adapter_base(folder: StrPath) -> str | None:
    """The model that the adapter in this folder was trained on, if the folder says."""
    try:
        found = read_object(Path(folder) / ADAPTER_CONFIG, CONFIG_LIMIT)
    except FileRefusal:
        return None
    base = found.get("base_model_name_or_path")
    return base if isinstance(base, str) and base else None


def refuse_not_a_model(folder: StrPath, names: tuple[str, ...]) -> None:
    """Raise what a folder without weights or without config.json is instead, if it is known."""
    if ADAPTER_CONFIG in names:
        raise FileRefusal.adapter_only(name_of(folder), adapter_base(folder))
    if CONFIG not in names:
        raise FileRefusal.not_a_model_folder(name_of(folder), names)


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


class Description(NamedTuple):
    """What a model's configuration, or a file that needs none, says of it."""

    architecture: str | None
    sizes: Dimensions


def read_config(folder: StrPath) -> dict[str, object]:
    """The raw config.json of a model folder.

    Raises:
        FileRefusal: there is none, or an adapter_config.json instead; it cannot be opened, or is
            too large or too deep to be a configuration.
        BrokenJson: it cannot be parsed; says where.
    """
    names = list_names(folder)
    if CONFIG not in names:
        refuse_not_a_model(folder, names)
    return _shallow(read_object(Path(folder) / CONFIG, CONFIG_LIMIT), CONFIG)


def read_config_file(path: StrPath) -> dict[str, object]:
    """The configuration in a file of any name, refused as by `read_config`."""
    return _shallow(read_object(path, CONFIG_LIMIT), name_of(path))


def parse_config(raw: bytes, name: str = CONFIG) -> dict[str, object]:
    """The configuration in the bytes of a config.json, refused as by `read_config`."""
    if len(raw) > CONFIG_LIMIT:
        raise FileRefusal.too_large(name, len(raw), CONFIG_LIMIT)
    return _shallow(parse_object(raw, name), name)


def description(config: Mapping[str, object]) -> Description:
    """What a raw config.json says: `architectures[0]`, else `model_type`; and the sizes."""
    names = config.get("architectures")
    first = names[0] if isinstance(names, list) and names else None
    named = (name for name in (first, config.get("model_type")) if isinstance(name, str) and name)
    return Description(next(named, None), dimensions(config))


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
        raise FileRefusal.hostile(name, "JSON nested too deep")
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
            if found := whole_number(part.get(key)):
                return found
    return None


def whole_number(value: object) -> int | None:
    """The value, if it is a whole number above 0."""
    return value if type(value) is int and value > 0 else None
