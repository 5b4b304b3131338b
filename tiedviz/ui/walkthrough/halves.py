"""The toy that every step works on: its tables, edited in place and kept from step to step."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from tiedviz.compute.toy import LARGEST, TOY_E, TOY_H, TOY_WORDS, Toy, Weights, read_cells

COLUMNS = ("x₁", "x₂", "x₃")
WORD_KEY = "toy word"
TARGET_KEY = "toy target"
_KEPT = "toy as edited"
_BASES = "toy as the editors were given it"
_ROUND = "toy resets"


def toy_editor(*, state: bool) -> Toy:
    """The editable tables. Returns the toy as it is now, the same for all steps.

    Args:
        state: whether h_L is edited as well as E.
    """
    st.markdown("**E**, one row for each word")
    _editor("E")
    if state:
        st.markdown("**h_L**, the state after the blocks and the final norm")
        _editor("h")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Edit any number; all else follows.", width="content")
        st.button(
            "Reset",
            icon=":material/restart_alt:",
            type="tertiary",
            key="reset the toy",
            help="The toy's own numbers again, and the first word.",
            on_click=_reset,
        )
    toy, notes = _read()
    for note in notes:
        st.warning(note, icon=":material/edit:")
    return toy


def current_toy() -> Toy:
    """The toy as it was edited, where a step only shows it."""
    return _read()[0]


def put_toy(toy: Toy) -> None:
    """Put other numbers into the tables, as if they had been typed."""
    st.session_state[_KEPT] = {
        "E": pd.DataFrame(toy.E, pd.Index(TOY_WORDS), COLUMNS),
        "h": pd.DataFrame(toy.h[None], pd.Index(["h_L"]), COLUMNS),
    }
    st.session_state.pop(_BASES, None)
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def word_pills(toy: Toy, label: str, key: str = WORD_KEY, first: int = 2) -> int:
    """One of the toy's words, by id; the choice is kept from step to step."""
    chosen = st.pills(
        label,
        range(toy.V),
        format_func=lambda id: f"{toy.words[id]} :gray[:small[{id}]]",
        default=first,
        key=key,
        required=True,
        persist_state="session",
    )
    return int(first if chosen is None else chosen)


def weights_control(label: str) -> Weights:
    """Tied, an equal copy, or separate; the choice is kept from step to step."""
    chosen = st.segmented_control(
        label,
        [each.value for each in Weights],
        default=Weights.TIED.value,
        key="toy weights",
        required=True,
        persist_state="session",
        help="tied: E itself. equal copy: another table that starts with E's numbers. separate: a "
        "table with numbers of its own.",
    )
    return Weights(chosen or Weights.TIED)


def _editor(name: str) -> None:
    """One table. Its widget holds the edits while it is on the screen, the session afterwards."""
    key = f"toy {name} {st.session_state.get(_ROUND, 0)}"
    bases = st.session_state.setdefault(_BASES, {})
    if key not in st.session_state or name not in bases:
        bases[name] = _kept()[name]
    _kept()[name] = st.data_editor(
        bases[name],
        key=key,
        disabled=["_index"],
        column_config={
            column: st.column_config.NumberColumn(
                column, min_value=-LARGEST, max_value=LARGEST, step=0.001, format="%.4g"
            )
            for column in COLUMNS
        },
        alt=f"{name} of the toy, editable",
    )


def _kept() -> dict[str, pd.DataFrame]:
    """The tables as they were last edited, E and h."""
    published = {
        "E": pd.DataFrame(TOY_E, pd.Index(TOY_WORDS), COLUMNS),
        "h": pd.DataFrame([TOY_H], pd.Index(["h_L"]), COLUMNS),
    }
    kept: dict[str, pd.DataFrame] = st.session_state.setdefault(_KEPT, published)
    return kept


def _read() -> tuple[Toy, list[str]]:
    E, of_rows = read_cells(_kept()["E"])
    h, of_state = read_cells(_kept()["h"])
    return Toy(TOY_WORDS, E, h[0]), of_rows + of_state


def _reset() -> None:
    for name in (_KEPT, _BASES, WORD_KEY, TARGET_KEY):
        st.session_state.pop(name, None)
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
