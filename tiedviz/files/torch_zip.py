"""Where do the members of a PyTorch zip file lie? They are stored plainly, so a place is enough."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import NamedTuple

from tiedviz.files.opening import ReadAt, read_exactly
from tiedviz.words.refusals.file import DamagedFile, HeaderTooLarge, HostileHeader

DIRECTORY_LIMIT = 16_000_000  # bytes; some 200,000 storages
_LOCAL_HEADER = 30


class Member(NamedTuple):
    """A run of bytes in the file."""

    begin: int
    length: int


def find_members(read: ReadAt, size: int, name: str) -> dict[str, Member]:
    """The place of each member, named as inside the archive's one folder ("data.pkl", "data/0").

    Raises:
        DamagedFile: the directory at the end of the zip is missing, wrong, or not PyTorch's.
        HostileHeader: a member is compressed, which PyTorch never does.
        HeaderTooLarge: the directory is larger than will be read.
    """
    try:
        with zipfile.ZipFile(_Window(read, size, name)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, struct.error, NotImplementedError, EOFError) as error:
        raise DamagedFile(name, "its directory, which stands last, is missing or wrong") from error
    programs = [e.filename for e in entries if e.filename.endswith("/data.pkl")]
    if len(programs) != 1:
        raise DamagedFile(name, "it is a zip archive without the one data.pkl of PyTorch")
    root = programs[0].removesuffix("data.pkl")
    return {
        entry.filename.removeprefix(root): _place(entry, read, size, name)
        for entry in entries
        if entry.filename.startswith(root)
    }


def _place(entry: zipfile.ZipInfo, read: ReadAt, size: int, name: str) -> Member:
    if entry.compress_type != zipfile.ZIP_STORED:
        raise HostileHeader(name, "a compressed part, which PyTorch never writes")
    # The padding before the bytes is only given at the place itself.
    start = read_exactly(read, entry.header_offset, _LOCAL_HEADER, name, size)
    name_length, extra_length = struct.unpack_from("<HH", start, _LOCAL_HEADER - 4)
    begin = entry.header_offset + _LOCAL_HEADER + name_length + extra_length
    if begin + entry.file_size > size:
        raise DamagedFile(name, "a part of it would lie beyond its end")
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
            raise HeaderTooLarge(self._name, length, DIRECTORY_LIMIT)
        data = self._read(self._at, length)
        self._at += len(data)
        return data
