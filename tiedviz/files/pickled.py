"""What does a PyTorch .bin file hold? A zip of raw storages and one pickle, which is never run."""

from __future__ import annotations

import io
import math
import struct
import zipfile
from typing import Any, NamedTuple

from tiedviz.files.access import (
    SNIFFED,
    ReadAt,
    read_exactly,
    refuse_other_content,
)
from tiedviz.files.header import BITS, MAX_SIZE, Header, StoredTensor, plain_sizes
from tiedviz.files.pickle_program import TensorView, walk_pickle
from tiedviz.words.refusals.file import FileRefusal

PROGRAM_LIMIT = 16_000_000  # bytes; some 60,000 tensors
MAX_DEPTH = 8
MAX_NAME = 512  # characters
MAX_TENSORS = 200_000

_DTYPES = {
    **{"Double": "F64", "Float": "F32", "Half": "F16", "BFloat16": "BF16"},
    **{"Long": "I64", "Int": "I32", "Short": "I16", "Char": "I8", "Byte": "U8", "Bool": "BOOL"},
    **{"ComplexFloat": "C64", "ComplexDouble": "C128"},
    **{"QInt8": "I8", "QUInt8": "U8", "QInt32": "I32"},
    **{"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16"},
    **{"int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8", "bool": "BOOL"},
    **{"uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8"},
    **{"float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e8m0fnu": "F8_E8M0"},
    **{"float8_e4m3fnuz": "F8_E4M3FNUZ", "float8_e5m2fnuz": "F8_E5M2FNUZ"},
}


def read_pickled(read: ReadAt, size: int, name: str) -> Header:
    """The tensors of a .bin file in PyTorch's zip form; nothing in it is executed.

    Dicts in dicts are named with dots ("state_dict.wte.weight").

    Args:
        read: gives `length` bytes from `offset`; asked for the zip's directory and the pickle.
        size: of the whole file, in bytes.
        name: of the file, for the tensors and for what is said.

    Raises:
        FileRefusal: one of its kinds, where the file is cut, damaged, hostile or another thing.
    """
    first = read_exactly(read, 0, min(size, SNIFFED), name, size)
    if not first.startswith(b"PK\x03\x04"):
        _refuse_without_zip(read, first, size, name)
    members = find_members(read, size, name)
    program = members["data.pkl"]
    if program.length > PROGRAM_LIMIT:
        raise FileRefusal.too_large(name, program.length, PROGRAM_LIMIT)
    views = _flatten(walk_pickle(read_exactly(read, *program, name, size), name))
    tensors = [_tensor(key, view, members, name) for key, view in views.items()]
    return Header("bin", tuple(tensors), {}, _shared(views))


def _refuse_without_zip(read: ReadAt, first: bytes, size: int, name: str) -> None:
    if first.startswith(b"\x80") and first[1:2] <= b"\x05":
        # Names what its first part would call, if it would; refused in any case.
        walk_pickle(read_exactly(read, 0, min(size, PROGRAM_LIMIT), name, size), name)
        raise FileRefusal.legacy_pickle(name)
    refuse_other_content(first, size, name, "PyTorch's .bin")
    raise FileRefusal.damaged(name, "it does not begin like a PyTorch file")


def _flatten(built: object) -> dict[str, TensorView]:
    """The tensors under their names; a dict that occurs twice is entered once."""
    views: dict[str, TensorView] = {}
    entered: set[int] = set()

    def enter(value: object, prefix: str, depth: int) -> None:
        if isinstance(value, TensorView):
            views[prefix] = value
            if len(views) > MAX_TENSORS:
                raise FileRefusal.hostile("the pickle", f"more than {MAX_TENSORS:,} tensors")
        elif isinstance(value, dict) and id(value) not in entered and depth < MAX_DEPTH:
            entered.add(id(value))
            for key, part in value.items():
                enter(part, _joined(prefix, key), depth + 1)

    enter(built, "", 0)
    return views


def _joined(prefix: str, key: str) -> str:
    """A name one level down; a pickle can hold one long key many times, and each use is a copy."""
    if len(prefix) + len(key) > MAX_NAME:
        raise FileRefusal.hostile("the pickle", "a name longer than any tensor has")
    return f"{prefix}.{key}" if prefix else key


