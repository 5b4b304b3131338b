"""Where is the next value in a GGUF file? A bounded walk that reads only what it passes."""

import struct
from typing import NamedTuple

from tiedviz.files.opening import ReadAt, read_exactly
from tiedviz.words.refusals.file import DamagedFile, HeaderTooLarge, TruncatedFile

HEADER_LIMIT = 100_000_000  # bytes; 262,144 tokens with their scores and kinds take 6 million
FIRST_READ = 1024 * 1024
KEPT = 64  # longer arrays are token lists and the like: only their length is kept
MAX_NESTING = 4

_STRING, _ARRAY = 8, 9
_SCALARS = {
    kind: struct.Struct("<" + code)
    for kind, code in zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True)
}
_U32, _U64 = struct.Struct("<I"), struct.Struct("<Q")


class LongArray(NamedTuple):
    """An array that was passed over."""

    length: int


class Walk:
    """A place in a GGUF header that only moves forward."""

    def __init__(self, read: ReadAt, size: int, name: str) -> None:
        self.name = name
        self.at = 0
        self._read = read
        self._size = size
        self._seen = b""  # the file's first bytes, as far as they were needed

    def first(self, length: int) -> bytes:
        """The file's first bytes, up to `length` of them."""
        self._see(min(length, self._size))
        return self._seen[:length]

    def u32(self) -> int:
        """The next four bytes as a number."""
        return int(self._scalar(_U32))

    def u64(self) -> int:
        """The next eight bytes as a number."""
        return int(self._scalar(_U64))

    def count(self, smallest: int) -> int:
        """How many things follow, each of at least `smallest` bytes.

        Raises:
            TruncatedFile: so many do not fit in the file.
            HeaderTooLarge: so many would not be read.
        """
        count = self.u64()
        self._check(self.at + count * smallest)
        return count

    def text(self) -> str:
        """The next string; bytes that are not UTF-8 are written as escapes."""
        start = self.at + 8
        self.at = start + self.count(1)
        self._see(self.at)
        return self._seen[start : self.at].decode(errors="backslashreplace")

    def value(self, kind: int, nesting: int = 0) -> object:
        """The next value: a number, a truth value, a string, a tuple, or a `LongArray`."""
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            return self._array(nesting + 1)
        return self._scalar(self._struct(kind))

    def _array(self, nesting: int) -> object:
        kind = self.u32()
        if nesting > MAX_NESTING:
            raise DamagedFile(self.name, "arrays in arrays without end")
        if kind in _SCALARS:
            return self._numbers(_SCALARS[kind])
        length = self.count(8)
        if kind == _STRING and length > KEPT:
            self._pass_strings(length)
            return LongArray(length)
        values = tuple(self.value(kind, nesting) for _ in range(length))
        return values if length <= KEPT else LongArray(length)

    def _numbers(self, form: struct.Struct) -> object:
        length = self.count(form.size)
        if length <= KEPT:
            return tuple(self._scalar(form) for _ in range(length))
        self.at += length * form.size
        return LongArray(length)

    def _pass_strings(self, left: int) -> None:
        # The one loop that runs once per token of the vocabulary, hence the local names.
        unpack, at = _U64.unpack_from, self.at
        while left:
            seen = self._seen
            try:
                for remaining in range(left, 0, -1):  # noqa: B007 - twice as fast as `left -= 1`
                    at += 8 + unpack(seen, at)[0]
                left = 0
            except (struct.error, OverflowError):
                left = remaining
                self._see(at + 8)
        self._check(at)
        self.at = at

    def _scalar(self, form: struct.Struct) -> float:
        start = self.at
        self.at += form.size
        self._see(self.at)
        value: float = form.unpack_from(self._seen, start)[0]
        return value

    def _struct(self, kind: int) -> struct.Struct:
        if kind not in _SCALARS:
            raise DamagedFile(self.name, f"a value of the unknown kind {kind}")
        return _SCALARS[kind]

    def _check(self, end: int) -> None:
        if end > self._size:
            raise TruncatedFile(self.name, end, self._size)
        if end > HEADER_LIMIT:
            raise HeaderTooLarge(self.name, end, HEADER_LIMIT)

    def _see(self, end: int) -> None:
        if end <= len(self._seen):
            return
        self._check(end)
        # Twice as much each time, so that the bytes are copied about once in all.
        until = min(max(end, 2 * len(self._seen), FIRST_READ), self._size, HEADER_LIMIT)
        start = len(self._seen)
        self._seen += read_exactly(self._read, start, until - start, self.name, self._size)
