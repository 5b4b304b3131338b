"""Share against size: which models are shown, the chart, the model of the sidebar in it."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from tiedviz.charts.embedding_share import PICK, share_chart
from tiedviz.compute.counts.catalogue_frame import (
    how_share_falls,
    share_frame,
    where_families_stop_tying,
)
from tiedviz.models.sources import HubSource, ShelfSource
from tiedviz.ui.drawing import draw
from tiedviz.ui.frame.model_choice import chosen_facts, chosen_source
from tiedviz.words.catalogue import KINDS, CatalogueRow, find_row, row_of_shape
from tiedviz.words.numbers import count, percent
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import markdown_safe

_KEYS = ("name", "family", "kind", "tied", "year", "V")
_ROWS = (0, 32_000, 50_000, 65_000, 100_000, 130_000, 152_000, 250_000, 300_000)


def filtered_models() -> pd.DataFrame:
    """Draw the filters. Returns the rows of `share_frame` that pass, perhaps none."""
    every = share_frame()
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("Filter", icon=":material/filter_list:"):
            shown = _pass(every)
            st.button("Show all again", on_click=_clear, type="tertiary")
        st.caption(f"{len(shown)} of {len(every)} models shown.", width="content")
    return shown


def _pass(every: pd.DataFrame) -> pd.DataFrame:
    text = st.text_input("Name contains", key=_key("name"), persist_state="session")
    families = st.multiselect(
        "Family", sorted(set(every["family"])), key=_key("family"), persist_state="session"
    )
    kinds = st.pills(
        "Kind",
        list(KINDS),
        format_func=KINDS.__getitem__,
        selection_mode="multi",
        key=_key("kind"),
        persist_state="session",
    )
    tied = st.pills("Output matrix", ["tied", "untied"], key=_key("tied"), persist_state="session")
    first, last = int(every["year"].min()), int(every["year"].max())
    years = st.slider("Year", first, last, (first, last), key=_key("year"), persist_state="session")
    rows = st.select_slider(
        "V, rows of E, between",
        _ROWS,
        (_ROWS[0], _ROWS[-1]),
        format_func=lambda number: f"{number:,}",
        key=_key("V"),
        persist_state="session",
    )
    keep = every["repo_id"].str.contains(text.strip(), case=False, regex=False)
    keep &= every["year"].between(*years) & every["V"].between(*rows)
    for column, wanted in (("family", families), ("kind", kinds), ("tied", [tied] if tied else [])):
        if wanted:
            keep &= every[column].isin(wanted)
    return every[keep].reset_index(drop=True)


def _key(name: str) -> str:
    return f"share filter {name}"


def _clear() -> None:
    for name in _KEYS:
        st.session_state.pop(_key(name), None)


@dataclass(frozen=True)
class ChosenPoint:
    """Where the chosen model lies.

    Attributes:
        title: what it is called.
        V, d: rows and width of E.
        parameters: of the whole model.
        tables: the part of them in E, and in W where that is another matrix.
        origin: where the numbers come from, as a clause.
        row: its row in the catalogue, or that of a model of the same shape; None where there is
            none.
    """

    title: str
    V: int
    d: int
    parameters: int
    tables: tuple[float, ...]
    origin: str
    row: CatalogueRow | None

    @property
    def share(self) -> float:
        """The part of the parameters in all tables."""
        return sum(self.tables)

    @property
    def tied(self) -> bool:
        """Whether one table does both jobs."""
        return len(self.tables) == 1


def chosen_point() -> ChosenPoint | None:
    """The chosen model; None while nothing is known of it, or where it names nothing.

    What is wrong with the choice is said in the sidebar.
    """
    try:
        source = chosen_source()
        listed = find_row(source.repo) if isinstance(source, HubSource) else None
        facts = chosen_facts(source) if listed is None else None
    except Refusal:
        return None
    if listed is not None:
        head = () if listed.tied else (listed.parts.head / listed.total,)
        tables: tuple[float, ...] = (listed.parts.embedding_share, *head)
        origin = "published config, not read from a file"
        return ChosenPoint(listed.name, listed.V, listed.d, listed.total, tables, origin, listed)
    if facts is None or facts.V is None or facts.d is None or facts.share is None:
        return None
    row = None
    if isinstance(source, ShelfSource):
        model = source.model
        row = row_of_shape(model.V, model.d, model.layers, model.parameters, like=model.origin)
    read = facts.V * facts.d / facts.parameters
    tables = (facts.share,) if facts.stores_one_table else (read, facts.share - read)
    return ChosenPoint(source.title, facts.V, facts.d, facts.parameters, tables, facts.origin, row)


def ring_of(point: ChosenPoint | None) -> pd.DataFrame:
    """None or one row: title, parameters, share."""
    rows = [] if point is None else [(point.title, point.parameters, point.share)]
    return pd.DataFrame(rows, columns=["title", "parameters", "share"])


_LIT = ["Qwen2.5", "Pythia", "Gemma 3", "GPT-2"]
_LIT_KEY = "lit families"
_CHART_KEY = "share chart"


def share_against_size(shown: pd.DataFrame) -> None:
    """Draw the chart, the model that was clicked, and the reading help."""
    if shown.empty:
        st.info("No model passes these filters. Widen them, or press “Show all again”.")
        return
    lit = st.multiselect(
        "Families lit",
        sorted(set(shown["family"])),
        default=[family for family in _LIT if family in set(shown["family"])],
        max_selections=4,
        key=_LIT_KEY,
        persist_state="session",
        help="Up to four; each is a line from its smallest model to its largest.",
    )
    point = chosen_point()
    draw(
        st,
        share_chart(shown, lit, ring_of(point)),
        key=_CHART_KEY,
        on_select="rerun",
        alt="Share of the embedding tables against the number of parameters, one mark a model",
    )
    _picked(shown)
    st.markdown(_reading(shown, lit))
    if point is not None:
        st.caption(
            f"Ringed: {markdown_safe(point.title)}, {count(point.parameters)} parameters, "
            f"{percent(point.share)} ({markdown_safe(point.origin)})."
        )
    else:
        st.caption("No ring: nothing is known yet of the model chosen in the sidebar.")


def _reading(shown: pd.DataFrame, lit: list[str]) -> str:
    """How the share falls with size, and where families stop tying: the lit ones first."""
    stops = where_families_stop_tying(shown)
    ordered = sorted(stops, key=lambda stop: stop.family not in lit)
    sentences = [how_share_falls(shown), *(stop.sentence for stop in ordered[:2])]
    return " ".join(sentence for sentence in sentences if sentence)


def _picked(shown: pd.DataFrame) -> None:
    """The model whose dot was clicked, to the last digit."""
    state = st.session_state.get(_CHART_KEY) or {}
    chosen = (state.get("selection") or {}).get(PICK) or []
    wanted = chosen[0].get("repo_id") if chosen else None
    row = find_row(str(wanted)) if wanted in set(shown["repo_id"]) else None
    if row is None:
        st.caption("Click a mark to read its numbers.")
        return
    table = f"{count(row.V)} × {count(row.d)} = {count(row.V * row.d)}"
    other = f"untied it would hold {count(row.total + row.V * row.d)}"
    if not row.tied:
        other = f"tied it would hold {count(row.total - row.parts.head)}"
    st.markdown(
        f"**{markdown_safe(row.repo_id)}**, {'tied' if row.tied else 'untied'}: "
        f"{count(row.total)} parameters, {percent(row.parts.share, 2)} of them in "
        f"{'E' if row.tied else 'E and W'}; E holds {table}; {other}."
    )
    st.caption(
        markdown_safe(" ".join(filter(None, (row.note, row.published_why)))) or row.tied_from
    )
