"""The chosen model, open: the button with its cost, the progress, failures, files that changed."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.files.access import identity
from tiedviz.models.progress import Stage
from tiedviz.models.sources import ShelfSource, Source
from tiedviz.ui.caches import model_pool
from tiedviz.ui.frame import show_refusal
from tiedviz.ui.frame.model_choice import chosen_source, remote
from tiedviz.words.numbers import megabytes
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.verdict.audit import Audit


def opened_model(what_for: str) -> LoadedModel:
    """The chosen model, open. Where it is not, draw the way to open it and end the run.

    Args:
        what_for: what the page will show then, as a sentence.

    Raises:
        OpeningRefusal: the model box names nothing.
    """
    source = chosen_source()
    loaded = model_pool().get(source.text, _visitor())
    if loaded is not None:
        return loaded
    if not is_opening(source):
        _invitation(source, what_for)
    else:
        progress(source, "page")
    st.stop()


def opened_or_invited(what_for: str) -> LoadedModel | None:
    """The chosen model, open; else None, after drawing the way to open it. The page goes on.

    A page that uses this leaves the progress to the sidebar.

    Args:
        what_for: what will stand here then, as a sentence.

    Raises:
        OpeningRefusal: the model box names nothing.
    """
    source = chosen_source()
    loaded = model_pool().get(source.text, _visitor())
    if loaded is None and is_opening(source):
        st.info(
            f"{markdown_safe(source.title)} is on its way; the sidebar shows how far. {what_for}",
            icon=":material/hourglass_top:",
        )
    elif loaded is None:
        _invitation(source, what_for)
    return loaded


def is_opening(source: Source) -> bool:
    """Whether `source` is on its way in."""
    opening = model_pool().opening(source.text)
    return opening is not None and not opening.finished


def open_button(source: Source, key: str, label: str = "") -> None:
    """The button that opens `source`, with what that costs in words; dead while it is opening.

    Args:
        source: the model.
        key: of the button.
        label: what it says; "Open" and the model's name where nothing else is given.
    """
    busy = is_opening(source)
    st.button(
        "Opening …" if busy else label or f"Open {markdown_safe(source.title)}",
        key=key,
        type="primary",
        icon=":material/play_arrow:",
        disabled=busy,
        on_click=_begin,
        args=(source.text,),
    )
    st.caption(_terms(source))


def _begin(source: str) -> None:
    model_pool().open(source, _visitor())


def _visitor() -> str:
    """A name for this visit, so that a model waits for whoever opened it."""
    return str(st.session_state.setdefault("visitor", secrets.token_hex(8)))


def _terms(source: Source) -> str:
    """The cost in words, and the licence of what would be fetched."""
    cost = source.cost(remote(source))
    words = "What this takes is known once the Hub answers." if cost is None else f"{cost.words}."
    if isinstance(source, ShelfSource):
        words += f" Licence of the weights: {source.model.licence}."
    return words


def show_failure(source: Source) -> None:
    """Why the last opening of `source` failed, if it did."""
    opening = model_pool().opening(source.text)
    if opening is not None and opening.refusal is not None:
        show_refusal(opening.refusal)


def _invitation(source: Source, what_for: str) -> None:
    show_failure(source)
    with st.container(border=True):
        st.markdown(f"**{markdown_safe(source.title)}** is not open yet. {what_for}")
        open_button(source, key="open from the page")


@st.fragment(run_every=0.5)
def progress(source: Source, place: str) -> None:
    """How far the opening has come, redrawn twice a second; then the whole page.

    Args:
        source: what is being opened.
        place: tells the copies on one screen apart.
    """
    opening = model_pool().opening(source.text)
    if opening is None or opening.finished:
        st.rerun()
    with st.container(border=True):
        stage = opening.stage
        st.progress(stage.fraction or 0.0, text=f"{markdown_safe(source.title)}: {_words(stage)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                f"{opening.seconds:.0f} s so far. The page stays usable; what you type is kept."
            )
            st.button("Cancel", on_click=opening.cancel, key=f"cancel on the {place}")


def _words(stage: Stage) -> str:
    """As in: Fetching, 40 MB of 93 MB."""
    if stage.total is None:
        return stage.name
    if stage.unit == "bytes":
        done = f"{megabytes(stage.done)} of " if stage.done else ""
        return f"{stage.name}, {done}{megabytes(stage.total)}"
    return f"{stage.name}, {stage.done} of {stage.total} {stage.unit}"


def with_refused_opening(audit: Audit, files: str) -> Audit:
    """The same with what an opening that was refused found out about how the files fit.

    Args:
        audit: of the files.
        files: their identity now; a report on what they were before is left out.
    """
    opening = model_pool().opening(audit.model)
    refusal = opening.refusal if opening else None
    if getattr(refusal, "of", "") != files:
        return audit
    return replace(audit, reported=getattr(refusal, "fit", None), not_loaded=str(refusal))


def is_stale(loaded: LoadedModel) -> bool:
    """Whether the files changed, or went, since the model was opened."""
    return not loaded.folder.is_dir() or not loaded.key.startswith(identity(loaded.folder))


def offer_to_reopen(loaded: LoadedModel) -> None:
    """A warning and a button, where the open model is stale."""
    if is_stale(loaded):
        st.warning("Its files changed since it was opened.", icon=":material/update:")
        st.button("Open it again", on_click=_reopen, args=(loaded.source,))


def _reopen(source: str) -> None:
    model_pool().forget(source)
    model_pool().open(source)
