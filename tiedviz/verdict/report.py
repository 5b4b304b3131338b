"""What each witness says, in words: the rows under the banner, and a report for an issue."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tiedviz import __version__
from tiedviz.verdict.witnesses import Comparison, Declared, Loaded, Measured, Stored
from tiedviz.verdict.wording import shape_words
from tiedviz.words.numbers import count, percent, plural, scientific, small_number, unpacked_words
from tiedviz.words.refusals.file import listed, printable

if TYPE_CHECKING:
    from tiedviz.files.config import Flag
    from tiedviz.files.fit import Fit
    from tiedviz.files.header import StoredTensor
    from tiedviz.verdict.audit import Audit


class Evidence(NamedTuple):
    """What one witness says: a row of the page's table."""

    witness: Literal["declared", "stored", "loaded", "measured"]
    state: str
    """In two or three words, such as "two copies" or "not heard"."""
    text: str
    """What that rests on. May be empty where it was not heard."""


_NOT_HEARD = "not heard"


def evidence_of(audit: Audit) -> tuple[Evidence, ...]:
    """What each of the four says, in order."""
    effective = audit.loaded.effective if audit.loaded else None
    return (
        _declared(audit.declared, effective),
        _stored(audit.stored, audit.fit),
        _loaded(audit.loaded, audit.not_loaded),
        _measured(audit.measured),
    )


def unheard(audit: Audit) -> tuple[str, ...]:
    """Names of the witnesses that have not been heard."""
    return tuple(row.witness for row in evidence_of(audit) if row.state == _NOT_HEARD)


def _declared(found: Declared | None, effective: bool | None) -> Evidence:
    if found is None:
        return Evidence("declared", _NOT_HEARD, "")
    states = {True: "tied", False: "untied", None: "not stated"}
    text = found.governed_by
    others = [flag for flag in found.raw if flag.path not in found.governed_by]
    if others:
        text += f"; also in config.json: {', '.join(_flag_words(flag) for flag in others)}"
    if effective is not None:
        text += f"; after transformers read it: {str(effective).lower()}"
    return Evidence("declared", states[found.tied], text)


def _flag_words(flag: Flag) -> str:
    return f"{printable(flag.path)} = {printable(json.dumps(flag.value))}"


def _stored(found: Stored | None, fit: Fit | None) -> Evidence:
    if found is None:
        return Evidence("stored", _NOT_HEARD, "")
    parts = _table_words(found)
    if found.comparison:
        parts.append(_comparison_words(found.comparison))
    elif found.uncompared:
        parts.append(f"not compared: {found.uncompared}")
    if fit and fit.words:
        parts.append(fit.words)
    if found.adapters:
        parts.append(f"an adapter on {listed(found.adapters)}")
    if found.unheard:
        parts.append(f"not compared with it: {listed(found.unheard)}")
    if found.empty:
        parts.append(f"stored without a number: {listed(found.empty)}")
    if found.absent:
        parts.append(f"promised by the index and stored nowhere: {listed(found.absent)}")
    return Evidence("stored", _copies(found), f"{found.format}: {'; '.join(parts)}")


def _table_words(found: Stored) -> list[str]:
    """E and W, and what is said of further tables and of further names."""
    parts = [_tensor_words(tensor) for tensor in (found.embedding, found.head) if tensor]
    if found.embedding and not found.head:
        parts.append("no output matrix")
    if found.decoder_table:
        parts.append(f"the decoder's own {_tensor_words(found.decoder_table)}")
    if found.shares_storage:
        parts.append("both are one run of numbers in the file")
    if found.alias:
        parts.append(f"the file's metadata calls it {printable(found.alias)} too")
    if found.apart:
        parts.append(f"other numbers in {listed(found.apart)}")
    return parts


def _tensor_words(tensor: StoredTensor) -> str:
    """model.embed_tokens.weight 49,152×576 F32, safe to show."""
    return f"{printable(tensor.name)} {shape_words(tensor)} {tensor.dtype}"


def _copies(found: Stored) -> str:
    if found.partner is None and found.head is None:
        return "no table"
    return "two copies" if found.two_copies else "one copy"


def _comparison_words(found: Comparison) -> str:
    if found.same_bytes:
        return "the same bytes"
    within = f", equal within the {found.near} of {found.within}" if found.within else ""
    return (
        f"{plural(found.differing_elements, 'element')} in {plural(found.differing_rows, 'row')} "
        f"differ{within} (max |Δ| {small_number(found.max_abs)}, relative error "
        f"{small_number(found.relative_error)}, least row cosine "
        f"{small_number(found.min_row_cosine)})"
    )


