"""The lens: in each cell the token that layer would say, and a few tokens along the layers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import altair as alt
import pandas as pd

from tiedviz.charts.axes import PERCENT_LABEL
from tiedviz.charts.palette import (
    DARK_INK,
    FAINT,
    INPUT,
    LIGHT_INK,
    LIVE,
    OTHER,
    OUTPUT,
    POSITIONS,
    SHARED,
    STRONG,
)
from tiedviz.charts.template import TemplateChart, chart_template, rows_to_come
from tiedviz.words.tokens import shorten

PICK = "cell"
"""Name of the selection: a clicked cell comes back as `{"cell": [{"layer": …, "position": …}]}`."""

# Where the two inks meet, both still have a contrast of 4 to the cell.
_INKS_MEET = 0.74
_ROW = 23
_AROUND = 150  # axes and legend


@dataclass(frozen=True)
class Shade:
    """One way to colour the cells.

    Attributes:
        field: the column it shows.
        title: of the legend.
        low, high: ends of the scale.
        low_is_strong: whether the smallest value has the strongest colour.
        log: whether the scale is logarithmic.
    """

    field: str
    title: str
    low: float
    high: float
    low_is_strong: bool
    log: bool = False

    def strength(self, value: float) -> float:
        """0 for the faintest colour, 1 for the strongest."""
        place = _place(value, self.low, self.high, self.log)
        return 1 - place if self.low_is_strong else place


def _place(value: float, low: float, high: float, log: bool) -> float:
    if log:
        value, low, high = math.log(value), math.log(low), math.log(high)
    return min(1.0, max(0.0, (value - low) / (high - low)))


def shades(rows: int) -> dict[str, Shade]:
    """The ways to colour cells of a vocabulary of `rows` tokens, by the name a person picks."""
    return {
        "rank": Shade("final_rank", "rank of the final answer", 1, max(rows, 2), True, log=True),
        "probability": Shade("probability", "probability of the token shown", 0, 1, False),
        "entropy": Shade("entropy", "entropy in nats", 0, math.log(max(rows, 2)), True),
    }


def lens_cells(
    cells: pd.DataFrame, shade: Shade, columns: Sequence[str], picked: tuple[int, int]
) -> TemplateChart:
    """A rectangle with its text for each row of `cells`, layer 0 at the bottom.

    Args:
        cells: columns layer, position, id, text, probability, entropy, final_text, final_rank.
        shade: what the colour shows.
        columns: the tokens read, one for each position in order of appearance; they label the axis.
        picked: layer and position of the cell under inspection, drawn with an amber edge.

    Cells are keyed by layer and position, so equal texts stay apart.
    """
    layer, position = picked
    rows = cells.assign(
        label=[shorten(text, 20) for text in cells["text"]],
        on_dark=[shade.strength(value) > _INKS_MEET for value in cells[shade.field]],
        picked=(cells["layer"] == layer) & (cells["position"] == position),
    )
    positions = dict.fromkeys(cells["position"])
    names = {str(at): shorten(text, 18) for at, text in zip(positions, columns, strict=True)}
    return TemplateChart(_cells(shade, rows["layer"].nunique()), rows, {"names": names})


@lru_cache(maxsize=32)
def _cells(shade: Shade, layers: int) -> Mapping[str, Any]:
    base = alt.Chart(rows_to_come()).encode(x=_ACROSS, y=_UP)
    pick = alt.selection_point(name=PICK, fields=["layer", "position"], on="click", empty=False)
    # a condition: a field with `scale=None` beside the scale of the cells breaks Vega-Lite
    ink = alt.condition(alt.datum.on_dark, alt.value(LIGHT_INK), alt.value(DARK_INK))
    texts = base.mark_text(
        font="monospace",
        fontSize=11,
        limit=alt.ExprRef("bandwidth('x') - 4"),
        cursor="pointer",
    ).encode(text="label:N", color=ink, tooltip=_TOOLTIP)
    edge = base.mark_rect(filled=False, stroke=LIVE, strokeWidth=3).transform_filter(
        alt.datum.picked
    )
    rectangles = _rectangles(base.encode(tooltip=_TOOLTIP), shade).add_params(pick)
    chart = (rectangles + texts + edge).add_params(alt.param("names", value={}))
    return chart_template(chart.properties(height=_ROW * layers + _AROUND))


def _rectangles(base: alt.Chart, shade: Shade) -> alt.Chart:
    ends = [STRONG, FAINT] if shade.low_is_strong else [FAINT, STRONG]
    scale = alt.Scale(
        type="log" if shade.log else "linear",
        domain=[shade.low, shade.high],
        range=ends,
        interpolate="rgb",
    )
    legend = alt.Legend(
        orient="top", title=shade.title, gradientLength=260, gradientThickness=10, titleLimit=300,
        format=",.6~g", tickCount=4, titleFontWeight="normal",
    )  # fmt: skip
    return base.mark_rect(cursor="pointer", stroke=LIGHT_INK, strokeWidth=0.6).encode(
        color=alt.Color(f"{shade.field}:Q", scale=scale, legend=legend)
    )


# Positions from left to right, labelled with the tokens that were read.
_ACROSS = alt.X(
    "position:O",
    axis=alt.Axis(
        labelExpr="names[datum.value]",
        labelFont="monospace",
        labelAngle=-35,
        labelLimit=110,
        labelOverlap=False,
        title="token read at each position",
        ticks=False,
        domain=False,
    ),
    scale=alt.Scale(padding=0),
)
_UP = alt.Y(
    "layer:O",
    sort="descending",
    axis=alt.Axis(title="layer", ticks=False, domain=False, labelOverlap=False, labelFlush=False),
    scale=alt.Scale(padding=0),
)
_TOOLTIP = [
    alt.Tooltip("layer:O", title="layer"),
    alt.Tooltip("position:O", title="position"),
    alt.Tooltip("text:N", title="would say"),
    alt.Tooltip("id:Q", title="id", format="d"),
    alt.Tooltip("probability:Q", title="probability", format=".6f"),
    alt.Tooltip("entropy:Q", title="entropy, nats", format=".3f"),
    alt.Tooltip("final_text:N", title="final answer here"),
    alt.Tooltip("final_rank:Q", title="its rank", format=",d"),
]


MEASURES = ("rank", "logit", "probability")

_COLOURS = (LIVE, SHARED, INPUT, OUTPUT, OTHER, POSITIONS)
_DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4], [12, 3])
_HEIGHT = 330


def lens_lines(lines: pd.DataFrame, measure: str, layer: int) -> TemplateChart:
    """One line a token from layer 0 to L, told apart by colour and dashes.

    Args:
        lines: columns order (0 is the final answer), id, text, layer, rank, logit, probability.
        measure: "rank" (logarithmic, 1 at the top), "logit" or "probability".
        layer: the one under inspection, marked by a rule.
    """
    tokens = lines.drop_duplicates("order")
    texts = [shorten(text, 16) for text in tokens["text"]]
    names = [f"{text} #{id}" for text, id in zip(texts, tokens["id"], strict=True)]
    rows = lines.assign(inspected=(lines["order"] == 0) & (lines["layer"] == layer))
    return TemplateChart(_lines(measure, len(tokens)), rows, {"names": names})


@lru_cache(maxsize=32)
def _lines(measure: str, tokens: int) -> Mapping[str, Any]:
    orders = list(range(tokens))
    legend = alt.Legend(
        orient="bottom", title=None, labelExpr="names[datum.value]", labelFont="monospace",
        columns=2, labelLimit=220, symbolType="stroke", symbolSize=500, symbolStrokeWidth=2.5,
    )  # fmt: skip
    base = alt.Chart(rows_to_come()).encode(
        x=alt.X("layer:Q", title="layer", axis=alt.Axis(tickMinStep=1, grid=False, format="d"))
    )
    here = base.mark_rule(color=LIVE, strokeDash=[3, 3]).transform_filter(alt.datum.inspected)
    followed = base.encode(
        y=_upright(measure),
        color=alt.Color(
            "order:N",
            scale=alt.Scale(domain=orders, range=list(_COLOURS[:tokens])),
            legend=legend,
        ),
        tooltip=[
            alt.Tooltip("text:N", title="token"),
            alt.Tooltip("id:Q", title="id", format="d"),
            alt.Tooltip("layer:Q", title="layer", format="d"),
            alt.Tooltip("rank:Q", title="rank", format=",d"),
            alt.Tooltip("logit:Q", title="logit", format=".4f"),
            alt.Tooltip("probability:Q", title="probability", format=".6f"),
        ],
    )
    dashes = alt.Scale(domain=orders, range=list(_DASHES[:tokens]))
    paths = followed.mark_line(strokeWidth=2).encode(
        strokeDash=alt.StrokeDash("order:N", scale=dashes, legend=legend)
    )
    points = followed.mark_point(filled=True, size=34, opacity=1)
    chart = (here + paths + points).add_params(alt.param("names", value=[]))
    return chart_template(chart.properties(height=_HEIGHT))


def _upright(measure: str) -> alt.Y:
    """The vertical, with its scale and its axis."""
    if measure == "rank":
        return alt.Y(
            "rank:Q",
            title="rank, 1 is the answer",
            scale=alt.Scale(type="log", reverse=True, domainMin=1, nice=False),
            axis=alt.Axis(format=",d", gridOpacity=0.4, tickCount=5),
        )
    if measure == "probability":
        axis = alt.Axis(labelExpr=PERCENT_LABEL, gridOpacity=0.4)
        return alt.Y("probability:Q", title="probability", axis=axis)
    axis = alt.Axis(gridOpacity=0.4)
    return alt.Y("logit:Q", title="logit", scale=alt.Scale(zero=False), axis=axis)
