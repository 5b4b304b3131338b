"""The two sides of a gradient: as wholes, and row by row."""

from __future__ import annotations

import altair as alt
import pandas as pd

from tiedviz.charts.axes import names_axis
from tiedviz.charts.palette import INPUT, OTHER, OUTPUT
from tiedviz.words.tokens import shorten

_SIDES = ["input", "output"]
_COLOURS = alt.Scale(domain=_SIDES, range=[INPUT, OUTPUT])
_STEP = 30


def side_bars(
    *, input_norm: float, output_norm: float, input_rows: int, output_rows: int
) -> alt.LayerChart:
    """Two bars, input above output, each with its norm and how many rows it corrects at its end."""
    data = pd.DataFrame(
        {
            "side": _SIDES,
            "norm": [input_norm, output_norm],
            "rows": [input_rows, output_rows],
            "label": [
                f"{norm:#.4g}, {rows:,} row{'' if rows == 1 else 's'}"
                for norm, rows in ((input_norm, input_rows), (output_norm, output_rows))
            ],
        }
    )
    longest = max(input_norm, output_norm) or 1.0
    base = alt.Chart(data).encode(
        y=alt.Y("side:N", sort=_SIDES, title=None, axis=alt.Axis(ticks=False, domain=False)),
        x=alt.X(
            "norm:Q",
            title="norm of the gradient",
            axis=alt.Axis(grid=False, tickCount=4),
            scale=alt.Scale(domain=[0, longest * 1.55]),  # room for the label at the longer bar
        ),
        tooltip=[
            alt.Tooltip("side:N", title="side"),
            alt.Tooltip("norm:Q", title="norm", format=".6g"),
            alt.Tooltip("rows:Q", title="rows corrected", format=",d"),
        ],
    )
    bars = base.mark_bar(cornerRadiusEnd=2, height=26).encode(
        color=alt.Color("side:N", scale=_COLOURS, legend=None)
    )
    ends = base.mark_text(align="left", dx=5, color=OTHER).encode(text="label:N")
    return (bars + ends).properties(
        height=130, description="Norm of the gradient's input side and of its output side"
    )


def row_bars(frame: pd.DataFrame) -> alt.Chart:
    """Two thin bars for each row of the matrix, in the order given.

    Args:
        frame: columns id, text (as printed), input_norm, output_norm.

    Bars are keyed by their place, never by text: two tokens may print alike. Those whose texts are
    equal have their ids in the label.
    """
    texts = [shorten(text, 18) for text in frame["text"]]
    names = [
        f"{text} #{id}" if texts.count(text) > 1 else text
        for text, id in zip(texts, frame["id"], strict=True)
    ]
    wide = frame.assign(place=range(len(frame)), input=frame["input_norm"]).assign(
        output=frame["output_norm"]
    )
    data = wide.melt(["place", "id", "text"], _SIDES, var_name="side", value_name="norm")
    return (
        alt.Chart(data)
        .mark_bar(cornerRadiusEnd=2)
        .encode(
            y=alt.Y("place:O", axis=names_axis(170, names, labelFont="monospace")),
            yOffset=alt.YOffset("side:N", sort=_SIDES),
            x=alt.X(
                "norm:Q",
                title="length of the row's gradient",
                axis=alt.Axis(gridOpacity=0.4, tickCount=4),
            ),
            color=alt.Color(
                "side:N",
                scale=_COLOURS,
                sort=_SIDES,
                legend=alt.Legend(orient="top", title=None, symbolStrokeWidth=0),
            ),
            tooltip=[
                alt.Tooltip("text:N", title="token"),
                alt.Tooltip("id:Q", title="id", format="d"),
                alt.Tooltip("side:N", title="side"),
                alt.Tooltip("norm:Q", title="length", format=".6g"),
            ],
        )
        .properties(
            height=_STEP * len(frame) + 90,
            description="For each token, how much the input side and the output side correct it",
        )
    )
