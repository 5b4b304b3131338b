"""What each witness says, in words: the rows under the banner."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tiedviz.files.config import Flag
from tiedviz.verdict.case import Case
from tiedviz.verdict.verdict import Evidence
from tiedviz.verdict.witnesses import Comparison, Declared, Stored
from tiedviz.verdict.wording.numbers import tensor_words
from tiedviz.words.numbers import plural, scientific, small_number
from tiedviz.words.refusals.file import listed, printable

if TYPE_CHECKING:
    from tiedviz.verdict.live import Loaded, Measured

_NOT_HEARD = "not heard"


def evidence_of(case: Case, not_loaded: str = "") -> tuple[Evidence, ...]:
    """The four rows, in order; `not_loaded` says why the live model was not heard."""
    effective = case.loaded.effective if case.loaded else None
    return (
        _declared(case.declared, effective),
        _stored(case.stored),
        _loaded(case.loaded, not_loaded),
        _measured(case.measured),
    )


def unheard(case: Case) -> tuple[str, ...]:
    """Names of the witnesses that have not been heard."""
    return tuple(row.witness for row in evidence_of(case) if row.state == _NOT_HEARD)


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


def _stored(found: Stored | None) -> Evidence:
    if found is None:
        return Evidence("stored", _NOT_HEARD, "")
    parts = _table_words(found)
    if found.comparison:
        parts.append(_comparison_words(found.comparison))
    elif found.uncompared:
        parts.append(f"not compared: {found.uncompared}")
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
    parts = [tensor_words(tensor) for tensor in (found.embedding, found.head) if tensor]
    if found.embedding and not found.head:
        parts.append("no output matrix")
    if found.decoder_table:
        parts.append(f"the decoder's own {tensor_words(found.decoder_table)}")
    if found.shares_storage:
        parts.append("both are one run of numbers in the file")
    if found.alias:
        parts.append(f"the file's metadata calls it {printable(found.alias)} too")
    if found.apart:
        parts.append(f"other numbers in {listed(found.apart)}")
    return parts


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
