"""Where parameters go, part by part: of chosen models, and of any config.json."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from tiedviz.charts.embedding_share import TIED_TABLE, parts_chart
from tiedviz.compute.counts import BYTES, Counts, counts_in_row, memory
from tiedviz.compute.counts.configs import Config, config_in_text
from tiedviz.ui.caches import counts, named_config
from tiedviz.ui.drawing import draw
from tiedviz.ui.embedding_share.chart import chosen_point
from tiedviz.ui.frame import refusals_shown
from tiedviz.ui.frame.model_choice import GPT2
from tiedviz.words.catalogue import PARTS, PARTS_HELP, CatalogueRow, PartCounts, catalogue, find_row
from tiedviz.words.numbers import count, megabytes, percent
from tiedviz.words.tokens import markdown_safe

_FIRST = (GPT2, "google/gemma-3-270m", "Qwen/Qwen2.5-3B", "Qwen/Qwen2.5-7B")
_MOST = 8
COMPARED_KEY = "share_models"
_WAYS = ("Name or path", "Paste", "Upload")


def where_parameters_go() -> None:
    """Let models be chosen; draw their bars and the numbers."""
    point = chosen_point()
    first = [point.row.repo_id] if point is not None and point.row is not None else []
    names = st.multiselect(
        "Models, side by side",
        [row.repo_id for row in catalogue()],
        default=list(dict.fromkeys([*first, *_FIRST])),
        max_selections=_MOST,
        key=COMPARED_KEY,
        bind="query-params",
    )
    rows = [row for name in names if (row := find_row(name)) is not None]
    if not rows:
        st.info("Choose at least one model above.")
        return
    relative = st.toggle("Bars equally long", value=True, key="share bars", persist_state="session")
    named = _labels(rows)
    pieces = pd.concat(
        [part_pieces(label, row.parts, row.tied) for label, row in named.items()],
        ignore_index=True,
    )
    draw(
        st,
        parts_chart(pieces, relative),
        key="parts chart",
        alt="Stacked bars: the parts of each chosen model's parameters",
    )
    shares = ", ".join(f"{label} {percent(row.parts.share)}" for label, row in named.items())
    st.markdown(f"In the tables: {markdown_safe(shares)}.")
    _numbers(named)


def part_pieces(label: str, parts: PartCounts, tied: bool) -> pd.DataFrame:
    """The rows of `parts_chart` for one model; empty parts are left out."""
    rows = []
    for order, (field, name) in enumerate(PARTS.items()):
        numbers = getattr(parts, field)
        if numbers:
            part = TIED_TABLE if tied and field == "embedding" else name
            rows.append((label, part, order, numbers, numbers / parts.total))
    return pd.DataFrame(rows, columns=["model", "part", "order", "numbers", "fraction"])


def _labels(rows: list[CatalogueRow]) -> dict[str, CatalogueRow]:
    """Names without owners where that tells them apart, else whole ids: equal names would merge."""
    names = [row.name for row in rows]
    return {row.name if names.count(row.name) == 1 else row.repo_id: row for row in rows}


def _numbers(named: dict[str, CatalogueRow]) -> None:
    """The same as a table; each column adds up to its last line."""
    table = pd.DataFrame(
        {
            label: [getattr(row.parts, field) for field in PARTS] + [row.total]
            for label, row in named.items()
        },
        index=[*PARTS.values(), "all parameters"],
    )
    st.dataframe(
        table,
        column_config={label: st.column_config.NumberColumn(format="localized") for label in named},
        key="parts table",
        alt="Numbers in each part of the chosen models",
    )
    st.caption(
        "Each stored number once, so the parts add up to the whole. "
        + "; ".join(f"*{PARTS[part]}*: {meaning}" for part, meaning in PARTS_HELP.items())
        + "."
    )


def any_model() -> None:
    """Ask for a configuration, count it, show the counts. What was typed stays on a refusal."""
    st.markdown(
        "The architecture is built without a single weight, from config.json alone, and counted. "
        "Of a Hub id only that file is read."
    )
    way = st.segmented_control(
        "Where the config.json comes from",
        _WAYS,
        default=_WAYS[0],
        required=True,
        key="count way",
        persist_state="session",
    )
    with refusals_shown():
        {"Paste": _pasted, "Upload": _uploaded}.get(str(way), _named)()


def _named() -> None:
    text = st.text_input(
        "Hub id, shelf name, model folder or path of a config.json",
        placeholder="openai-community/gpt2",
        key="count name",
        persist_state="session",
        help="Press Enter to count. Paths are read on the machine that runs the app.",
    )
    if not text.strip():
        return
    title = text.strip()
    with st.spinner("Reading config.json and counting …", show_time=True):
        found = named_config(title)
        if not isinstance(found, CatalogueRow):
            show_counts(title, _count(found, title), None, "counted just now from its config.json")
            return
    origin = f"from the catalogue; its configuration: {found.source}"
    show_counts(found.repo_id, counts_in_row(found), found.file_numbers, origin)


def _pasted() -> None:
    text = st.text_area(
        "The text of a config.json",
        height=220,
        placeholder='{"model_type": "llama", "vocab_size": 32000, …}',
        key="count text",
        persist_state="session",
    )
    st.button("Count", type="primary")  # leaving the box is what sends the text
    if text:
        _count_text(text.encode("utf-8", "replace"), "the pasted config.json")


def _uploaded() -> None:
    file = st.file_uploader("A config.json", type=["json"], key="count file")
    if file is not None:
        _count_text(file.getvalue(), file.name)


def _count_text(raw: bytes, name: str) -> None:
    config = config_in_text(raw, name)
    with st.spinner("Counting …", show_time=True):
        answer = _count(config, name)
    show_counts(_called(config, name), answer, None, "counted just now")


def _count(config: Config, title: str) -> Counts:
    return counts(json.dumps(config, sort_keys=True), title)


def _called(config: Config, name: str) -> str:
    """The class that the configuration names, else where it came from."""
    named = config.get("architectures")
    return str(named[0]) if isinstance(named, list) and named else name


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
