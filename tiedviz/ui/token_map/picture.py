"""The map on a canvas of our own: all points, found tokens, neighbours, the path of h.

The names of the rows and their points are mounted apart from the map, as bytes. Streamlit sends an
element again only when it changed, so a click sends what is marked, and nothing else.
"""

from __future__ import annotations

import re
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from tiedviz.charts.palette import INK, KIND_COLOURS, LIVE, PAPER, RAMP
from tiedviz.ui.caches import map_payload
from tiedviz.ui.token_map.chosen import Asked, choose
from tiedviz.ui.token_map.drawn import Drawn, kind_counts
from tiedviz.ui.token_map.payload import names_key, points_payload
from tiedviz.words.numbers import count
from tiedviz.words.token_kinds import KIND_HELP, Kind

if TYPE_CHECKING:
    from tiedviz.compute.token_map.path import HiddenPath
    from tiedviz.models.loaded import LoadedModel

CANVAS_KEY = "token map"
REGION_KEY = "map region"
_HEIGHT = 540
# the map's modules, each after those it imports
_MODULES = ("payloads", "pointer", "splat", "marks", "view", "map")
_FOLDER = Path(__file__).parent / "canvas"


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


def picture(loaded: LoadedModel, drawn: Drawn, ask: Asked, path: HiddenPath | None) -> None:
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
    loaded: LoadedModel, drawn: Drawn, ask: Asked, path: HiddenPath | None
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
                "drawn": kind is not Kind.NO_TOKEN or drawn.choice.empty_rows,
            }
            for code, kind in enumerate(Kind)
        ],
        "chosen": ask.row,
        "neighbours": [] if ask.near is None else ask.near.ids.tolist(),
        "crosses": _crosses(loaded, drawn, ask),
        "path": _path(drawn, path) if drawn.choice.path else [],
    }


def _label(loaded: LoadedModel, drawn: Drawn) -> str:
    across, up = drawn.axes
    return (
        f"Map of {count(int(drawn.visible.sum()))} rows of E of {loaded.title}; across {across}, "
        f"up {up}. Arrow keys move, plus and minus zoom, 0 shows all, Enter chooses the token in "
        "the middle, R takes what is in view as the region."
    )


def _crosses(loaded: LoadedModel, drawn: Drawn, ask: Asked) -> list[dict[str, Any]]:
    """Places that are no row: a sum of tokens, and in the raw view the zero vector."""
    crosses = []
    axes = list(drawn.choice.axes)
    if drawn.choice.view == "raw":
        crosses.append({"x": 0.0, "y": 0.0, "label": "zero vector"})
    if ask.walk is not None and ask.near is not None:
        vector = ask.walk.vector(loaded.embedding).numpy()
        x, y = drawn.projection.place(vector[None])[0, axes]
        crosses.append({"x": float(x), "y": float(y), "label": "the sum"})
    return crosses


def _path(drawn: Drawn, path: HiddenPath | None) -> list[dict[str, Any]]:
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
