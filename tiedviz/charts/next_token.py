"""The candidates for the next token as bars, and the arithmetic of one logit as a waterfall."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import altair as alt
import pandas as pd

from tiedviz.charts.axes import PERCENT_LABEL, names_axis
from tiedviz.charts.palette import INPUT, LIVE, OTHER, OUTPUT
from tiedviz.charts.template import TemplateChart, chart_template, rows_to_come
from tiedviz.words.numbers import percent
from tiedviz.words.tokens import shorten

PICK = "pick"
"""Name of the selection: a clicked bar comes back as `{"selection": {"pick": [{"id": …}]}}`."""

_MEASURES = {
    "probability": "probability",
    "cosine": "cosine with {state}",
    "distance": "distance from {state}",
}
_BAR, _STEP = 26, 22  # height of a candidate, and of a step of the waterfall
_COLOURS = {"adds": INPUT, "takes away": OUTPUT, "the rest": OTHER, "the logit": LIVE}


def candidate_bars(
    frame: pd.DataFrame, measure: str, colour: str, picked: int, state: str = "h_L"
) -> TemplateChart:
    """One bar for each row of `frame` (columns as from `nearest_tokens`), nearest on top.

    Args:
        frame: rank, id, text, logit and `measure` are used.
        measure: "probability", "cosine" or "distance".
        colour: of the bars.
        picked: id of the token under inspection; its bar is amber.
        state: what the tokens are nearest to.

    Bars are keyed by rank, never by text: two tokens may print alike.
    """
    rows = frame[["rank", "id", "text", measure, "logit"]].assign(
        label=[_end_label(value, measure) for value in frame[measure]]
    )
    names = [shorten(text) for text in frame["text"]]
    template = _bars(measure, _MEASURES[measure].format(state=state), colour, len(rows))
    return TemplateChart(template, rows, {"names": names, "picked": picked})


@lru_cache(maxsize=128)  # the title names the layer
def _bars(measure: str, title: str, colour: str, bars: int) -> Mapping[str, Any]:
    names, picked = alt.param("names", value=[]), alt.param("picked", value=-1)
    pick = alt.selection_point(name=PICK, fields=["id"], on="click", empty=False)
    base = alt.Chart(rows_to_come()).encode(
        y=alt.Y("rank:O", axis=names_axis(180, labelFont="monospace")),
        x=alt.X(f"{measure}:Q", title=title, axis=_x_axis(measure)),
        tooltip=[
            alt.Tooltip("text:N", title="token"),
            alt.Tooltip("id:Q", title="id", format="d"),
            alt.Tooltip("logit:Q", title="logit", format=".4f"),
            alt.Tooltip(f"{measure}:Q", title=title, format=".6f"),
        ],
    )
    drawn = base.mark_bar(cornerRadiusEnd=2, cursor="pointer").encode(
        color=alt.condition("datum.id === picked", alt.value(LIVE), alt.value(colour))
    )
    ends = base.mark_text(align="left", dx=4, color=OTHER).encode(text="label:N")
    chart = (drawn.add_params(pick) + ends).add_params(names, picked)
    return chart_template(chart.properties(height=_BAR * bars + 50))


def _end_label(value: float, measure: str) -> str:
    return percent(value) if measure == "probability" else f"{value:.3f}"


def _x_axis(measure: str) -> alt.Axis:
    if measure == "probability":
        return alt.Axis(labelExpr=PERCENT_LABEL, grid=False, tickCount=4)
    return alt.Axis(grid=False, tickCount=4)


def waterfall(steps: pd.DataFrame) -> TemplateChart:
    """Bars from `start` to `end`, in the order of the rows.

    Columns used: step (label), start, end, value, detail, kind (a key of the legend: "adds",
    "takes away", "the rest", "the logit").
    """
    rows = steps.assign(at=range(1, len(steps) + 1))
    return TemplateChart(_waterfall(len(rows)), rows, {"names": list(steps["step"])})


@lru_cache(maxsize=32)
def _waterfall(steps: int) -> Mapping[str, Any]:
    names = alt.param("names", value=[])
    base = alt.Chart(rows_to_come()).encode(
        y=alt.Y("at:O", axis=names_axis(220)),
        tooltip=[
            alt.Tooltip("step:N", title="step"),
            alt.Tooltip("detail:N", title="product"),
            alt.Tooltip("value:Q", title="adds", format="+.5f"),
            alt.Tooltip("end:Q", title="sum so far", format=".5f"),
        ],
    )
    bars = base.mark_bar(height=14).encode(
        x=alt.X("start:Q", title="sum so far", axis=alt.Axis(grid=False)),
        x2="end:Q",
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())),
            legend=alt.Legend(orient="bottom", title=None),
        ),
    )
    far_end = "max(datum.start, datum.end)"
    values = (
        base.transform_calculate(far=far_end)
        .mark_text(align="left", dx=4, color=OTHER)
        .encode(x="far:Q", text=alt.Text("value:Q", format="+.2f"))
    )
    chart = (bars + values).add_params(names)
    return chart_template(chart.properties(height=_STEP * steps + 80))
