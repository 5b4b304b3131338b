"""Which files may be read, how are they read in small pieces, and what are they in truth?

Whoever runs the app names the folders that visitors may open in `TIEDVIZ_ALLOW_PATHS`, separated
as in PATH. Without it, every path may be read by the command line and by an app that only this
machine can reach, and none by an app that others can reach. Shelf models and the Hub's cache need
no mention. A link that a visitor names is followed first; what links inside a named folder lead to
is their owner's choice (the Hub's cache is made of such links).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tiedviz.words.refusals.file import FileRefusal

StrPath = str | os.PathLike[str]
"""A path as text or as `pathlib` has it. What strangers typed is asked of the system as it stands:
`Path` would turn nothing into the current folder, and refuse a home folder that nobody has."""

ReadAt = Callable[[int, int], bytes]
"""`read(offset, length)`: that many bytes, or fewer at the end. A file, or HTTP ranges."""

SNIFFED = 1024

_MAGIC = {
    b"GGUF": "GGUF",
    b"PK\x03\x04": "a zip archive, such as PyTorch's .bin",
    b"\x89HDF": "HDF5 (TensorFlow or Keras)",
    b"\x80\x02": "a pickle",
    b"\x80\x03": "a pickle",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"\x1f\x8b": "a gzip archive",
    b"lmgg": "GGML, the format before GGUF",
    b"tjgg": "GGML, the format before GGUF",
}


def is_file(path: StrPath) -> bool:
    """Whether an ordinary file lies there, links followed.

    Raises:
        OSError: the system does not say.
    """
    return stat.S_ISREG(_mode(path))


def is_folder(path: StrPath) -> bool:
    """Whether a folder lies there, links followed.

    Raises:
        OSError: the system does not say.
    """
    return stat.S_ISDIR(_mode(path))


def folder_of(path: StrPath) -> str:
    """The folder itself, or the one that a file lies in.

    Raises:
        OSError: the system does not say which it is.
    """
    return os.fspath(path) if is_folder(path) else str(Path(path).parent)


def name_of(path: StrPath) -> str:
    """The last part of a path, or all of one that has no name, such as the root."""
    return os.path.basename(path) or os.fspath(path)  # noqa: PTH119


def _mode(path: StrPath) -> int:
    """What kind of thing lies there, as the system writes it; 0 for nothing."""
    try:
        return os.stat(path).st_mode  # noqa: PTH116
    except ValueError:  # a name that no system can have
        return 0
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return 0
        raise


@contextmanager
def open_weights(path: StrPath) -> Iterator[tuple[ReadAt, int]]:
    """A `ReadAt` over the file, and its size in bytes.

    Raises:
        FileRefusal: there is no such file, or it is not a readable, ordinary one (a pipe would
            wait for ever).
    """
    name = name_of(path)
    try:
        if not is_file(path):
            raise _not_a_file(path)
        stream = Path(path).open("rb", buffering=0)
    except OSError as error:
        raise FileRefusal.cannot_open(name, error.strerror or "the system refuses it") from error

    def read(offset: int, length: int) -> bytes:
        try:
            stream.seek(offset)
            return stream.read(length)
        except OSError as error:
            raise FileRefusal.cannot_open(name, error.strerror or "reading failed") from error

    with stream:
        yield read, stream.seek(0, 2)


def read_exactly(read: ReadAt, offset: int, length: int, name: str, size: int) -> bytes:
    """Those bytes, all of them.

    Raises:
        FileRefusal: the file ends before them.
    """
    if offset + length > size:
        raise FileRefusal.truncated(name, offset + length, size)
    data = read(offset, length)
    if len(data) < length:
        raise FileRefusal.truncated(name, offset + length, offset + len(data))
    return data


def refuse_other_content(first: bytes, size: int, name: str, expected: str) -> None:
    """Raise the refusal that fits, if the file's first bytes show that it is something else.

    Args:
        first: at least the first 1,024 bytes, where there are so many.
        size: of the whole file, in bytes.
        name: of the file.
        expected: what the name says it is, such as "safetensors".
    """
    if not size:
        raise FileRefusal.empty(name)
    first = first[:SNIFFED]
    if first.startswith(b"version https://git-lfs"):
        raise FileRefusal.lfs_pointer(name, _pointer_size(first))
    text = first.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html", b"<?xml", b"<head")):
        raise FileRefusal.web_page(name)
    if not any(first):
        raise FileRefusal.empty(name, size)
    for magic, found in _MAGIC.items():
        if first.startswith(magic):
            raise FileRefusal.other_content(name, found, expected)


def _not_a_file(path: StrPath) -> FileRefusal:
    if Path(path).is_symlink():
        return FileRefusal.cannot_open(name_of(path), "it is a link to a file that is not there")
    if _mode(path):
        return FileRefusal.cannot_open(name_of(path), "it is not an ordinary file")
    return FileRefusal.nothing_there(os.fspath(path))


def _pointer_size(pointer: bytes) -> int | None:
    for line in pointer.splitlines():
        key, _, value = line.partition(b" ")
        if key == b"size" and value.isdigit() and len(value) < 20:
            return int(value)
    return None


VARIABLE = "TIEDVIZ_ALLOW_PATHS"


def allow_none_unless_named() -> None:
    """From now on no path may be read but in the folders that `TIEDVIZ_ALLOW_PATHS` names."""
    os.environ.setdefault(VARIABLE, "")


def allowed_folders() -> list[Path]:
    """The folders that `TIEDVIZ_ALLOW_PATHS` names, as it names them."""
    return [Path(each) for each in os.environ.get(VARIABLE, "").split(os.pathsep) if each]


def may_read(path: StrPath) -> bool:
    """Whether `path` lies in a folder that may be read, links followed. It need not exist."""
    if VARIABLE not in os.environ:
        return True
    try:
        real = Path(path).expanduser().resolve()
        folders = [each.expanduser().resolve() for each in allowed_folders()]
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name no system can have
        return False
    return any(real.is_relative_to(folder) for folder in folders)


def readable_path(text: str) -> str | None:
    """The path that `text` names, if something lies there and may be read."""
    path = named_path(text)
    there = os.path.exists(path)  # noqa: PTH110 - a name too long is an error to `Path`
    return path if path and may_read(path) and there else None


def named_path(text: str) -> str:
    """The path that `text` names, white space around it dropped and `~` the home folder.

    A `~` before a name that no user has stays as it is: nothing lies there.
    """
    path = os.path.expanduser(text.strip())  # noqa: PTH111
    return path.rstrip(os.sep) or path


def identity(path: Path) -> str:
    """The identity of a model folder or of one file. Changes when a file in it is replaced."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    stamps = [
        f"{file.name}:{file.stat().st_size}:{file.stat().st_mtime_ns}"
        for file in files
        if file.is_file()
    ]
    return f"{path.resolve()}|{'|'.join(stamps)}"