def _tensor(key: str, view: TensorView, members: dict[str, Member], file: str) -> StoredTensor:
    shape, stride, offset = _layout(view, file)
    dtype = _dtype(view, file)
    member = members.get(f"data/{view.storage.key}")
    if member is None:
        raise FileRefusal.damaged(file, "the numbers of a tensor are missing")
    width, numbers = BITS[dtype] // 8, math.prod(shape)
    reach = 1 + sum((n - 1) * step for n, step in zip(shape, stride, strict=True))
    span = reach if numbers else 0
    if (offset + span) * width > member.length:
        raise FileRefusal.damaged(file, "a tensor reaches beyond its numbers")
    plain = _is_plain(shape, stride)
    place = member.begin + offset * width if plain else None
    return StoredTensor(key, shape, dtype, min(span, numbers) * width, file, place)


def _layout(view: TensorView, file: str) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Shape, stride and offset, in numbers."""
    shape, stride = plain_sizes(view.shape), plain_sizes(view.stride)
    offset = plain_sizes((view.offset,))
    if shape is None or stride is None or offset is None or len(shape) != len(stride):
        raise FileRefusal.hostile(file, "a tensor whose size is not a size")
    if math.prod(shape) >= MAX_SIZE:
        raise FileRefusal.hostile(file, "a tensor whose size is not a size")
    return shape, stride, offset[0]


def _dtype(view: TensorView, file: str) -> str:
    kind = (view.dtype or view.storage.kind).rsplit(".", 1)[-1].removesuffix("Storage")
    if kind not in _DTYPES:
        raise FileRefusal.damaged(file, "a tensor in it is of a type that is not known here")
    return _DTYPES[kind]


def _is_plain(shape: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    """Whether the numbers lie row after row, without gaps."""
    step = 1
    for n, found in zip(reversed(shape), reversed(stride), strict=True):
        if n > 1 and found != step:
            return False
        step *= n
    return True


def _shared(views: dict[str, TensorView]) -> tuple[tuple[str, ...], ...]:
    """Names of the same numbers: one storage, the same place in it, as many numbers."""
    groups: dict[Any, list[str]] = {}
    for key, view in views.items():
        identity = view.storage.key, view.offset, math.prod(view.shape)
        groups.setdefault(identity, []).append(key)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


DIRECTORY_LIMIT = 16_000_000  # bytes; some 200,000 storages
_LOCAL_HEADER = 30


class Member(NamedTuple):
    """A run of bytes in the file."""

    begin: int
    length: int


def find_members(read: ReadAt, size: int, name: str) -> dict[str, Member]:
    """The place of each member, named as inside the archive's one folder ("data.pkl", "data/0").

    Raises:
        FileRefusal: the directory at the end of the zip is missing, wrong, or not PyTorch's.
        FileRefusal: a member is compressed, which PyTorch never does.
        FileRefusal: the directory is larger than will be read.
    """
    try:
        with zipfile.ZipFile(_Window(read, size, name)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, struct.error, NotImplementedError, EOFError) as error:
        raise FileRefusal.damaged(
            name, "its directory, which stands last, is missing or wrong"
        ) from error
    programs = [e.filename for e in entries if e.filename.endswith("/data.pkl")]
    if len(programs) != 1:
        raise FileRefusal.damaged(name, "it is a zip archive without the one data.pkl of PyTorch")
    root = programs[0].removesuffix("data.pkl")
    return {
        entry.filename.removeprefix(root): _place(entry, read, size, name)
        for entry in entries
        if entry.filename.startswith(root)
    }


def _place(entry: zipfile.ZipInfo, read: ReadAt, size: int, name: str) -> Member:
    if entry.compress_type != zipfile.ZIP_STORED:
        raise FileRefusal.hostile(name, "a compressed part, which PyTorch never writes")
    # The padding before the bytes is only given at the place itself.
    start = read_exactly(read, entry.header_offset, _LOCAL_HEADER, name, size)
    name_length, extra_length = struct.unpack_from("<HH", start, _LOCAL_HEADER - 4)
    begin = entry.header_offset + _LOCAL_HEADER + name_length + extra_length
    if begin + entry.file_size > size:
        raise FileRefusal.damaged(name, "a part of it would lie beyond its end")
    return Member(begin, entry.file_size)


class _Window(io.RawIOBase):
    """The file as `zipfile` wants it, which refuses to be read by the gigabyte."""

    def __init__(self, read: ReadAt, size: int, name: str) -> None:
        super().__init__()
        self._read, self._size, self._name = read, size, name
        self._at = 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        if self._at < 0:
            raise ValueError(self._at)
        return self._at

    def read(self, length: int | None = -1) -> bytes:
        left = max(self._size - self._at, 0)
        length = left if length is None or length < 0 else min(length, left)
        if length > DIRECTORY_LIMIT:
            raise FileRefusal.too_large(self._name, length, DIRECTORY_LIMIT)
        data = self._read(self._at, length)
        self._at += len(data)
        return data
