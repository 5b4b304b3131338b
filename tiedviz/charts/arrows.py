"""h_L as an arrow, and token vectors seen along it."""

from __future__ import annotations

from itertools import pairwise

import altair as alt
import pandas as pd

from tiedviz.charts.palette import LIVE, OTHER
from tiedviz.words.tokens import shorten

_HEIGHT = 300


def arrows(tips: pd.DataFrame, colour: str) -> alt.LayerChart:
    """Rows as lines from the origin; h_L along the horizontal, drawn as long as the longest row.

    Further right is a larger dot product with h_L, exactly; the vertical is one direction beside.

    Args:
        tips: rank (unique), label, along, across, hidden, logit.
        colour: of the rows.
    """
    data = tips.assign(short=[shorten(text, 14) for text in tips["label"]])
    reach = max(float((data["along"] ** 2 + data["across"] ** 2).max() ** 0.5), 1e-9)
    height = max(float(data["across"].max() - data["across"].min()), 0.2 * reach)
    data["beside"] = _spread(data["across"].tolist(), gap=0.075 * height)
    x = alt.X(
        "along:Q",
        title="along h_L  (h_L · e / ‖h_L‖)",
        scale=alt.Scale(domain=[min(float(data["along"].min()), 0) - 0.1 * reach, 1.25 * reach]),
        axis=alt.Axis(grid=False, tickCount=5),
    )
    y = alt.Y("across:Q", title="beside it", axis=alt.Axis(grid=False, tickCount=5))
    base = alt.Chart(data).encode(
        x=x,
        y=y,
        tooltip=[
            alt.Tooltip("label:N", title="token"),
            alt.Tooltip("logit:Q", title="h_L · e", format=".4f"),
            alt.Tooltip("along:Q", title="along h_L", format=".4f"),
            alt.Tooltip("across:Q", title="beside it", format=".4f"),
            alt.Tooltip("hidden:Q", title="not shown", format=".4f"),
        ],
    )
    lines = base.mark_rule(color=colour, opacity=0.5, strokeWidth=2).encode(
        x2=alt.datum(0), y2=alt.datum(0), detail="rank:N"
    )
    points = base.mark_point(filled=True, color=colour, size=55, opacity=1)
    names = base.mark_text(align="left", dx=7, color=OTHER, font="monospace", fontSize=12)
    h = pd.DataFrame({"along": [reach], "across": [0.0], "short": ["h_L"]})
    arrow = alt.Chart(h).encode(x="along:Q", y="across:Q")
    shaft = arrow.mark_rule(color=LIVE, strokeWidth=3).encode(x2=alt.datum(0))
    head = arrow.mark_point(shape="triangle-right", filled=True, color=LIVE, size=170, opacity=1)
    name = arrow.mark_text(align="left", dx=6, dy=-14, color=LIVE, fontSize=14, fontWeight="bold")
    chart: alt.LayerChart = (
        lines
        + points
        + names.encode(text="short:N", y="beside:Q")
        + shaft
        + head
        + name.encode(text="short:N")
    )
    return chart.properties(height=_HEIGHT)


def _spread(places: list[float], gap: float) -> list[float]:
    """Heights for labels, at least `gap` apart, in the order of `places` and near them."""
    order = sorted(range(len(places)), key=places.__getitem__)
    heights = list(places)
    for before, after in pairwise(order):
        heights[after] = max(heights[after], heights[before] + gap)
    moved = sum(heights) - sum(places)
    return [height - moved / max(len(places), 1) for height in heights]
