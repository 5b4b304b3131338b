"""A verdict as Markdown, to paste into an issue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiedviz.files.verdict.verdict import unpacked_words
from tiedviz.words.numbers import count


def markdown_report(record: Mapping[str, Any]) -> str:
    """The report of one model, from its record (see `record.audit_record`)."""
    lines = [
        f"### {_cell(record['model'])}: {record['verdict'].replace('_', ' ')}",
        "",
        record["summary"],
        "",
        "| witness | state | evidence |",
        "|---|---|---|",
        *(_row(row) for row in record["evidence"]),
        "",
        f"{count(record['parameters']['total'])} parameters, counted from "
        f"{record['parameters']['counted_from']}"
        f"{unpacked_words(_bytes(record), not record['parameters']['complete'])}.",
        "",
        f"Advice: {record['advice']}",
    ]
    lines += [f"* Elsewhere: {line}" for line in record["other_loaders"]]
    return "\n".join(lines)


def _bytes(record: Mapping[str, Any]) -> int:
    return int(record["parameters"]["unpacked_from_bytes"])


def _row(row: Mapping[str, str]) -> str:
    return f"| {row['witness']} | {_cell(row['state'])} | {_cell(row['text'])} |"


def _cell(text: str) -> str:
    """Text that keeps to its cell."""
    return " ".join(text.replace("|", "\\|").split())
