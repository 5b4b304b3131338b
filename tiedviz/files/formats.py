"""What do the weights of this model folder, or this one file, hold?"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence

from tiedviz.files.access import StrPath, is_folder, name_of, open_weights
from tiedviz.files.config import list_names, read_object, refuse_not_a_model
from tiedviz.files.header import Header
from tiedviz.files.safetensors import read_safetensors_file
from tiedviz.words.refusals.file import FileRefusal

INDEX_LIMIT = 100_000_000  # bytes

# In the order in which transformers looks for them; each may have an index in its place.
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
# Not compiled before they are needed: most folders are what they should be.
_OTHER_WEIGHTS = (
    r".*\.(h5|msgpack|onnx|ckpt|index|pth|pt|keras|nemo|tflite|ot|mlmodel|npz|safetensors|bin)"
)
_NO_WEIGHTS = r"(training_args|optimizer|scheduler|scaler|rng_state|adapter_model).*"
_GGUF_PART = r"(?P<stem>.+)-\d{5}-of-(?P<parts>\d{5})\.gguf"


def read_header(path: StrPath) -> Header:
    """What the files say before a number is read.

    Args:
        path: a `.gguf`, `.safetensors` or `.bin` file, or a model folder: one file or shards,
            safetensors before .bin, or a single GGUF model. Parts of a split GGUF file belong
            together. Names in an index may not leave the folder; a plain name may be a link, as in
            the Hugging Face cache.

    Raises:
        FileRefusal: one of its kinds, saying what is there instead.
    """
    if _is_folder(path):
        return _read_folder(path)
    return _read_file(path)


def _is_folder(path: StrPath) -> bool:
    try:
        return is_folder(path)
    except OSError as error:
        raise FileRefusal.cannot_open(
            os.fspath(path), error.strerror or "the system refuses it"
        ) from error


def _read_file(path: StrPath) -> Header:
    reader = _reader(name_of(path))
    if reader is not None:
        return reader(path)
    with open_weights(path) as (read, _):
        is_gguf = read(0, 4) == b"GGUF"
    if is_gguf:
        return _read_gguf_parts(path)
    raise FileRefusal.other_content(name_of(path), "not weights", "nothing that is known here")


def _reader(name: str) -> Callable[[StrPath], Header] | None:
    if name.endswith(".gguf"):
        return _read_gguf_parts
    if name.endswith(".safetensors"):
        return read_safetensors_file
    return _read_pickled if name.endswith(".bin") else None


def _read_pickled(path: StrPath) -> Header:
    # Imported late: no format's reader is worth its time to a model of another format.
    from tiedviz.files.pickled import read_pickled_file

    return read_pickled_file(path)


def _read_folder(folder: StrPath) -> Header:
    names = list_names(folder)
    for name in _WEIGHTS:
        if name in names:
            return _read_file(os.path.join(folder, name))
        if f"{name}.index.json" in names:
            return _read_shards(folder, f"{name}.index.json")
    gguf = [name for name in names if name.endswith(".gguf")]
    if gguf:
        return _read_only_gguf(folder, gguf)
    raise _no_weights(folder, names)


def _read_shards(folder: StrPath, index_name: str) -> Header:

    index = read_object(os.path.join(folder, index_name), INDEX_LIMIT)
    files = weight_map(index, index_name)
    shards = sorted(set(files.values()))
    _require(folder, shards, index_name)
    metadata = index.get("metadata")
    headers = [_read_file(os.path.join(folder, shard)) for shard in shards]
    return join_shards(headers, files, metadata if isinstance(metadata, dict) else {})


def _read_only_gguf(folder: StrPath, names: list[str]) -> Header:
    models = {re.sub(_GGUF_PART, r"\g<stem>", name): name for name in reversed(names)}
    if len(models) > 1:
        raise FileRefusal.several_models(name_of(folder), names)
    return _read_gguf_parts(os.path.join(folder, next(iter(models.values()))))


def _read_gguf_parts(path: StrPath) -> Header:
    from tiedviz.files.gguf import read_gguf_file  # late, as above

    header = read_gguf_file(path)
    parts = header.metadata.get("split.count")
    if type(parts) is not int or parts < 2:
        return header
    folder, name = os.path.split(path)
    found = re.fullmatch(_GGUF_PART, name)
    if found is None or int(found["parts"]) != parts:
        raise FileRefusal.missing_shard(name, [f"the other {parts - 1}"], parts)
    names = [f"{found['stem']}-{i:05}-of-{found['parts']}.gguf" for i in range(1, parts + 1)]
    _require(folder or os.curdir, names, name)
    headers = [read_gguf_file(os.path.join(folder, part)) for part in names]
    return join_shards(headers, {}, headers[0].metadata)


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


MAX_SHARDS = 10_000


def weight_map(index: Mapping[str, object], name: str) -> dict[str, str]:
    """The file that holds each tensor, from a `*.index.json`; only plain names of files.

    Raises:
        FileRefusal: there is no such map in it.
        FileRefusal: a file is named by a path, so it could lie anywhere.
        FileRefusal: there are more files than any model has.
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


def join_shards(
    shards: Sequence[Header], files: Mapping[str, str], metadata: Mapping[str, object]
) -> Header:
    """One header for all shards.

    A tensor that lies in several shards is taken from the one that the index names. What the index
    names and no shard holds is kept in `absent`.
    """
    tensors = tuple(
        tensor
        for shard in shards
        for tensor in shard.tensors
        if files.get(tensor.name, tensor.file) == tensor.file
    )
    held = {tensor.name for tensor in tensors}
    absent = tuple(name for name in files if name not in held)
    groups = tuple(group for shard in shards for group in shard.shared_storage)
    return Header(shards[0].format, tensors, metadata, groups, absent)


def _is_plain_name(name: str) -> bool:
    """Whether it is one word in a folder, to any system: no path, and no drive as in `C:`."""
    if not name.isprintable() or name in ("", ".", ".."):
        return False
    has_drive = name[1:2] == ":" and name[0].isascii() and name[0].isalpha()
    return not has_drive and "/" not in name and "\\" not in name