def _loaded(found: Loaded | None, not_loaded: str) -> Evidence:
    if found is None:
        return Evidence("loaded", _NOT_HEARD, not_loaded)
    if not found.has_head:
        return Evidence("loaded", "no output", "the model has no output over tokens")
    if found.on_meta:
        text = "its matrices have no numbers in memory (meta or offloaded)"
        return Evidence("loaded", "cannot tell", text)
    if found.strange:
        return Evidence("loaded", "cannot tell", found.strange)
    parts = [_memory_words(found), found.dtype]
    if found.quantised:
        parts.append(f"the head is quantised ({found.quantised})")
    if found.adapters:
        parts.append(f"an adapter on the {' and the '.join(found.adapters)} side")
    if found.missing:
        parts.append(f"random, for the files do not hold it: {listed(found.missing)}")
    if found.groups:
        parts.append("ties: " + "; ".join(" = ".join(map(printable, g)) for g in found.groups))
    state = "one matrix" if found.same_storage else "two matrices"
    return Evidence("loaded", state, "; ".join(part for part in parts if part))


def _memory_words(found: Loaded) -> str:
    if found.same_object:
        return "one Parameter, at one place in memory"
    if found.same_storage:
        return "two Parameters over the same numbers in memory"
    if found.overlapping:
        return "one is a slice or a view of the other's memory"
    equal = {True: "equal values", False: "different values", None: "values not comparable"}
    return f"two places in memory, {equal[found.same_values]}"


_MOVED = {
    "": "",
    "E": "; changing a row of E does move its token's logit",
    "W": "; changing a row of W does move its token's logit",
    "neither": "; changing a row of E or W moves no logit",
}


def _measured(found: Measured | None) -> Evidence:
    if found is None:
        return Evidence("measured", _NOT_HEARD, "")
    if found.max_abs_error is None or found.tolerance is None:
        return Evidence("measured", "not reproduced", found.reason + _MOVED[found.scored_by])
    text = (
        f"max |Δ| = {scientific(found.max_abs_error)}, limit {scientific(found.tolerance)}, "
        f"{found.dtype}"
    )
    if found.reproduced:
        return Evidence("measured", "reproduced", f"{found.formula}; {text}")
    text = f"{found.reason}; {text}{_MOVED[found.scored_by]}"
    return Evidence("measured", "not reproduced", text)


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
        ["| witness | state | evidence |", "|---|---|---|", *map(_table_row, record["evidence"])],
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
    return [*lines, f"* {_parameter_words(record['parameters'])}"]


def _parameter_words(found: Mapping[str, Any]) -> str:
    words = f"{count(found['total'])} parameters, counted from {found['counted_from']}"
    words += unpacked_words(int(found["unpacked_from_bytes"]), not found["complete"])
    if found["share"] is not None:
        words += f"; {percent(found['share'])} of them in E{' and W' if found['head'] else ''}"
    if found["saved_by_tying"]:
        words += f"; tying saves {count(found['saved_by_tying'])}"
    return f"{words}."


def _table_row(row: Mapping[str, str]) -> str:
    cells = (row["witness"], _text(row["state"]), _text(row["text"]))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _text(text: str) -> str:
    """Text on one line that Markdown leaves as it is, but for our own short pieces of code."""
    parts = _CODE.split(" ".join(text.split()))
    return "".join(f"`{p}`" if odd % 2 else _MARKS.sub(r"\\\1", p) for odd, p in enumerate(parts))


def _is_plain(name: str) -> bool:
    return "`" not in name and name.isprintable()


_SHARED = re.compile(r"some tensors share memory|contained shared tensors", re.IGNORECASE)
_SET = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"'([^']{1,300})'")


@dataclass(frozen=True)
class Explanation:
    """A message put into plain words."""

    names: tuple[tuple[str, ...], ...]
    """The tensors it names, a group for each run of numbers."""
    meaning: str
    remedy: str


def explain_error(message: str) -> Explanation | None:
    """What a pasted error says about tying; None where it is none of those messages."""
    if not _SHARED.search(message):
        return None
    groups = tuple(tuple(sorted(_NAME.findall(part))) for part in _SET.findall(message))
    groups = tuple(group for group in groups if len(group) > 1)
    which = f" ({listed(groups[0])})" if groups else ""
    return Explanation(
        names=groups,
        meaning=f"These tensors are one run of numbers in memory{which}: that is proof of tying.",
        remedy="Save with `save_pretrained()`, or safetensors' `save_model()`: one name is kept.",
    )
