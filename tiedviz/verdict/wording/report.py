"""A verdict as Markdown, to paste into an issue."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from tiedviz import __version__
from tiedviz.words.numbers import count, percent, unpacked_words
from tiedviz.words.refusals.file import printable

# Calls and assignments that our own sentences put between backticks; all else is shown as text.
_CODE = re.compile(r"`([\w.]+(?: = [\w.]+)?(?:\(\))?)`")
_MARKS = re.compile(r"([\\`*\[\]<>~#]|(?<!\w)_|_(?!\w))")


def markdown_report(record: Mapping[str, Any]) -> str:
    """The report of one model, from its record (see `record.audit_record`).

    Names inside files are strangers' text and come out as such. A path is cut to its last name,
    since the report is made to be shown to others.
    """
    name = short_name(record["model"])
    shown = printable(name)
    sections = (
        [f"### {_text(shown)}: {record['verdict'].replace('_', ' ')}"],
        [_text(record["summary"])],
        ["| witness | state | evidence |", "|---|---|---|", *map(_row, record["evidence"])],
        [f"* Advice: {_text(record['advice'])}", *_more(record)],
        [
            f"tiedviz {__version__}; again with `python -m tiedviz audit {shlex.quote(name)}`"
            if _is_plain(name)
            else f"tiedviz {__version__}"
        ],
    )
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def short_name(model: str) -> str:
    """A shelf name or a Hub id as it is; of a path on this machine only the last part."""
    is_path = model.startswith(("/", "~", ".", "\\")) or re.match(r"[A-Za-z]:[\\/]", model)
    return PurePath(model.replace("\\", "/")).name or model if is_path else model


def _more(record: Mapping[str, Any]) -> list[str]:
    """What else is known, a line each."""
    lines = [f"* Or: {_text(cause)}" for cause in record["causes"][1:]]
    lines += [f"* Elsewhere: {_text(line)}" for line in record["other_loaders"]]
    groups = [" = ".join(group) for group in record["groups"]]
    lines += [f"* The same numbers: {_text(group)}" for group in groups]
    if record["unheard"]:
        lines.append(f"* Not heard: {', '.join(record['unheard'])}")
    return [*lines, f"* {_parameters(record['parameters'])}"]


def _parameters(found: Mapping[str, Any]) -> str:
    words = f"{count(found['total'])} parameters, counted from {found['counted_from']}"
    words += unpacked_words(int(found["unpacked_from_bytes"]), not found["complete"])
    if found["share"] is not None:
        words += f"; {percent(found['share'])} of them in E{' and W' if found['head'] else ''}"
    if found["saved_by_tying"]:
        words += f"; tying saves {count(found['saved_by_tying'])}"
    return f"{words}."


def _row(row: Mapping[str, str]) -> str:
    cells = (row["witness"], _text(row["state"]), _text(row["text"]))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _text(text: str) -> str:
    """Text on one line that Markdown leaves as it is, but for our own short pieces of code."""
    parts = _CODE.split(" ".join(text.split()))
    return "".join(f"`{p}`" if odd % 2 else _MARKS.sub(r"\\\1", p) for odd, p in enumerate(parts))


def _is_plain(name: str) -> bool:
    return "`" not in name and name.isprintable()
