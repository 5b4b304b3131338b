"""One counted model: its counts by name, tied and as if untied, memory, parts."""

from __future__ import annotations

import streamlit as st

from tiedviz.charts.embedding_share import parts_chart
from tiedviz.compute.counts.calculator import BYTES
from tiedviz.compute.counts.counts import Counts, memory
from tiedviz.ui.drawing import draw
from tiedviz.ui.embedding_share.parts import part_pieces
from tiedviz.words.numbers import count, megabytes, percent
from tiedviz.words.tokens import markdown_safe


def show_counts(title: str, counts: Counts, file_numbers: int | None, origin: str) -> None:
    """Draw everything.

    Args:
        title: what the model is called.
        counts: its counts.
        file_numbers: numbers stored in its file, where known.
        origin: where the counts come from.
    """
    st.subheader(f"{markdown_safe(title)}: {_headline(counts)}", anchor=False)
    st.caption(f"{counts.architecture}; {markdown_safe(origin)}.")
    st.markdown(_both_ways(counts))
    st.caption(
        "Memory of the weights alone; 4-bit is half a byte a number, without the scales that "
        "each method adds."
    )
    draw(
        st,
        parts_chart(part_pieces(title, counts.parts, counts.tied), relative=False),
        key="counted chart",
        alt="The parts of this model's parameters",
    )
    st.markdown("**Which count is which**")
    names = _by_name(counts, file_numbers)
    lines = ["| count | numbers | what it counts |", "|---|--:|---|"]
    lines += [f"| {name} | {numbers} | {meaning} |" for name, numbers, meaning in names]
    st.markdown("\n".join(lines))


def _headline(counts: Counts) -> str:
    tables = "one table" if counts.tied else "two tables" if counts.parts.head else "its table"
    return f"{count(counts.total)} parameters, {percent(counts.parts.share)} in {tables}"


def _both_ways(counts: Counts) -> str:
    """A column for tied, one for untied; what it is now comes first."""
    table, parts = counts.V * counts.d, counts.parts
    ways = [("as it is", counts.total, parts.embedding + parts.head)]
    if counts.can_tie:
        ways = [
            ("tied" if counts.tied else "as if tied", counts.if_tied, table),
            ("as if untied" if counts.tied else "untied", counts.if_untied, 2 * table),
        ]
        ways = ways if counts.tied else ways[::-1]
    rows = [
        ["", *(name for name, _, _ in ways)],
        ["---", *("--:" for _ in ways)],
        ["parameters", *(count(total) for _, total, _ in ways)],
        ["share", *(_shares(table, tables, total) for _, total, tables in ways)],
    ]
    sizes = [memory(total) for _, total, _ in ways]
    rows += [[f"memory in {dtype}", *(megabytes(size[dtype]) for size in sizes)] for dtype in BYTES]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _shares(table: int, tables: int, total: int) -> str:
    """The share of the tables; of two, each apart."""
    share = percent(tables / total)
    if tables == table:
        return share
    return f"{share} (E {percent(table / total)} + W {percent((tables - table) / total)})"


def _by_name(counts: Counts, file_numbers: int | None) -> list[tuple[str, str, str]]:
    rows = [
        ("unique parameters", count(counts.total), "each stored number once: what this app calls "
         "parameters"),
        ("names in `state_dict()`", count(counts.listed), "a tied matrix under each of its names, "
         "and buffers that are saved"),
        ("numbers in the file", "not read" if file_numbers is None else count(file_numbers),
         "what the published file holds: buffers and second copies count"),
        ("used per forward pass", count(counts.used), "a tied table for reading and for scoring, "
         "a shared block at every call, of experts only those chosen"),
        ("2·V·d operations", count(counts.product_operations), "of the output product for "
         "each token, tied or not"),
        ("E", f"{count(counts.V)} × {count(counts.d)} = {count(counts.V * counts.d)}",
         "rows × width of the table"),
    ]  # fmt: skip
    return rows
