"""The calculator: what a vocabulary costs at a given size, and what sharing its table saves."""

from __future__ import annotations

import streamlit as st

from tiedviz.compute.counts import BYTES, PER_LAYER, VocabularyCost, vocabulary_cost
from tiedviz.words.numbers import count, megabytes, percent, short_count

_EXAMPLES = {
    "50,000 × 768": (50_000, 768, 12),
    "50,000 × 4,096": (50_000, 4_096, 32),
    "32,000 × 1,024": (32_000, 1_024, 24),
}
_LIMITS = {"V": 10_000_000, "d": 100_000, "L": 1_000}


def calculator(key: str = "calculator") -> VocabularyCost:
    """Draw inputs and answer. Returns what was computed.

    Args:
        key: tells two calculators apart; their numbers are kept apart as well.
    """
    _examples(key)
    sizes, answer = st.columns([2, 5], gap="large")
    with sizes:
        cost = _inputs(key)
    with answer:
        _table(cost)
        st.markdown(_savings(cost))
        st.markdown(_proportion(cost))
    st.caption(
        f"A layer is taken as {PER_LAYER}·d² = {count(cost.layer)} numbers (4·d² in attention, "
        "8·d² in its MLP): right for GPT-2's kind, a rule of thumb for others. The page counts "
        "real models exactly."
    )
    return cost


def _examples(key: str) -> None:
    st.pills(
        "Examples, V × d",
        list(_EXAMPLES),
        key=f"{key} example",
        on_change=_take_example,
        args=(key,),
    )


def _inputs(key: str) -> VocabularyCost:
    first = next(iter(_EXAMPLES.values()))
    for name, value in zip(_LIMITS, first, strict=True):
        st.session_state.setdefault(f"{key} {name}", value)
    rows = _whole("V, rows of the table", key, "V")
    width = _whole("d, numbers in a row", key, "d")
    layers = _whole("L, layers", key, "L")
    dtype = st.selectbox(
        "Numbers stored as", list(BYTES), key=f"{key} dtype", persist_state="session"
    )
    return vocabulary_cost(rows, width, layers, dtype)


def _whole(label: str, key: str, name: str) -> int:
    return int(
        st.number_input(
            label,
            min_value=1,
            max_value=_LIMITS[name],
            step=1,
            key=f"{key} {name}",
            persist_state="session",
        )
    )


def _take_example(key: str) -> None:
    chosen = st.session_state[f"{key} example"]
    if chosen:
        for name, value in zip(_LIMITS, _EXAMPLES[chosen], strict=True):
            st.session_state[f"{key} {name}"] = value


def _table(cost: VocabularyCost) -> None:
    """Tied and untied, side by side."""
    both = (cost.tied, cost.untied)
    rows = (
        ("tables", "1, **E**", "2, **E** and **W**"),
        ("numbers in them", count(cost.table), count(2 * cost.table)),
        (
            "bytes of them",
            megabytes(cost.table_bytes),
            megabytes(2 * cost.table_bytes),
        ),
        (f"whole model, L = {count(cost.layers)}", *(count(number) for number in both)),
        (
            "bytes of it",
            *(megabytes(number * cost.bytes_each) for number in both),
        ),
        ("share of the tables", percent(cost.share_tied), percent(cost.share_untied)),
    )
    lines = ["| | tied | untied |", "|---|--:|--:|"]
    lines += [f"| {name} | {tied} | {untied} |" for name, tied, untied in rows]
    st.markdown("\n".join(lines))


def _savings(cost: VocabularyCost) -> str:
    return (
        f"Tying saves {count(cost.V)} × {count(cost.d)} = **{count(cost.table)}** parameters, "
        f"**{megabytes(cost.table_bytes)}**: as many as **{cost.extra_layers:.1f}** more layers of "
        f"this width. The output product takes 2·V·d = {short_count(cost.product_operations)} "
        "operations for each token, tied or not: tying saves memory, not time."
    )


def _proportion(cost: VocabularyCost) -> str:
    """The same vocabulary on a model twice as wide and twice as deep."""
    larger = vocabulary_cost(cost.V, 2 * cost.d, 2 * cost.layers)
    return (
        f"That is {percent(cost.saving)} of the untied model. With the same vocabulary, twice the "
        f"width and twice the layers it would be {percent(larger.saving)}: a table grows with d, "
        "the layers with L·d², so **a large model gains proportionally less**."
    )
