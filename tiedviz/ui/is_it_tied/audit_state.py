"""What has been heard about the chosen model so far, and how to hear the rest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.files.access import identity
from tiedviz.models.sources import ShelfSource, Source
from tiedviz.ui.caches import COMPARED_AT_ONCE, heard_files, model_pool, remember_heard
from tiedviz.ui.frame import refusals_shown
from tiedviz.ui.frame.model_choice import chosen_source, hub_is_thinking, remote
from tiedviz.ui.frame.opened_model import is_stale, open_button, with_refused_opening
from tiedviz.verdict.audit import Audit, hear_files, local_files
from tiedviz.verdict.stored import compare_remote
from tiedviz.verdict.witnesses import COMPARING, Declared, Stored
from tiedviz.words.numbers import megabytes

if TYPE_CHECKING:
    from tiedviz.models.hub import RemoteModel
    from tiedviz.models.loaded import LoadedModel


def audit_chosen() -> Audit | None:
    """What can be heard of the chosen model now; None where that is nothing yet.

    The files at once; the live model where it is open. Nothing is opened or fetched for it.

    Raises:
        Refusal: its files cannot be read, or the Hub says no.
    """
    source = chosen_source()
    files = local_files(source.text)
    if files is None:
        return _before_it_is_here(source)
    declared, stored = _hear_files(files)
    loaded = model_pool().get(source.text)
    if loaded is None or is_stale(loaded):
        audit = Audit(declared, stored, model=source.text)
        return with_refused_opening(audit, identity(files))
    from tiedviz.verdict.live import live_witnesses

    return live_witnesses(loaded).with_files(source.text, declared, stored)


def open_or_offer(audit: Audit | None, key: str, why: str) -> LoadedModel | None:
    """The audited model where it is open; else a sentence, a button that opens it, and None."""
    loaded = None if audit is None else model_pool().get(audit.model)
    if loaded is None:
        st.markdown(why)
        if audit is not None:
            open_button(chosen_source(), key=key)
    return loaded


def _before_it_is_here(source: Source) -> Audit | None:
    """From the Hub by headers; a shelf model says nothing before it is fetched."""
    if isinstance(source, ShelfSource):
        st.info(
            f"{source.title} is not in the cache yet, so no file can be heard. Its publisher "
            f"states one table of {source.model.V:,} × {source.model.d}.",
            icon=":material/inventory_2:",
        )
        open_button(source, key="fetch for the verdict")
        return None
    if hub_is_thinking(source):
        st.caption("Asking the Hub for the headers …")
        return None
    answer = remote(source)
    if answer is None or answer.witnesses is None:
        st.info("Its weights are pickled: the files can be heard once they are here.")
        open_button(source, key="fetch for the verdict")
        return None
    declared, stored = heard_files(_remote_key(answer)) or answer.witnesses
    return Audit(declared, stored, model=source.text)


def _remote_key(answer: RemoteModel) -> str:
    return f"{answer.listing.repo} at {answer.listing.commit}"


def _hear_files(files: Path) -> tuple[Declared, Stored]:
    key = identity(files)
    found = heard_files(key)
    if found is None:
        found = hear_files(files, most=COMPARED_AT_ONCE)
        remember_heard(key, found)
        if found[1].comparison is not None or found[1].apart:
            st.rerun()  # the sidebar, drawn before, knows only the headers
    return found


def hear_the_rest(audit: Audit) -> None:
    """Buttons for what has not been heard: comparing two copies, opening the model."""
    stored = audit.stored
    if stored and stored.two_copies and stored.uncompared.startswith(COMPARING):
        verb = "fetches" if local_files(audit.model) is None else "reads"
        size = megabytes(stored.to_read)
        if st.button(f"Compare the two copies ({verb} {size})", icon=":material/compare:"):
            with refusals_shown():
                _compare(audit)
    if audit.loaded is None and "loaded" in audit.verdict.unheard:
        open_button(chosen_source(), key="hear all four", label="Hear all four")


def _compare(audit: Audit) -> None:
    """Compare, with a bar. Any click stops it at the next block, that on Cancel too."""
    bar = st.progress(0.0, text="Comparing the two copies")
    st.button("Cancel", key="cancel comparing")

    def tell(done: int, total: int) -> None:
        share = done / total if total else 1.0
        bar.progress(share, text=f"Comparing, {megabytes(2 * done)} of {megabytes(2 * total)}")

    files, answer = local_files(audit.model), remote(chosen_source())
    if files is not None:
        remember_heard(identity(files), hear_files(files, progress=tell))
    elif answer is not None and audit.declared and audit.stored:
        compared = compare_remote(answer.listing, audit.stored, tell)
        remember_heard(_remote_key(answer), (audit.declared, compared))
    st.rerun()
