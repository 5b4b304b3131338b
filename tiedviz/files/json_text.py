"""What does a piece of JSON from a stranger say, if it is small and flat enough to look at?"""

from __future__ import annotations

import json

from tiedviz.files.opening import (
    StrPath,
    name_of,
    open_weights,
    read_exactly,
    refuse_other_content,
)
from tiedviz.words.refusals.file import BrokenJson, HeaderTooLarge, HostileHeader

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
            raise HeaderTooLarge(name, size, limit)
        raw = read_exactly(read, 0, size, name, size)
    refuse_other_content(raw, size, name, "JSON")
    return parse_object(raw, name)


def parse_object(raw: bytes, name: str) -> dict[str, object]:
    """The JSON object in `raw`.

    Raises:
        BrokenJson: the text is not UTF-8, not JSON, or not an object; says where.
        HostileHeader: it has millions of parts, or is nested too deep to be read.
    """
    if sum(raw.count(sign) for sign in (b"[", b"{", b",")) > MAX_PARTS:
        raise HostileHeader(name, f"JSON of more than {MAX_PARTS:,} parts")
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
        raise HostileHeader(name, "JSON nested too deep") from None
    except ValueError:
        # Python will not turn thousands of digits into a number.
        raise HostileHeader(name, "a number of thousands of digits") from None
