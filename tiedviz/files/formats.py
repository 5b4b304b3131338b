"""Which formats can be read, and what do the weights of a folder or of one file hold?"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tiedviz.files.access import ReadAt, StrPath, is_folder, name_of, open_weights
from tiedviz.files.config import Description, list_names, read_object, refuse_not_a_model
from tiedviz.files.gguf import PART_OF_GGUF, gguf_description, gguf_parts, read_gguf
from tiedviz.files.header import Header, join_shards
from tiedviz.files.safetensors import read_safetensors
from tiedviz.words.refusals.file import FileRefusal

INDEX_LIMIT = 100_000_000  # bytes
MAX_SHARDS = 10_000

_OTHER_WEIGHTS = (
    r".*\.(h5|msgpack|onnx|ckpt|index|pth|pt|keras|nemo|tflite|ot|mlmodel|npz|safetensors|bin)"
)
_NO_WEIGHTS = r"(training_args|optimizer|scheduler|scaler|rng_state|adapter_model).*"


@dataclass(frozen=True)
class Format:
    """One way in which a model's weights are stored.

    Attributes:
        name: as in `Header.format`.
        ending: of its files' names.
        read: the header of a file, from `read(offset, length)`, the file's size and its name.
        in_folder: the file's name in the layout of transformers, which may be cut into shards with
            an index; empty where a folder is not opened from such a file, but turned into one.
        by_range: whether the header comes first, so that it can be read from afar by itself.
        magic: the first bytes by which it is known under any name; none where that is no use.
        part: how a file is named that is one of several of a model, a pattern with its `stem`.
        parts: names of all files of a model, from the header and the name of one; empty for one.
        describes: what the file says of itself, where a model needs no config.json beside it. The
            shapes of its tensors are then those of the weights, however they are packed.
    """

    name: str
    ending: str
    read: Callable[[ReadAt, int, str], Header]
    in_folder: str = ""
    by_range: bool = False
    magic: bytes = b""
    part: str = ""
    parts: Callable[[Header, str], list[str]] | None = None
    describes: Callable[[Header], Description] | None = None

    @property
    def index(self) -> str:
        """The name of the shard index."""
        return f"{self.in_folder}.index.json"


def _read_pickled(read: ReadAt, size: int, name: str) -> Header:
    from tiedviz.files.pickled import read_pickled  # with zipfile and pickletools, for few models

    return read_pickled(read, size, name)


# In the order in which transformers looks for them in a folder.
FORMATS = {
    each.name: each
    for each in (
        Format("safetensors", ".safetensors", read_safetensors, "model.safetensors", by_range=True),
        Format("bin", ".bin", _read_pickled, "pytorch_model.bin"),
        Format(
            "gguf",
            ".gguf",
            read_gguf,
            magic=b"GGUF",
            part=PART_OF_GGUF,
            parts=gguf_parts,
            describes=gguf_description,
        ),
    )
}
IN_FOLDERS = tuple(each for each in FORMATS.values() if each.in_folder)
"""Those that transformers opens a folder from."""
ALONE = tuple(each.ending for each in FORMATS.values() if not each.in_folder)
"""Endings of the others: one such file, or a folder that holds one, is a model."""


def read_header(path: StrPath) -> Header:
    """What the files say before a number is read.

    Args:
        path: a file of a known format, or a model folder: one file or shards, in the order of
            `FORMATS`, or a single model of a format that stands alone. Parts of a split file belong
            together. Names in an index may not leave the folder; a plain name may be a link, as in
            the Hugging Face cache.

    Raises:
        FileRefusal: says what is there instead.
    """
    if _is_folder(path):
        return _read_folder(path)
    return _read_file(path)


def _is_folder(path: StrPath) -> bool:
    try:
        return is_folder(path)
    except OSError as error:
        reason = error.strerror or "the system refuses it"
        raise FileRefusal.cannot_open(os.fspath(path), reason) from error


def _read_file(path: StrPath) -> Header:
    """The header of a file, and of all other parts of its model."""
    header, name = _read_one(path), name_of(path)
    parts_of = FORMATS[header.format].parts
    parts = parts_of(header, name) if parts_of else []
    if not parts:
        return header
    folder = Path(path).parent
    _require(folder, parts, name)
    headers = [_read_one(Path(folder) / part) for part in parts]
    return join_shards(headers, {}, headers[0].metadata)


def _read_one(path: StrPath) -> Header:
    name = name_of(path)
    with open_weights(path) as (read, size):
        return _format_of(name, read).read(read, size, name)


def _format_of(name: str, read: ReadAt) -> Format:
    """The format that the name says; else, the one that the first bytes are of."""
    for each in FORMATS.values():
        if name.endswith(each.ending):
            return each
    for each in FORMATS.values():
        if each.magic and read(0, len(each.magic)) == each.magic:
            return each
    raise FileRefusal.other_content(name, "not weights", "nothing that is known here")


def _read_folder(folder: StrPath) -> Header:
    names = list_names(folder)
    for each in IN_FOLDERS:
        if each.in_folder in names:
            return _read_file(Path(folder) / each.in_folder)
        if each.index in names:
            return _read_shards(folder, each.index)
    for each in FORMATS.values():
        alone = [name for name in names if name.endswith(each.ending)]
        if alone and not each.in_folder:
            return _read_only(folder, each, alone)
    raise _no_weights(folder, names)


def _read_shards(folder: StrPath, index_name: str) -> Header:
    index = read_object(Path(folder) / index_name, INDEX_LIMIT)
    files = weight_map(index, index_name)
    shards = sorted(set(files.values()))
    _require(folder, shards, index_name)
    metadata = index.get("metadata")
    headers = [_read_file(Path(folder) / shard) for shard in shards]
    return join_shards(headers, files, metadata if isinstance(metadata, dict) else {})


def _read_only(folder: StrPath, kind: Format, names: list[str]) -> Header:
    models = {re.sub(kind.part, r"\g<stem>", name): name for name in reversed(names)}
    if len(models) > 1:
        raise FileRefusal.several_models(name_of(folder), names)
    return _read_file(Path(folder) / next(iter(models.values())))


def _require(folder: StrPath, shards: list[str], index: str) -> None:
    present = set(list_names(folder))
    missing = [shard for shard in shards if shard not in present]
    if missing:
        raise FileRefusal.missing_shard(index, missing, len(shards))


def _no_weights(folder: StrPath, names: tuple[str, ...]) -> FileRefusal:
    found = [name for name in names if re.fullmatch(_OTHER_WEIGHTS, name)]
    others = [name for name in found if not re.fullmatch(_NO_WEIGHTS, name)]
    if others:
        return FileRefusal.wrong_format(name_of(folder), others)
    refuse_not_a_model(folder, names)
    return FileRefusal.no_weights(name_of(folder), names)


def weight_map(index: Mapping[str, object], name: str) -> dict[str, str]:
    """The file that holds each tensor, from a `*.index.json`; only plain names of files.

    Raises:
        FileRefusal: there is no such map in it, a file is named by a path, so that it could lie
            anywhere, or there are more files than any model has.
    """
    found = index.get("weight_map")
    if not isinstance(found, dict) or not found:
        raise FileRefusal.damaged(name, "it has no weight_map")
    for shard in found.values():
        if not isinstance(shard, str):
            raise FileRefusal.damaged(name, "a file in its weight_map has no name")
    shards = dict.fromkeys(found.values())
    for shard in shards:
        if not _is_plain_name(shard):
            raise FileRefusal.shard_outside(name, shard)
    if len(shards) > MAX_SHARDS:
        raise FileRefusal.hostile(name, f"more than {MAX_SHARDS:,} files")
    return found


def _is_plain_name(name: str) -> bool:
    """Whether it is one word in a folder, to any system: no path, and no drive as in `C:`."""
    if not name.isprintable() or name in ("", ".", ".."):
        return False
    has_drive = name[1:2] == ":" and name[0].isascii() and name[0].isalpha()
    return not has_drive and "/" not in name and "\\" not in name
