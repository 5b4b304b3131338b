"""What has been heard about the chosen model so far, and how to hear the rest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.models.identity import identity
from tiedviz.models.sources import ShelfSource, Source
from tiedviz.ui.caches import COMPARED_AT_ONCE, heard_files, remember_heard, residents
from tiedviz.ui.frame.choice import chosen_source, hub_is_thinking, remote
from tiedviz.ui.frame.opening import open_button
from tiedviz.ui.frame.refusals import refusals_shown
from tiedviz.ui.frame.stale import is_stale
from tiedviz.verdict.audit import hear_files
from tiedviz.verdict.hearing import Hearing, hearing, local_files
from tiedviz.verdict.open_model import live_witnesses
from tiedviz.verdict.witnesses import Declared, Stored
from tiedviz.words.numbers import megabytes

if TYPE_CHECKING:
    from tiedviz.models.hub.known import RemoteModel


@dataclass(frozen=True)
class Heard:
    """A hearing on the page.

    Attributes:
        source: the model.
        files: where its files lie on this machine, or None.
        hearing: the witnesses heard so far, and the verdict on them.
        remote: what the Hub said, where the files are only there.
    """

    source: Source
    files: Path | None
    hearing: Hearing
    remote: RemoteModel | None = None


def hear_chosen() -> Heard | None:
    """The witnesses of the chosen model that can be heard now; None where there is none yet.

    The files at once; the live model where it is open. Nothing is opened or fetched for it.

    Raises:
        Refusal: its files cannot be read, or the Hub says no.
    """
    source = chosen_source()
    files = local_files(source.text)
    if files is None:
        return _before_it_is_here(source)
    declared, stored = _hear_files(files)
    loaded = residents().get(source.text)
    if loaded is None or is_stale(loaded):
        return Heard(source, files, hearing(source.text, declared, stored, None))
    with loaded.lock:
        if "live witnesses" not in loaded.memo:
            loaded.memo["live witnesses"] = live_witnesses(loaded)
    live = loaded.memo["live witnesses"]
    return Heard(source, files, hearing(source.text, declared, stored, live))


def _before_it_is_here(source: Source) -> Heard | None:
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
    key = _remote_key(answer)
    declared, stored = heard_files(key) or answer.witnesses
    found = hearing(source.text, declared, stored, None)
    return Heard(source, None, found, answer)


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


def hear_the_rest(heard: Heard) -> None:
    """Buttons for what has not been heard: comparing two copies, opening the model."""
    stored = heard.hearing.stored
    if (
        stored.two_copies
        and stored.comparison is None
        and stored.uncompared.startswith("comparing")
    ):
        verb = "reads" if heard.files is not None else "fetches"
        size = megabytes(stored.to_read)
        if st.button(f"Compare the two copies ({verb} {size})", icon=":material/compare:"):
            with refusals_shown():
                _compare(heard)
    if heard.hearing.live is None and "loaded" in heard.hearing.verdict.unheard:
        open_button(heard.source, key="hear all four", label="Hear all four")


def _compare(heard: Heard) -> None:
    """Compare, with a bar. Any click stops it at the next block, that on Cancel too."""
    bar = st.progress(0.0, text="Comparing the two copies")
    st.button("Cancel", key="cancel comparing")

    def tell(done: int, total: int) -> None:
        share = done / total if total else 1.0
        bar.progress(share, text=f"Comparing, {megabytes(2 * done)} of {megabytes(2 * total)}")

    if heard.files is not None:
        remember_heard(identity(heard.files), hear_files(heard.files, progress=tell))
    elif heard.remote is not None:
        from tiedviz.verdict.stored import compare_remote

        compared = compare_remote(heard.remote.listing, heard.hearing.stored, tell)
        remember_heard(_remote_key(heard.remote), (heard.hearing.declared, compared))
    st.rerun()
