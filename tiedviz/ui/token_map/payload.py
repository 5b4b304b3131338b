"""Names and points as bytes for the browser: typed arrays, and all texts in one string.

Layout: a uint32 with the length of a JSON header (padded with spaces to four bytes), the header,
then the arrays that `canvas/payloads.mjs` reads, little-endian. 262,144 tokens take 4.3 MB of
names, sent once for a model, and 2.1 MB of points for each view and pair of axes.
"""

from __future__ import annotations

import json
import struct
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from tiedviz.words.tokens import shorten

if TYPE_CHECKING:
    import numpy as np

    from tiedviz.compute.token_map.table import NamedRows

_LONGEST = 120  # characters of one token; the rest of a longer one is cut out of its middle


def payload_key(*parts: object) -> str:
    """A name for content that these parts determine."""
    return blake2b(repr(parts).encode("utf-8", "replace"), digest_size=10).hexdigest()


def names_key(model_key: str) -> str:
    """The name of a model's names."""
    return payload_key("names", model_key)


def names_payload(model_key: str, named: NamedRows) -> bytes:
    """Length, kind and text of each row."""
    import numpy as np

    texts = [text if len(text) <= _LONGEST else shorten(text, _LONGEST)
             for text in named.tokens["text"]]  # fmt: skip
    joined = "".join(texts)
    # JavaScript counts in UTF-16, where what lies beyond U+FFFF takes two
    lengths = np.fromiter((len(text) for text in texts), np.uint16, len(texts))
    if any(ord(character) > 0xFFFF for character in set(joined)):
        units = (len(text.encode("utf-16-le", "surrogatepass")) // 2 for text in texts)
        lengths = np.fromiter(units, np.uint16, len(texts))
    encoded = joined.encode("utf-8", "replace")
    header = {"role": "names", "key": names_key(model_key), "rows": len(texts)}
    return _packed(
        header | {"textBytes": len(encoded)},
        named.rows.norms.astype("<f4").tobytes(),
        lengths.astype("<u2").tobytes(),
        named.tokens["kind"].cat.codes.to_numpy().astype(np.uint8).tobytes(),
        encoded,
    )


def points_payload(key: str, points: np.ndarray) -> bytes:
    """The two coordinates of each row, (V, 2), as one array after the other."""
    header = {"role": "points", "key": key, "rows": len(points)}
    columns = [points[:, axis].astype("<f4").tobytes() for axis in (0, 1)]
    return _packed(header, *columns)


def _packed(header: dict[str, Any], *arrays: bytes) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    return b"".join([struct.pack("<I", len(text)), text, *arrays])
