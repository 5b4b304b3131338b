"""A table of numbers as a picture: one square a number, one row lit."""

from __future__ import annotations

import json

import altair as alt
import pandas as pd

from tiedviz.charts.palette import INPUT, LIVE, OUTPUT
from tiedviz.words.tokens import shorten

_STEP = 24
_AROUND = 140  # axis and legend; Streamlit fits the whole chart into the height


def table_picture(cells: pd.DataFrame) -> alt.Chart:
    """Rows down, columns across: the larger a number, the fuller its square; one row framed.

    Args:
        cells: row (id), label (of the row), column, value, lit.
    """
    rows = cells.drop_duplicates("row").sort_values("row")
    pairs = zip(rows["row"], rows["label"], strict=True)
    names = json.dumps({str(id): f"{shorten(text, 12)}  {id}" for id, text in pairs})
    data = cells.assign(sign=["below 0" if each < 0 else "above 0" for each in cells["value"]])
    return (
        alt.Chart(data)
        .mark_rect(strokeWidth=2)
        .encode(
            x=alt.X(
                "column:O",
                title="column",
                axis=alt.Axis(labelAngle=0, labelOverlap=True, ticks=False, domain=False),
            ),
            y=alt.Y(
                "row:O",
                title=None,
                axis=alt.Axis(
                    labelExpr=f"{names}[datum.label]",
                    labelFont="monospace",
                    labelOverlap=False,
                    labelLimit=160,
                    ticks=False,
                    domain=False,
                ),
            ),
            color=alt.Color(
                "sign:N",
                scale=alt.Scale(domain=["above 0", "below 0"], range=[INPUT, OUTPUT]),
                legend=alt.Legend(orient="bottom", title=None),
            ),
            fillOpacity=alt.FillOpacity("size:Q", scale=alt.Scale(range=[0.06, 1.0]), legend=None),
            stroke=alt.condition(alt.datum.lit, alt.value(LIVE), alt.value("transparent")),
            tooltip=[
                alt.Tooltip("label:N", title="token"),
                alt.Tooltip("row:O", title="row (ID)"),
                alt.Tooltip("column:O", title="column"),
                alt.Tooltip("value:Q", title="number", format=".5f"),
            ],
        )
        .transform_calculate(size="abs(datum.value)")
        .properties(height=_STEP * len(rows) + _AROUND)
    )


def place_in_table(row: int, rows: int) -> alt.LayerChart:
    """All rows of the table as one bar, and where one of them lies."""
    scale = alt.Scale(domain=[0, max(rows - 1, 1)], nice=False)
    axis = alt.Axis(grid=False, format=",d", tickCount=4, ticks=False)
    bar = (
        alt.Chart(pd.DataFrame({"from": [0], "to": [rows - 1]}))
        .mark_rule(strokeWidth=10, opacity=0.35, color=INPUT)
        .encode(x=alt.X("from:Q", scale=scale, title="row (ID)", axis=axis), x2="to:Q")
    )
    here = (
        alt.Chart(pd.DataFrame({"row": [row]}))
        .mark_tick(color=LIVE, thickness=3, size=22)
        .encode(x=alt.X("row:Q", scale=scale), tooltip=[alt.Tooltip("row:Q", format=",d")])
    )
    chart: alt.LayerChart = bar + here
    return chart.properties(height=70)
