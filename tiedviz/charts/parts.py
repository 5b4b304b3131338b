"""Where the parameters go: one bar a model, cut into parts."""

from __future__ import annotations

import altair as alt
import pandas as pd

from tiedviz.charts.palette import INPUT, OUTPUT, SHARED
from tiedviz.charts.share import SIZE_LABEL

TIED_TABLE = "embedding E, tied"
_BAR = 34
_AROUND = 200  # axis and legend; Streamlit fits the whole chart into the height
# The vocabulary has its colours; the body is told apart by lightness and by its order.
_COLOURS = {
    TIED_TABLE: SHARED,
    "embedding E": INPUT,
    "separate head W": OUTPUT,
    "positions and types": "#b08968",
    "attention": "#5f6b80",
    "feed-forward": "#8d97ab",
    "norms": "#b98aa0",
    "other": "#a3a3a3",
}


def parts_chart(pieces: pd.DataFrame, relative: bool) -> alt.Chart:
    """Stacked bars, in the order of the rows.

    Args:
        pieces: columns model (unique for each bar), part (a key of the legend), order (of the
            parts), numbers, fraction (of the model's total).
        relative: whether all bars are equally long.
    """
    field, title = ("fraction", "part of all parameters") if relative else ("numbers", "parameters")
    label = "format(datum.value * 100, '.3~g') + ' %'" if relative else SIZE_LABEL
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
