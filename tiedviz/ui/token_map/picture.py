"""The map on a canvas of our own: all points, found tokens, neighbours, the path of h.

The names of the rows and their points are mounted apart from the map, as bytes. Streamlit sends an
element again only when it changed, so a click sends what is marked, and nothing else.

Layout of the bytes: a uint32 with the length of a JSON header (padded with spaces to four bytes),
the header, then the arrays that `canvas/payloads.mjs` reads, little-endian. 262,144 tokens take
4.3 MB of names, sent once for a model, and 2.1 MB of points for each view and pair of axes.
"""

from __future__ import annotations

import json
import re
import struct
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from tiedviz.charts.palette import INK, KIND_COLOURS, LIVE, PAPER, RAMP
from tiedviz.ui.caches import map_payload
from tiedviz.ui.token_map.drawn import DrawnMap, kind_counts, payload_key
from tiedviz.ui.token_map.neighbours import MapQuestion, choose
from tiedviz.words.numbers import count
from tiedviz.words.token_kinds import KIND_HELP, TokenKind
from tiedviz.words.tokens import shorten

if TYPE_CHECKING:
    import numpy as np

    from tiedviz.compute.token_map.path import HiddenPath
    from tiedviz.compute.token_map.rows import NamedRows
    from tiedviz.models.loaded import LoadedModel


_LONGEST = 120  # characters of one token; the rest of a longer one is cut out of its middle

CANVAS_KEY = "token map"
REGION_KEY = "map region"
_HEIGHT = 540
# the map's modules, each after those it imports
_MODULES = ("payloads", "pointer", "splat", "marks", "view", "map")
_FOLDER = Path(__file__).parent / "canvas"


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


@cache
def _source(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")


def bundle(*names: str) -> str:
    """These modules as the one that Streamlit takes; what the last one exports is the component."""
    *before, last = [
        re.sub(r"^import .*\n", "", _source(f"{name}.mjs"), flags=re.MULTILINE) for name in names
    ]
    before = [re.sub(r"^export (default )?", "", each, flags=re.MULTILINE) for each in before]
    return "\n".join([*before, last])


def _component() -> Any:
    """Registered at every run, as a new server process knows nothing of it."""
    return st.components.v2.component(
        "tiedviz_token_map",
        html=_source("map.html"),
        css=_source("map.css"),
        js=bundle(*_MODULES),
    )


def _holder() -> Any:
    """A component that draws nothing: it takes bytes in, for the map beside it."""
    return st.components.v2.component("tiedviz_token_map_bytes", js=bundle("payloads"))


def picture(
    loaded: LoadedModel, drawn: DrawnMap, ask: MapQuestion, path: HiddenPath | None
) -> None:
    """Draw the map. A click chooses a token, a dragged rectangle a region."""
    hold, mount = _holder(), _component()
    source = loaded.source  # all that a callback may hold: the session keeps it while it lasts
    with st.container(gap=None):
        hold(key="token map names", data=map_payload(loaded), height=1)
        hold(key="token map points", data=points_payload(drawn.key, drawn.points), height=1)
        mount(
            key=CANVAS_KEY,
            data=_marks(loaded, drawn, ask, path),
            on_pick_change=lambda: _take_pick(source),
            on_region_change=_take_region,
        )


def _marks(
    loaded: LoadedModel, drawn: DrawnMap, ask: MapQuestion, path: HiddenPath | None
) -> dict[str, Any]:
    """What the canvas needs besides the names and points; a few kilobytes."""
    rows, counts = drawn.named.rows, kind_counts(drawn)
    lengths = rows.norms[drawn.visible]
    return {
        "names": names_key(loaded.key),
        "points": drawn.key,
        "height": _HEIGHT,
        "label": _label(loaded, drawn),
        "axes": drawn.axes,
        "short": drawn.short_axes,
        "box": {"low": drawn.box.low.tolist(), "high": drawn.box.high.tolist()},
        "colours": {"live": LIVE, "paper": PAPER, "ink": INK},
        "norms": [float(lengths.min()), float(lengths.max())],
        "ramp": RAMP,
        "kinds": [
            {
                "name": kind.value,
                "colour": KIND_COLOURS[kind],
                "count": counts[code],
                "help": KIND_HELP[kind],
                "drawn": kind is not TokenKind.NO_TOKEN or drawn.choice.empty_rows,
            }
            for code, kind in enumerate(TokenKind)
        ],
        "chosen": ask.row,
        "neighbours": [] if ask.near is None else ask.near.ids.tolist(),
        "crosses": _crosses(loaded, drawn, ask),
        "path": _path(drawn, path) if drawn.choice.path else [],
    }


def _label(loaded: LoadedModel, drawn: DrawnMap) -> str:
    across, up = drawn.axes
    return (
        f"Map of {count(int(drawn.visible.sum()))} rows of E of {loaded.title}; across {across}, "
        f"up {up}. Arrow keys move, plus and minus zoom, 0 shows all, Enter chooses the token in "
        "the middle, R takes what is in view as the region."
    )


def _crosses(loaded: LoadedModel, drawn: DrawnMap, ask: MapQuestion) -> list[dict[str, Any]]:
    """Places that are no row: a sum of tokens, and in the raw view the zero vector."""
    crosses = []
    axes = list(drawn.choice.axes)
    if drawn.choice.view == "raw":
        crosses.append({"x": 0.0, "y": 0.0, "label": "zero vector"})
    if ask.total is not None and ask.near is not None:
        vector = ask.total.vector(loaded.embedding).numpy()
        x, y = drawn.projection.place(vector[None])[0, axes]
        crosses.append({"x": float(x), "y": float(y), "label": "the sum"})
    return crosses


def _path(drawn: DrawnMap, path: HiddenPath | None) -> list[dict[str, Any]]:
    """The states on the same axes; none where they are of another width than E."""
    if path is None or path.h.shape[1] != drawn.projection.components.shape[1]:
        return []
    placed = drawn.projection.place(path.h.numpy())[:, list(drawn.choice.axes)]
    return [
        {"x": float(x), "y": float(y), "label": f"h_{layer}"}
        for layer, (x, y) in zip(path.layers, placed, strict=True)
        if isfinite(x) and isfinite(y)  # a state that is all zeros has no direction
    ]


def _take_pick(source: str) -> None:
    picked = (st.session_state.get(CANVAS_KEY) or {}).get("pick")
    if isinstance(picked, int) and picked >= 0:
        choose(source, picked)


def _take_region() -> None:
    region = (st.session_state.get(CANVAS_KEY) or {}).get("region")
    if isinstance(region, dict):
        st.session_state[REGION_KEY] = region
