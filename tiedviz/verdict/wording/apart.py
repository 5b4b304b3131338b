"""How two stored matrices differ, in words."""

from __future__ import annotations

from tiedviz.verdict.case import Case
from tiedviz.words.numbers import count, plural, small_number


def unequal_rows(case: Case) -> tuple[int, int] | None:
    """Rows of E and of W where these have the same width and not as many rows; else None."""
    table, head = case.table, case.stored.head if case.stored else None
    if not case.two_copies or table is None or head is None or case.comparison is None:
        return None
    if case.comparison.max_abs is None or table.shape[0] == head.shape[0]:
        return None
    return None if table.shape[1] != head.shape[1] else (table.shape[0], head.shape[0])


def rows_in_common_are_equal(case: Case) -> bool:
    """Whether one of two matrices is the other and some more rows."""
    rows, found = unequal_rows(case), case.comparison
    if rows is None or found is None:
        return False
    return found.far_rows == abs(rows[0] - rows[1]) and not found.max_abs


def differing_words(case: Case) -> str:
    """How many rows differ, as in "300 of 300 rows differ"."""
    found = case.comparison
    if found is None or case.table is None:
        return "they differ"
    if rows := unequal_rows(case):
        common = found.far_rows - abs(rows[0] - rows[1])
        those = "all" if not common else f"all but {count(common)}"
        return (
            f"of {count(rows[0])} and {count(rows[1])} rows; {those} of the first "
            f"{count(min(rows))} are equal"
        )
    return f"{count(found.far_rows)} of {plural(case.table.shape[0], 'row')} differ"


def apart_words(case: Case) -> str:
    """By how much they differ, as a sentence; empty where they were not compared."""
    found = case.comparison
    if found is None or found.max_abs is None:
        return "" if found is None else "Their shapes, or some numbers, cannot be set side by side."
    return (
        f"{plural(found.differing_elements, 'element')} in {plural(found.differing_rows, 'row')} "
        f"differ, max |Δ| = {small_number(found.max_abs)}, relative error "
        f"{small_number(found.relative_error)}, least row cosine "
        f"{small_number(found.min_row_cosine)}."
    )


def unequal_advice(case: Case) -> str:
    """What to do where one matrix was resized or padded without the other."""
    rows = unequal_rows(case) or (0, 0)
    one = f"E has {count(rows[0])} rows and the output matrix {count(rows[1])}"
    if case.declared_tied and rows_in_common_are_equal(case):
        return (
            f"{one}, and those in common are equal: keep the one with as many rows as vocab_size "
            "in config.json states, and leave the other out."
        )
    return f"{one}: most loaders refuse that. Go back to the save before one was resized alone."
