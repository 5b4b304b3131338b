"""The map as a still picture, and the spectrum of its components."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from io import BytesIO

import altair as alt
import numpy as np
import pandas as pd
from PIL import Image, ImageDraw, ImageFont

from tiedviz.charts.axes import PERCENT_LABEL
from tiedviz.charts.palette import ATTENTION, INK, KIND_COLOURS, LIVE, SHARED, rgb
from tiedviz.words.token_kinds import TokenKind
from tiedviz.words.tokens import shorten

WIDTH, HEIGHT = 840, 520
_TITLE = 34


def raster(
    points: np.ndarray, kinds: np.ndarray, drawn: np.ndarray, low: np.ndarray, high: np.ndarray
) -> bytes:
    """All points as a PNG with a clear background, each pixel the mean colour of its points.

    Args:
        points: (V, 2).
        kinds: (V,) places in `TokenKind`.
        drawn: (V,) which are drawn.
        low: (2,) the lower left corner.
        high: (2,) the upper right one.
    """
    scale = np.array([WIDTH, HEIGHT]) / (high - low)
    with np.errstate(invalid="ignore"):
        at = (points - low) * scale
        inside = drawn & (at >= 0).all(axis=1) & (at < [WIDTH, HEIGHT]).all(axis=1)
    column, line = at[inside].astype(int).T
    pixel = (HEIGHT - 1 - line) * WIDTH + column
    count = np.bincount(pixel, minlength=WIDTH * HEIGHT)
    table = np.array([rgb(KIND_COLOURS[kind]) for kind in TokenKind], float)[kinds[inside]]
    sums = [np.bincount(pixel, table[:, part], WIDTH * HEIGHT) for part in range(3)]
    held = np.maximum(count, 1)
    cover = np.where(count > 0, np.clip(0.7 + 0.3 * np.log(held) / np.log(24), 0, 1), 0)
    channels = [*(total / held for total in sums), cover * 255]
    image = np.stack(channels, axis=1).astype(np.uint8).reshape(HEIGHT, WIDTH, 4)
    buffer = BytesIO()
    Image.fromarray(image, "RGBA").save(buffer, "PNG")
    return buffer.getvalue()


def on_white(png: bytes, title: str) -> bytes:
    """The picture on a white background under a line that says what it shows."""
    picture = Image.open(BytesIO(png))
    paper = Image.new("RGBA", (picture.width, picture.height + _TITLE), "white")
    paper.alpha_composite(picture.convert("RGBA"), (0, _TITLE))
    text = title.encode("latin-1", "replace").decode("latin-1")  # what the font surely has
    draw = ImageDraw.Draw(paper)
    size = next(
        each for each in range(15, 6, -1)
        if each == 7 or draw.textlength(text, ImageFont.load_default(each)) < WIDTH - 16
    )  # fmt: skip
    draw.text((8, 9), text, fill=INK, font=ImageFont.load_default(size))
    buffer = BytesIO()
    paper.convert("RGB").save(buffer, "PNG")
    return buffer.getvalue()


def raster_chart(
    png: bytes, low: np.ndarray, high: np.ndarray, axes: Sequence[str], named: pd.DataFrame
) -> alt.LayerChart:
    """The still picture on axes, with a few tokens named.

    Args:
        png: from `raster`.
        low: (2,) the lower left corner.
        high: (2,) the upper right one.
        axes: the two titles.
        named: columns id, text, x, y; the first row is the chosen token.
    """
    url = "data:image/png;base64," + base64.b64encode(png).decode()
    centre = (low + high) / 2
    middle = pd.DataFrame({"url": [url], "x": [float(centre[0])], "y": [float(centre[1])]})
    across, up = (
        alt.Scale(domain=[float(low[axis]), float(high[axis])], nice=False) for axis in (0, 1)
    )
    x = alt.X("x:Q", title=axes[0], scale=across)
    y = alt.Y("y:Q", title=axes[1], scale=up)
    picture = (
        alt.Chart(middle)
        .mark_image(width=alt.ExprRef("width"), height=alt.ExprRef("height"), aspect=False)
        .encode(x=x, y=y, url="url:N")
    )
    shown = named.assign(
        label=[shorten(text, 18) for text in named["text"]], first=range(len(named))
    )
    marks = alt.Chart(shown).encode(
        x=x,
        y=y,
        tooltip=[alt.Tooltip("text:N", title="token"), alt.Tooltip("id:Q", format="d")],
        color=alt.condition("datum.first == 0", alt.value(LIVE), alt.value(ATTENTION)),
    )
    rings = marks.mark_point(size=70, strokeWidth=2)
    texts = marks.mark_text(align="left", dx=8, font="monospace").encode(text="label:N")
    chart: alt.LayerChart = picture + rings + texts
    return chart.properties(
        height=HEIGHT,
        description="All tokens as points, denser places darker, the chosen token and its "
        "neighbours named",
    )


def scree(spectrum: np.ndarray, shown: Sequence[int], most: int = 50) -> alt.LayerChart:
    """Each component's part of the variance, the two on the map lit, and the sum so far.

    Args:
        spectrum: parts, largest first.
        shown: the components on the map, from 1.
        most: how many bars at most.
    """
    frame = pd.DataFrame(
        {
            "component": np.arange(1, len(spectrum) + 1),
            "part": spectrum,
            "so_far": np.cumsum(spectrum),
        }
    ).head(most)
    percent = alt.Axis(labelExpr=PERCENT_LABEL, gridOpacity=0.4)
    base = alt.Chart(frame).encode(
        x=alt.X("component:O", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
        tooltip=[
            alt.Tooltip("component:O"),
            alt.Tooltip("part:Q", title="of the variance", format=".3%"),
            alt.Tooltip("so_far:Q", title="with those before", format=".2%"),
        ],
    )
    lit = f"indexof([{shown[0]}, {shown[1]}], datum.component) >= 0"
    bars = base.mark_bar().encode(
        y=alt.Y("part:Q", title="part of the variance", axis=percent),
        color=alt.condition(lit, alt.value(LIVE), alt.value(SHARED)),
    )
    tips = base.mark_point(shape="diamond", filled=True, size=70, color=LIVE).encode(y="part:Q")
    # lit by a mark as well, not by colour alone
    chart: alt.LayerChart = bars + tips.transform_filter(lit)
    return chart.properties(height=260)
