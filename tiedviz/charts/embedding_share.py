"""What the vocabulary costs: share against size, where the parameters go, a card to show around."""

from __future__ import annotations

from io import BytesIO

import altair as alt
import pandas as pd
from PIL import Image, ImageDraw, ImageFont

from tiedviz.charts.axes import PERCENT_LABEL, SIZE_LABEL
from tiedviz.charts.palette import (
    ATTENTION,
    BLANK,
    BLOCKS,
    INK,
    INPUT,
    LEFTOVER,
    LIVE,
    NORMS,
    OTHER,
    OUTPUT,
    PAPER,
    POSITIONS,
    SHARED,
)

PICK = "pick"
"""Name of the selection: a clicked dot comes back as `{"pick": [{"repo_id": …}]}`."""

_LIT = ("tied: one table", "untied: two tables")
_STATES = [*_LIT, "tied, dim", "untied, dim"]
_DASHES = [[1, 0], [7, 3], [2, 3], [9, 3, 2, 3]]
_TOOLTIP = [
    alt.Tooltip("repo_id:N", title="model"),
    alt.Tooltip("tied:N", title="E and W"),
    alt.Tooltip("parameters:Q", title="parameters", format=",d"),
    alt.Tooltip("share:Q", title="share of E (and W)", format=".2%"),
    alt.Tooltip("V:Q", title="V", format=",d"),
    alt.Tooltip("d:Q", title="d", format=",d"),
]
_COLUMNS = ["repo_id", "family", "tied", "parameters", "share", "V", "d"]

TIED_TABLE = "embedding E, tied"
_BAR = 34
_AROUND = 200  # axis and legend; Streamlit fits the whole chart into the height
# The vocabulary has its colours; the body is told apart by lightness and by its order.
_COLOURS = {
    TIED_TABLE: SHARED,
    "embedding E": INPUT,
    "separate head W": OUTPUT,
    "positions and types": POSITIONS,
    "attention": ATTENTION,
    "feed-forward": BLOCKS,
    "norms": NORMS,
    "other": LEFTOVER,
}
_SIZE = (1200, 630)  # what sites that show link previews ask for
_MARGIN = 80


def share_chart(
    frame: pd.DataFrame, lit: list[str], ring: pd.DataFrame, height: int = 440
) -> alt.LayerChart:
    """Share (up) against parameters (across, logarithmic).

    Args:
        frame: columns repo_id, family, tied ("tied" or "untied"), parameters, share, V, d. Models
            are told apart by repo_id, so equal names do not merge.
        lit: up to four families, drawn as lines with their names.
        ring: none or one row with title, parameters and share.
        height: in pixels.
    """
    data = _marked(frame[_COLUMNS], lit)
    across, up = _across(data, ring), _up()
    bright = data[data["family"].isin(lit)]
    layers = [_lines(bright, lit), *_ring(ring), _dots(data), _names(bright), *_ring_name(ring)]
    placed = [layer.encode(x=across, y=up) for layer in layers]
    return alt.layer(*placed).resolve_scale(strokeDash="independent").properties(height=height)


def _marked(data: pd.DataFrame, lit: list[str]) -> pd.DataFrame:
    """With a column that says how a dot looks; lit ones last, so that they lie on top."""
    is_lit, is_tied = data["family"].isin(lit), data["tied"] == "tied"
    state = pd.Series(_STATES[3], index=data.index)
    state[is_tied] = _STATES[2]
    state[is_lit] = _STATES[1]
    state[is_lit & is_tied] = _STATES[0]
    data = data.assign(state=state, lit=is_lit)
    return data.sort_values(["lit", "parameters"], ignore_index=True).drop(columns="lit")


def _across(data: pd.DataFrame, ring: pd.DataFrame) -> alt.X:
    axis = alt.Axis(
        labelExpr=SIZE_LABEL,
        values=[10**power for power in range(3, 14)],
        gridOpacity=0.4,
        labelFlush=False,
    )
    sizes = [*data["parameters"], *ring.get("parameters", [])]
    domain = [min(sizes) * 0.7, max(sizes) * 1.6] if sizes else [1e6, 1e12]
    scale = alt.Scale(type="log", domain=domain, nice=False)
    return alt.X("parameters:Q", title="parameters, each counted once", scale=scale, axis=axis)


def _up() -> alt.Y:
    axis = alt.Axis(labelExpr=PERCENT_LABEL, gridOpacity=0.4)
    return alt.Y("share:Q", title="share of E (and of W where separate)", axis=axis)


def _dots(data: pd.DataFrame) -> alt.Chart:
    """Filled circle: tied; hollow square: untied."""
    legend = alt.Legend(values=list(_LIT), title=None, orient="top", symbolSize=90, symbolOpacity=1)
    fills = [SHARED, "transparent", OTHER, "transparent"]
    lines = [SHARED, OUTPUT, OTHER, OTHER]
    shapes = ["circle", "square"] * 2
    pick = alt.selection_point(name=PICK, fields=["repo_id"], on="click", empty=False)
    return (
        alt.Chart(data)
        .mark_point(strokeWidth=1.6, cursor="pointer")
        .encode(
            shape=alt.Shape("state:N", scale=_scale(shapes), legend=legend),
            stroke=alt.Stroke("state:N", scale=_scale(lines), legend=legend),
            fill=alt.Fill("state:N", scale=_scale(fills), legend=legend),
            opacity=alt.condition(
                alt.FieldOneOfPredicate("state", list(_LIT)), alt.value(1), alt.value(0.55)
            ),
            size=alt.condition(
                alt.FieldOneOfPredicate("state", list(_LIT)), alt.value(85), alt.value(32)
            ),
            tooltip=_TOOLTIP,
        )
        .add_params(pick)
    )


