"""One logit as a waterfall: its products, the rest, what the model does to the sum, the total."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import altair as alt
import pandas as pd

from tiedviz.charts.filled import FilledChart, names_axis, no_rows, specified
from tiedviz.charts.palette import INPUT, LIVE, OTHER, OUTPUT

_STEP = 22
_COLOURS = {"adds": INPUT, "takes away": OUTPUT, "the rest": OTHER, "the logit": LIVE}


def waterfall(steps: pd.DataFrame) -> FilledChart:
    """Bars from `start` to `end`, in the order of the rows.

    Columns used: step (label), start, end, value, detail, kind (a key of the legend: "adds",
    "takes away", "the rest", "the logit").
    """
    rows = steps.assign(at=range(1, len(steps) + 1))
    return FilledChart(_waterfall(len(rows)), rows, {"names": list(steps["step"])})


@lru_cache(maxsize=32)
def _waterfall(steps: int) -> Mapping[str, Any]:
    names = alt.param("names", value=[])
    base = alt.Chart(no_rows()).encode(
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
    return specified(chart.properties(height=_STEP * steps + 80))
