"""The sidebar that every page shares: the model, its facts and verdict, memory, the words."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Literal

import streamlit as st

from tiedviz.files.access import identity
from tiedviz.models.known import KnownFacts
from tiedviz.models.memory import available_memory
from tiedviz.models.sources import Source
from tiedviz.ui.caches import header_verdict, heard_files, model_pool
from tiedviz.ui.frame import refusals_shown
from tiedviz.ui.frame.model_choice import (
    chosen_facts,
    chosen_source,
    hub_is_thinking,
    model_box,
    remote,
)
from tiedviz.ui.frame.opened_model import (
    is_opening,
    offer_to_reopen,
    open_button,
    progress,
    show_failure,
    with_refused_opening,
)
from tiedviz.words.numbers import count, megabytes, percent, short_count
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.verdict.audit import Audit


def sidebar(*, polls: bool) -> None:
    """Draw it. Its words for a model that cannot be read stand where its facts would.

    Args:
        polls: whether it follows an opening by itself; false where the page does.
    """
    with st.sidebar:
        model_box()
        with refusals_shown():
            source = chosen_source()
            if hub_is_thinking(source):
                _wait_for_the_hub(source)
            elif (facts := chosen_facts(source)) is not None:
                _facts(facts)
            verdict_badge(source)
            _readiness(source, polls)
        _memory()
        glossary()


@st.fragment(run_every=0.4)
def _wait_for_the_hub(source: Source) -> None:
    """A line that stands until the Hub has answered; then the whole page is drawn again."""
    if not hub_is_thinking(source):
        st.rerun()
    st.caption("Asking the Hub what this model is …")


def _facts(facts: KnownFacts) -> None:
    tables = "E" if facts.stores_one_table else "E and W"
    rows = {
        "V, rows of E": _count(facts.V),
        "d, width of E": _count(facts.d),
        "L, blocks": _count(facts.layers),
        f"parameters ({short_count(facts.parameters)})": count(facts.parameters),
        f"{tables} in all parameters": "–" if facts.share is None else percent(facts.share, 2),
    }
    cells = "".join(
        f"<span>{escape(name)}</span><span style='text-align:right'>{escape(value)}</span>"
        for name, value in rows.items()
    )
    st.html(
        "<div style='display:grid;grid-template-columns:1fr auto;gap:.2rem .8rem;"
        f"font-size:.9rem'>{cells}</div>"
    )
    st.caption(facts.origin[0].upper() + facts.origin[1:] + ".")


def _count(number: int | None) -> str:
    return "–" if number is None else count(number)


def _readiness(source: Source, polls: bool) -> None:
    loaded = model_pool().get(source.text)
    if loaded is None:
        _not_open(source, polls)
        return
    offer_to_reopen(loaded)
    with st.container(horizontal=True):
        if loaded.placement:
            st.badge(loaded.placement, icon=":material/hard_drive:", color="orange")
        st.badge(f"live, {loaded.dtype}", icon=":material/check_circle:", color="green")
        word = "one matrix in memory" if loaded.tied else "two matrices in memory"
        st.badge(
            word, icon=":material/link:" if loaded.tied else ":material/link_off:", color="blue"
        )


def _not_open(source: Source, polls: bool) -> None:
    if is_opening(source):
        if polls:
            progress(source, "sidebar")
        else:
            st.badge("opening …", icon=":material/hourglass_top:", color="orange")
        return
    st.badge("not open", icon=":material/radio_button_unchecked:", color="gray")
    show_failure(source)
    open_button(source, key="open from the sidebar")


def _memory() -> None:
    open_models = model_pool()
    st.caption(
        f"Open models: {megabytes(open_models.nbytes)} of {megabytes(open_models.budget)} · "
        f"free memory: {megabytes(available_memory())}"
    )


_TONES: dict[str, tuple[Literal["blue", "orange", "red", "gray"], str]] = {
    "calm": ("blue", ":material/check:"),
    "amber": ("orange", ":material/warning:"),
    "red": ("red", ":material/error:"),
    "grey": ("gray", ":material/help:"),
}


def verdict_badge(source: Source) -> None:
    """The word, with its state as a tooltip; nothing where no file can be heard yet.

    No weights are read for it. Two stored matrices that nobody has compared are called just that:
    most are an untied model's, and the page Is it tied? compares them.
    """
    try:
        audit = _audit(source)
    except Refusal:
        return  # the words for it stand where the facts would
    if audit is None:
        return
    verdict = audit.verdict
    word, about = verdict.word.replace("_", " "), verdict.state
    if verdict.word == "cannot_tell" and audit.two_copies and not audit.comparison:
        word, about = "two matrices, not compared", "Compare them on the page Is it tied?"
    colour, icon = _TONES[verdict.tone]
    st.badge(f"by its files: {word}", icon=icon, color=colour, help=markdown_safe(about))


def _audit(source: Source) -> Audit | None:
    """What can be heard without opening or fetching anything."""
    from tiedviz.verdict.audit import Audit, local_files

    files = local_files(source.text)
    if files is not None:
        key = identity(files)
        found = heard_files(key)
        audit = header_verdict(key, files) if found is None else Audit(*found)
        return with_refused_opening(replace(audit, model=source.text), key)
    answer = remote(source)
    if answer is None or answer.witnesses is None:
        return None
    declared, stored = answer.witnesses
    return Audit(declared, stored, model=source.text)


GLOSSARY = {
    "E": "the embedding matrix: row x is the vector of token x. Shape V × d.",
    "W": "the matrix that scores the next token. Tied means that W is E.",
    "V": "how many rows E has: the size of the vocabulary, padding included.",
    "d": "how long a row is: the model's width, in most models.",
    "L": "how many blocks a state passes.",
    "r_k": "the state after block k, in the residual stream; r_0 enters block 1.",
    "h_L": "exactly what enters the output matrix: r_L after the final norm and whatever else "
    "this model does there.",
    "logit z_j": "the score of token j: the dot product h_L · w_j, plus what this model adds.",
    "softmax": "turns all logits into probabilities that add up to 1.",
    "unembedding": "the way from a state to the logits.",
    "share": "the part of all parameters that lies in E (and in W, where it is another matrix).",
    "W_E and W_U": "E and W.T as TransformerLens prints them. It folds the norm's weight into W_U "
    "and centres it (fold_ln, center_unembed), so its numbers differ from the checkpoint's, which "
    "are shown here; the probabilities are the same.",
    "BOS": "a special token that marks the beginning of a text.",
}


def glossary() -> None:
    """The popover."""
    with st.popover("Words", icon=":material/menu_book:"):
        st.markdown("\n".join(f"- **{word}**: {meaning}" for word, meaning in GLOSSARY.items()))
