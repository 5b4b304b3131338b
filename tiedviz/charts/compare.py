"""Several models side by side: their parameters on one scale, their likeliest texts on one axis."""

from __future__ import annotations

import altair as alt
import pandas as pd

from tiedviz.charts.axes import PERCENT_LABEL, SIZE_LABEL, names_axis
from tiedviz.charts.palette import BLOCKS, INPUT, MODELS, OUTPUT, SHARED
from tiedviz.words.tokens import shorten

LETTERS = ("A", "B", "C", "D")
_PARTS = {
    "E, tied": SHARED,
    "E": INPUT,
    "W": OUTPUT,
    "blocks and the rest": BLOCKS,
}
_ROW = 15
_LEAST = 22  # so that two labels never touch
_AROUND = 60


def parameter_bar(parts: dict[str, int], longest: int) -> alt.Chart:
    """One bar, cut into parts.

    Args:
        parts: numbers by name: "E, tied", or "E" and "W"; "blocks and the rest".
        longest: where the scale ends, the same for every model compared.
    """
    used = [name for name in _PARTS if name in parts]
    frame = pd.DataFrame(
        [{"part": name, "order": at, "numbers": parts[name]} for at, name in enumerate(used)]
    )
    return (
        alt.Chart(frame)
        .mark_bar(height=18)
        .encode(
            x=alt.X(
                "numbers:Q",
                title=None,
                stack="zero",
                scale=alt.Scale(domain=[0, longest], nice=False),
                axis=alt.Axis(labelExpr=SIZE_LABEL, tickCount=3, gridOpacity=0.3, domain=False),
            ),
            color=alt.Color(
                "part:N",
                scale=alt.Scale(domain=used, range=[_PARTS[name] for name in used]),
                legend=alt.Legend(orient="top", title=None, labelLimit=140, symbolStrokeWidth=0),
            ),
            order="order:Q",
            tooltip=[
                alt.Tooltip("part:N", title="part"),
                alt.Tooltip("numbers:Q", title="parameters", format=",d"),
            ],
        )
        .properties(height=100)
    )


def answer_dots(frame: pd.DataFrame, titles: dict[str, str]) -> alt.LayerChart:
    """A row for each text, in it a lettered dot for each model that has a token for it.

    Args:
        frame: columns order, text, letter, probability; rows are keyed by order, never by text.
        titles: of the models, by letter.
    """
    known = frame.dropna(subset=["probability"]).assign(
        title=lambda each: each["letter"].map(titles)
    )
    letters = list(titles)
    texts = frame.drop_duplicates("order").sort_values("order")["text"]
    names = [shorten(text, 20) for text in texts]
    base = alt.Chart(known).encode(
        y=alt.Y(
            "order:O",
            axis=names_axis(170, names, labelFont="monospace", grid=True, gridOpacity=0.25),
        ),
        yOffset=alt.YOffset("letter:N", sort=letters),
        x=alt.X(
            "probability:Q",
            title="probability",
            scale=alt.Scale(domainMin=0, nice=True),
            axis=alt.Axis(labelExpr=PERCENT_LABEL, gridOpacity=0.3, tickCount=5),
        ),
        tooltip=[
            alt.Tooltip("text:N", title="text"),
            alt.Tooltip("letter:N", title="model"),
            alt.Tooltip("title:N", title="name"),
            alt.Tooltip("probability:Q", title="probability", format=".6f"),
            alt.Tooltip("rank:Q", title="its rank", format=",d"),
        ],
    )
    dots = base.mark_circle(size=190, opacity=1).encode(
        color=alt.Color(
            "letter:N",
            scale=alt.Scale(domain=letters, range=list(MODELS[: len(letters)])),
            legend=None,
        )
    )
    inside = base.mark_text(fontSize=10, fontWeight="bold", color="white").encode(text="letter:N")
    chart: alt.LayerChart = dots + inside
    return chart.properties(height=max(_LEAST, _ROW * len(letters)) * len(texts) + _AROUND)


def letter_colour(letter: str) -> str:
    """The colour of a model's dots."""
    return MODELS[LETTERS.index(letter)]
