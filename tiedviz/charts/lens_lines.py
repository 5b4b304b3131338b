"""A few tokens through the layers: rank, logit or probability, one line each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import altair as alt
import pandas as pd

from tiedviz.charts.axes import PERCENT_LABEL
from tiedviz.charts.palette import INPUT, LIVE, OTHER, OUTPUT, POSITIONS, SHARED
from tiedviz.charts.template import TemplateChart, chart_template, rows_to_come
from tiedviz.words.tokens import shorten

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
