"""The third and the fourth witness: what an open model shares, and what its logits come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tiedviz.models.progress import Report, Step
from tiedviz.verdict.live import Loaded, Measured
from tiedviz.words.numbers import percent, plural
from tiedviz.words.refusals import Refusal

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.verdict.rows import EmptyRows, FreshRows


class Live(NamedTuple):
    """What a live model said, and the checks on its rows."""

    loaded: Loaded
    measured: Measured | None
    checks: dict[str, Any]
    notes: tuple[str, ...] = ()
    """What the checks found, as sentences."""


def hear_live(model: str, report: Report) -> tuple[Live | None, Refusal | None]:
    """What a model says once it is opened, or the refusal to open it."""
    from tiedviz.models.loading import load

    try:
        loaded = load(model, report=report)
    except Refusal as refusal:
        return None, refusal
    report(Step("Measuring"))
    return live_witnesses(loaded), None


def live_witnesses(loaded: LoadedModel) -> Live:
    """What an open model says. It is not changed."""
    from tiedviz.verdict.loaded import hear_loaded
    from tiedviz.verdict.measured import hear_measured
    from tiedviz.verdict.rows import empty_rows, fresh_rows

    with loaded.lock:
        heard = hear_loaded(loaded.model, loaded.missing)
        if heard.missing or heard.on_meta or not heard.has_head:
            return Live(heard, None, {})  # random numbers prove nothing
        empty, fresh = empty_rows(loaded), fresh_rows(loaded.embedding)
        checks = {
            "rows_without_token": empty.count,
            "mass_without_token": empty.mass,
            "fresh_rows": [] if fresh is None else list(fresh.ids),
        }
        return Live(heard, hear_measured(loaded), checks, _notes(empty, fresh))


def _notes(empty: EmptyRows, fresh: FreshRows | None) -> tuple[str, ...]:
    notes = () if fresh is None else (fresh.words,)
    if not empty.count:
        return notes
    rows, mass = plural(empty.count, "row"), percent(empty.mass)
    return (*notes, f"No token belongs to {rows} of E; {mass} of the probability falls there.")
