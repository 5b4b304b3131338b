"""Share of the vocabulary against size: every model a dot, a few families lit, one model ringed."""

from __future__ import annotations

import altair as alt
import pandas as pd

from tiedviz.charts.palette import LIVE, OTHER, OUTPUT, SHARED

PICK = "pick"
"""Name of the selection: a clicked dot comes back as `{"pick": [{"repo_id": …}]}`."""

# d3 would print 10⁹ as "1G".
SIZE_LABEL = (
    "datum.value == 0 ? '0' : datum.value >= 1e12 ? datum.value/1e12 + 'T' : "
    "datum.value >= 1e9 ? datum.value/1e9 + 'B' : "
    "datum.value >= 1e6 ? datum.value/1e6 + 'M' : datum.value/1e3 + 'k'"
)
_LIT = ("tied: one table", "untied: two tables")
_STATES = [*_LIT, "tied, dim", "untied, dim"]
_DASHES = [[1, 0], [7, 3], [2, 3], [9, 3, 2, 3]]
_TOOLTIP = [
    alt.Tooltip("repo_id:N", title="model"),
    alt.Tooltip("tied:N", title="E and W"),
    alt.Tooltip("parameters:Q", title="parameters", format=",d"),
    alt.Tooltip("share:Q", title="share of E (and W)", format=".2%"),
    alt.Tooltip("V:Q", title="V", format=",d"),
    alt.Tooltip("d:Q", title="d", format=",d"),
]
_COLUMNS = ["repo_id", "family", "tied", "parameters", "share", "V", "d"]


def share_chart(
    frame: pd.DataFrame, lit: list[str], ring: pd.DataFrame, height: int = 440
) -> alt.LayerChart:
    """Share (up) against parameters (across, logarithmic).

    Args:
        frame: columns repo_id, family, tied ("tied" or "untied"), parameters, share, V, d. Models
            are told apart by repo_id, so equal names do not merge.
        lit: up to four families, drawn as lines with their names.
        ring: none or one row with title, parameters and share.
        height: in pixels.
    """
    data = _marked(frame[_COLUMNS], lit)
    across, up = _across(data, ring), _up()
    bright = data[data["family"].isin(lit)]
    layers = [_lines(bright, lit), *_ring(ring), _dots(data), _names(bright), *_ring_name(ring)]
    placed = [layer.encode(x=across, y=up) for layer in layers]
    return alt.layer(*placed).resolve_scale(strokeDash="independent").properties(height=height)


def _marked(data: pd.DataFrame, lit: list[str]) -> pd.DataFrame:
    """With a column that says how a dot looks; lit ones last, so that they lie on top."""
    is_lit, is_tied = data["family"].isin(lit), data["tied"] == "tied"
    state = pd.Series(_STATES[3], index=data.index)
    state[is_tied] = _STATES[2]
    state[is_lit] = _STATES[1]
    state[is_lit & is_tied] = _STATES[0]
    data = data.assign(state=state, lit=is_lit)
    return data.sort_values(["lit", "parameters"], ignore_index=True).drop(columns="lit")


def _across(data: pd.DataFrame, ring: pd.DataFrame) -> alt.X:
    axis = alt.Axis(
        labelExpr=SIZE_LABEL,
        values=[10**power for power in range(3, 14)],
        gridOpacity=0.4,
        labelFlush=False,
    )
    sizes = [*data["parameters"], *ring.get("parameters", [])]
    domain = [min(sizes) * 0.7, max(sizes) * 1.6] if sizes else [1e6, 1e12]
    scale = alt.Scale(type="log", domain=domain, nice=False)
    return alt.X("parameters:Q", title="parameters, each counted once", scale=scale, axis=axis)


def _up() -> alt.Y:
    axis = alt.Axis(labelExpr="format(datum.value * 100, '.3~g') + ' %'", gridOpacity=0.4)
    return alt.Y("share:Q", title="share of E (and of W where separate)", axis=axis)


def _dots(data: pd.DataFrame) -> alt.Chart:
    """Filled circle: tied; hollow square: untied."""
    legend = alt.Legend(values=list(_LIT), title=None, orient="top", symbolSize=90, symbolOpacity=1)
    fills = [SHARED, "transparent", OTHER, "transparent"]
    lines = [SHARED, OUTPUT, OTHER, OTHER]
    shapes = ["circle", "square"] * 2
    pick = alt.selection_point(name=PICK, fields=["repo_id"], on="click", empty=False)
    return (
        alt.Chart(data)
        .mark_point(strokeWidth=1.6, cursor="pointer")
        .encode(
            shape=alt.Shape("state:N", scale=_scale(shapes), legend=legend),
            stroke=alt.Stroke("state:N", scale=_scale(lines), legend=legend),
            fill=alt.Fill("state:N", scale=_scale(fills), legend=legend),
            opacity=alt.condition(
                alt.FieldOneOfPredicate("state", list(_LIT)), alt.value(1), alt.value(0.55)
            ),
            size=alt.condition(
                alt.FieldOneOfPredicate("state", list(_LIT)), alt.value(85), alt.value(32)
            ),
            tooltip=_TOOLTIP,
        )
        .add_params(pick)
    )


def _scale(looks: list[str]) -> alt.Scale:
    return alt.Scale(domain=_STATES, range=looks)


def _lines(bright: pd.DataFrame, lit: list[str]) -> alt.Chart:
    """One line a family, from its smallest model to its largest."""
    dashes = alt.Scale(domain=lit, range=_DASHES[: len(lit)])
    return (
        alt.Chart(bright)
        .mark_line(color=OTHER, strokeWidth=1.5)
        .encode(
            detail="family:N",
            order="parameters:Q",
            strokeDash=alt.StrokeDash("family:N", scale=dashes, legend=None),
        )
    )


def _names(bright: pd.DataFrame) -> alt.Chart:
    """Each family's name over its smallest model, where the lines lie farthest apart."""
    first = bright.sort_values("parameters").drop_duplicates("family")
    return (
        alt.Chart(first)
        .mark_text(dy=-15, color=OTHER, fontSize=13, fontWeight="bold")
        .encode(text="family:N")
    )


def _ring(ring: pd.DataFrame) -> list[alt.Chart]:
    """A circle around the chosen model, under the marks, so that they take the pointer."""
    if ring.empty:
        return []
    tooltip = [
        alt.Tooltip("title:N", title="chosen"),
        alt.Tooltip("parameters:Q", title="parameters", format=",d"),
        alt.Tooltip("share:Q", title="share", format=".2%"),
    ]
    circle = alt.Chart(ring).mark_point(
        size=340, stroke=LIVE, strokeWidth=3, filled=False, opacity=1
    )
    return [circle.encode(tooltip=tooltip)]


def _ring_name(ring: pd.DataFrame) -> list[alt.Chart]:
    if ring.empty:
        return []
    name = alt.Chart(ring).mark_text(dy=21, color=LIVE, fontSize=13, fontWeight="bold")
    return [name.encode(text="title:N")]
