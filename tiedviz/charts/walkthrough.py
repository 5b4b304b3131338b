"""A few words with a number each, in the order of their ids, as bars."""

from __future__ import annotations

import json

import altair as alt
import pandas as pd

from tiedviz.charts.palette import INPUT, LIVE, OTHER, OUTPUT

_STEP = 26


def word_bars(frame: pd.DataFrame, measure: str, colour: str, lit: int) -> alt.LayerChart:
    """One bar a word, its number at the end.

    Args:
        frame: columns word and `measure`; the position of a row is the word's id.
        measure: the column that is drawn, also the title of the horizontal.
        colour: of the bars.
        lit: id of the word whose bar is amber.
    """
    data = frame[["word", measure]].assign(id=range(len(frame)))
    names = json.dumps(list(data["word"]))
    base = alt.Chart(data).encode(
        y=alt.Y("id:O", title=None, axis=_names_axis(names)),
        x=alt.X(
            f"{measure}:Q",
            title=measure,
            scale=alt.Scale(domain=_room(data[measure]), nice=False),
            axis=alt.Axis(grid=False, tickCount=4),
        ),
        tooltip=[
            alt.Tooltip("word:N", title="word"),
            alt.Tooltip(f"{measure}:Q", title=measure, format=".6f"),
        ],
    )
    bars = base.mark_bar(cornerRadiusEnd=2).encode(
        color=alt.condition(alt.datum.id == lit, alt.value(LIVE), alt.value(colour))
    )
    at_end = alt.expr(f"datum['{measure}'] < 0 ? 'right' : 'left'")
    beside = alt.expr(f"datum['{measure}'] < 0 ? -4 : 4")
    ends = base.mark_text(align=at_end, dx=beside, color=OTHER).encode(
        text=alt.Text(f"{measure}:Q", format=".4f")
    )
    chart: alt.LayerChart = bars + ends
    return chart.properties(height=_STEP * len(data) + 60)


def _room(numbers: pd.Series) -> list[float]:
    """From below the least to above the largest, with room for what is written at the ends."""
    low, high = min(float(numbers.min()), 0.0), max(float(numbers.max()), 0.0)
    span = max(high - low, 1e-9)
    return [low - (0.22 * span if low < 0 else 0), high + (0.22 * span if high > 0 else 0)]


def two_sides(moved: pd.DataFrame) -> alt.Chart:
    """How long a gradient each row gets through the input and through the output.

    Args:
        moved: columns word, input_side, output_side; the position of a row is the word's id.
    """
    sides = {"input_side": "through the input", "output_side": "through the output"}
    data = (
        moved.assign(id=range(len(moved)))
        .melt(["id", "word"], list(sides), "side", "length")
        .replace({"side": sides})
    )
    names = json.dumps(list(moved["word"]))
    return (
        alt.Chart(data)
        .mark_bar(cornerRadiusEnd=2)
        .encode(
            y=alt.Y("id:O", title=None, axis=_names_axis(names)),
            yOffset=alt.YOffset("side:N", sort=list(sides.values())),
            x=alt.X("length:Q", title="length of the gradient", axis=alt.Axis(grid=False)),
            color=alt.Color(
                "side:N",
                scale=alt.Scale(domain=list(sides.values()), range=[INPUT, OUTPUT]),
                legend=alt.Legend(orient="bottom", title=None, labelLimit=200),
            ),
            tooltip=[
                alt.Tooltip("word:N", title="row"),
                alt.Tooltip("side:N", title="side"),
                alt.Tooltip("length:Q", title="length", format=".4f"),
            ],
        )
        .properties(height=_STEP * 1.4 * len(moved) + 110)
    )


def drift_line(apart: list[float]) -> alt.LayerChart:
    """‖W − E‖ after each training step.

    Args:
        apart: the distance before the first step, after it, and so on.
    """
    data = pd.DataFrame({"step": range(len(apart)), "distance": apart})
    base = alt.Chart(data).encode(
        x=alt.X(
            "step:Q",
            title="training steps",
            axis=alt.Axis(tickMinStep=1, grid=False, format="d"),
        ),
        y=alt.Y("distance:Q", title="‖W − E‖", axis=alt.Axis(gridOpacity=0.4, tickCount=4)),
        tooltip=["step:Q", alt.Tooltip("distance:Q", format=".4f")],
    )
    line = base.mark_line(color=OUTPUT, strokeWidth=2)
    chart: alt.LayerChart = line + base.mark_point(filled=True, color=OUTPUT, size=40, opacity=1)
    return chart.properties(height=170)


def _names_axis(names: str) -> alt.Axis:
    return alt.Axis(
        labelExpr=f"{names}[datum.value]",
        labelFont="monospace",
        labelOverlap=False,
        ticks=False,
        domain=False,
    )
