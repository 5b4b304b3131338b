"""The walkthrough's pictures: words as bars, a table as squares, rows as arrows, the loop."""

from __future__ import annotations

import json
from itertools import pairwise

import altair as alt
import pandas as pd

from tiedviz.charts.axes import names_axis
from tiedviz.charts.palette import INPUT, LIVE, OTHER, OUTPUT, SHARED
from tiedviz.words.tokens import shorten

_BAR = 26
_SQUARE = 24
_AROUND_SQUARES = 140  # axis and legend; Streamlit fits the whole chart into the height
_ARROWS_HIGH = 300


def word_bars(frame: pd.DataFrame, measure: str, colour: str, lit: int) -> alt.LayerChart:
    """One bar a word, its number at the end.

    Args:
        frame: columns word and `measure`; the position of a row is the word's id.
        measure: the column that is drawn, also the title of the horizontal.
        colour: of the bars.
        lit: id of the word whose bar is amber.
    """
    data = frame[["word", measure]].assign(id=range(len(frame)))
    base = alt.Chart(data).encode(
        y=alt.Y("id:O", axis=names_axis(180, data["word"], labelFont="monospace")),
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
    return chart.properties(height=_BAR * len(data) + 60)


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
    return (
        alt.Chart(data)
        .mark_bar(cornerRadiusEnd=2)
        .encode(
            y=alt.Y("id:O", axis=names_axis(180, moved["word"], labelFont="monospace")),
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
        .properties(height=_BAR * 1.4 * len(moved) + 110)
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
        .properties(height=_SQUARE * len(rows) + _AROUND_SQUARES)
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
    return chart.properties(height=_ARROWS_HIGH)


def _spread(places: list[float], gap: float) -> list[float]:
    """Heights for labels, at least `gap` apart, in the order of `places` and near them."""
    order = sorted(range(len(places)), key=places.__getitem__)
    heights = list(places)
    for before, after in pairwise(order):
        heights[after] = max(heights[after], heights[before] + gap)
    moved = sum(heights) - sum(places)
    return [height - moved / max(len(places), 1) for height in heights]


def loop_diagram(*, rows: str, width: str, blocks: str, tied: bool, upright: bool = False) -> str:
    """DOT source: text in, one table (or two), blocks, logits, the next token, and back.

    Args:
        rows: V, as it should be printed.
        width: d.
        blocks: L.
        tied: whether one table stands at both ends.
        upright: whether it runs from top to bottom, to fit a narrow column.
    """
    read, score = (SHARED, SHARED) if tied else (INPUT, OUTPUT)
    table = "E" if tied else "W"
    bond = (
        f'embed -> score [dir=none, style=dashed, color="{SHARED}", fontcolor="{SHARED}",'
        ' label="the same matrix", constraint=false];'
        if tied
        else ""
    )
    return f"""digraph {{
  rankdir={"TB" if upright else "LR"}; bgcolor=transparent; nodesep=0.35; ranksep=0.3;
  node [shape=box, style="rounded", fontname="sans-serif", fontsize=12,
        color="{OTHER}", fontcolor="{OTHER}", penwidth=1.4];
  edge [color="{OTHER}", fontcolor="{OTHER}", fontname="sans-serif", fontsize=11, arrowsize=0.7];
  ids [label="token ids"];
  embed [label="row of E\\n{rows} × {width}", color="{read}", fontcolor="{read}"];
  blocks [label="{blocks} blocks\\nwidth {width} throughout"];
  h [label="h_L\\n{width} numbers", color="{LIVE}", fontcolor="{LIVE}"];
  score [label="h_L · every row of {table}\\n{rows} logits", color="{score}", fontcolor="{score}"];
  next [label="softmax, next token"];
  ids -> embed -> blocks -> h -> score -> next;
  next -> ids [label="append, and again", constraint=false];
  {bond}
}}"""