def _scale(looks: list[str]) -> alt.Scale:
    return alt.Scale(domain=_STATES, range=looks)


def _lines(bright: pd.DataFrame, lit: list[str]) -> alt.Chart:
    """One line a family, from its smallest model to its largest."""
    dashes = alt.Scale(domain=lit, range=_DASHES[: len(lit)])
    return (
        alt.Chart(bright)
        .mark_line(color=OTHER, strokeWidth=1.5)
        .encode(
            detail="family:N",
            order="parameters:Q",
            strokeDash=alt.StrokeDash("family:N", scale=dashes, legend=None),
        )
    )


def _names(bright: pd.DataFrame) -> alt.Chart:
    """Each family's name over its smallest model, where the lines lie farthest apart."""
    first = bright.sort_values("parameters").drop_duplicates("family")
    return (
        alt.Chart(first)
        .mark_text(dy=-15, color=OTHER, fontSize=13, fontWeight="bold")
        .encode(text="family:N")
    )


def _ring(ring: pd.DataFrame) -> list[alt.Chart]:
    """A circle around the chosen model, under the marks, so that they take the pointer."""
    if ring.empty:
        return []
    tooltip = [
        alt.Tooltip("title:N", title="chosen"),
        alt.Tooltip("parameters:Q", title="parameters", format=",d"),
        alt.Tooltip("share:Q", title="share", format=".2%"),
    ]
    circle = alt.Chart(ring).mark_point(
        size=340, stroke=LIVE, strokeWidth=3, filled=False, opacity=1
    )
    return [circle.encode(tooltip=tooltip)]


def _ring_name(ring: pd.DataFrame) -> list[alt.Chart]:
    if ring.empty:
        return []
    name = alt.Chart(ring).mark_text(dy=21, color=LIVE, fontSize=13, fontWeight="bold")
    return [name.encode(text="title:N")]


def parts_chart(pieces: pd.DataFrame, relative: bool) -> alt.Chart:
    """Stacked bars, in the order of the rows.

    Args:
        pieces: columns model (unique for each bar), part (a key of the legend), order (of the
            parts), numbers, fraction (of the model's total).
        relative: whether all bars are equally long.
    """
    field, title = ("fraction", "part of all parameters") if relative else ("numbers", "parameters")
    label = PERCENT_LABEL if relative else SIZE_LABEL
    used = [part for part in _COLOURS if part in set(pieces["part"])]
    return (
        alt.Chart(pieces)
        .mark_bar(stroke="white", strokeWidth=0.6, strokeOpacity=0.7)
        .encode(
            y=alt.Y(
                "model:N",
                sort=list(dict.fromkeys(pieces["model"])),
                title=None,
                axis=alt.Axis(labelLimit=170, ticks=False, domain=False, labelOverlap=False),
            ),
            x=alt.X(
                f"{field}:Q",
                title=title,
                stack="zero",
                axis=alt.Axis(labelExpr=label, gridOpacity=0.4, tickCount=5),
            ),
            color=alt.Color(
                "part:N",
                scale=alt.Scale(domain=used, range=[_COLOURS[part] for part in used]),
                legend=alt.Legend(
                    orient="bottom", title=None, columns=2, labelLimit=150, symbolStrokeWidth=0
                ),
            ),
            order="order:Q",
            tooltip=[
                alt.Tooltip("model:N", title="model"),
                alt.Tooltip("part:N", title="part"),
                alt.Tooltip("numbers:Q", title="numbers", format=",d"),
                alt.Tooltip("fraction:Q", title="of the model", format=".2%"),
            ],
        )
        .properties(height=_BAR * pieces["model"].nunique() + _AROUND)
    )


def share_card(headline: str, detail: str, origin: str, tables: list[float]) -> bytes:
    """A PNG of 1,200 × 630 pixels: headline, a bar of the whole model, detail, origin.

    Args:
        headline: as in "62.6 % of Gemma 3 270M is one table."
        detail: one more line.
        origin: where the numbers come from.
        tables: part of the model in E, and in W where that is another matrix.
    """
    image = Image.new("RGB", _SIZE, PAPER)
    draw = ImageDraw.Draw(image)
    width = _SIZE[0] - 2 * _MARGIN
    _fitted(draw, (_MARGIN, 110), headline, 62, width, INK)
    _bar(draw, tables, width)
    _fitted(draw, (_MARGIN, 430), detail, 32, width, INK)
    _fitted(draw, (_MARGIN, 530), origin, 24, width, OTHER)
    buffer = BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def _bar(draw: ImageDraw.ImageDraw, tables: list[float], width: int) -> None:
    """The model as a bar, its tables first."""
    top, bottom = 250, 350
    draw.rectangle((_MARGIN, top, _MARGIN + width, bottom), fill=BLANK)
    colours = [SHARED] if len(tables) == 1 else [INPUT, OUTPUT]
    left = float(_MARGIN)
    for part, colour in zip(tables, colours, strict=True):
        draw.rectangle((left, top, left + part * width, bottom), fill=colour)
        left += part * width


def _fitted(
    draw: ImageDraw.ImageDraw, place: tuple[int, int], text: str, size: int, width: int, ink: str
) -> None:
    """The text in one line, smaller where it would not fit."""
    while size > 12 and draw.textlength(text, ImageFont.load_default(size)) > width:
        size -= 2
    draw.text(place, text, fill=ink, font=ImageFont.load_default(size))
