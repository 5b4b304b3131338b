"""A prompt continued on a page: how, the tokens as they come, and what stops it."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.charts.palette import OTHER, faded
from tiedviz.ui.caches import ids_of, lru
from tiedviz.ui.frame import show_refusal
from tiedviz.ui.prompt_bar import DECODER_KEY, append_to_prompt
from tiedviz.ui.share import csv_button
from tiedviz.words.numbers import percent
from tiedviz.words.refusals.continuation import ContinuationRefusal

if TYPE_CHECKING:
    from tiedviz.compute.continuation import Continuation, Way
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt


_CHIP = (
    "display:inline-block;margin:0 .3rem .35rem 0;padding:.1rem .4rem;border-radius:.4rem;"
    f"border:1px solid {faded(OTHER, 0.55)}"
)
_TEXT = "background:none;padding:0;font-size:.9rem"
_MOST = 100
_RUNNING_KEY = "continuing"


def way_controls() -> tuple[Way, int]:
    """Greedy or sampled, with what a draw needs, and how many tokens. The same on every page."""
    from tiedviz.compute.continuation import GREEDY, Way

    how, number, *rest = st.columns([2.2, 1.2, 1.2, 1.2, 1.2], vertical_alignment="bottom")
    chosen = how.segmented_control(
        "Continue",
        ["greedy", "sampled"],
        default="greedy",
        key="continue how",
        required=True,
        persist_state="session",
        help="greedy: the most probable token each time. sampled: drawn, with a seed.",
    )
    most = number.number_input("Tokens", 1, _MOST, 12, key="continue most", persist_state="session")
    if chosen != "sampled":
        return GREEDY, int(most)
    heat = rest[0].number_input(
        "Temperature", 0.1, 5.0, 1.0, 0.1, key="continue temperature", persist_state="session",
        help="Logits are divided by it before softmax: below 1 sharper, above 1 flatter.",
    )  # fmt: skip
    top_p = rest[1].number_input(
        "Top-p", 0.01, 1.0, 1.0, 0.05, key="continue top-p", persist_state="session",
        help="Only the likeliest tokens that together reach it are drawn from.",
    )  # fmt: skip
    seed = rest[2].number_input(
        "Seed", 0, 2**31, 0, key="continue seed", persist_state="session",
        help="The same seed draws the same text.",
    )  # fmt: skip
    return Way(True, float(heat), float(top_p), int(seed)), int(most)


def continuation_so_far(key: str, prompt: Prompt, way: Way, most: int) -> Continuation | None:
    """What is known already of a continuation, cut to `most` tokens; None where nothing is.

    Args:
        key: of the model, which need not be open.
        prompt: what it goes on after.
        way: how.
        most: how many tokens.
    """
    from tiedviz.compute.continuation import Continuation

    known = lru("continuations").get(_name(key, prompt, way))
    return None if known is None else Continuation(known.tokens[:most])


def write_on(
    loaded: LoadedModel,
    prompt: Prompt,
    way: Way,
    most: int,
    show: Callable[[Continuation], object],
) -> Continuation:
    """Continue a prompt up to `most` tokens, from what is known already.

    Each token is kept at once, so that a run that is stopped or replaced loses none. `show` is
    called after each, outside the model's lock: there a superseded run ends.

    Raises:
        ContinuationRefusal, ModelRefusal: as `continued`.
    """
    from tiedviz.compute.continuation import Continuation, continued

    name, kept = _name(loaded.key, prompt, way), lru("continuations")
    found = continuation_so_far(loaded.key, prompt, way, most) or Continuation()
    if found.ended or len(found.tokens) >= most:
        return found
    tokens = continued(
        loaded, prompt.ids, decoder_ids=prompt.decoder_ids, way=way, written=found.ids, most=most
    )
    kept.keep(name, found)
    for token in tokens:
        found = Continuation((*found.tokens, token))
        kept.keep(name, found)
        show(found)
    return found


def _name(key: str, prompt: Prompt, way: Way) -> tuple[object, ...]:
    return key, ids_of(prompt), way


def continuation_chips(texts: list[str], found: Continuation, sampled: bool) -> str:
    """The tokens as chips with their probabilities, as HTML.

    Args:
        texts: how each is printed.
        found: the tokens.
        sampled: whether what each was drawn with stands beside its plain probability.
    """
    chips = []
    for text, token in zip(texts, found.tokens, strict=True):
        odds = percent(token.probability)
        if sampled:
            odds += f" · {percent(token.drawn)}"
        said = escape(f"id {token.id}, rank {token.rank}", quote=True)
        chips.append(
            f"<span style='{_CHIP}' title='{said}'><code style='{_TEXT}'>{escape(text)}</code> "
            f"<small style='opacity:.75'>{odds}</small></span>"
        )
    return f"<div style='line-height:1.9'>{''.join(chips)}</div>"


def chips_meaning(sampled: bool, ended: bool) -> str:
    """What the numbers on the chips are, as a caption."""
    words = "The number on each token is its probability at temperature 1, over all V."
    if sampled:
        words = (
            "The numbers on each token: its probability at temperature 1 over all V · the "
            "probability it was drawn with, after temperature and top-p."
        )
    return f"{words} The model ended the text by itself." if ended else words


def way_arguments(found: Continuation, way: Way) -> list[str]:
    """The options of the command line that write the same continuation."""
    options = ["--continue", str(len(found.tokens))]
    if way.sampled:
        options += ["--temperature", f"{way.temperature:g}", "--top-p", f"{way.top_p:g}"]
        options += ["--seed", str(way.seed)]
    return options


def go_on(loaded: LoadedModel, prompt: Prompt) -> tuple[Continuation, Way] | None:
    """Controls, and under them what the model writes. Returns it, where there is something."""
    st.subheader("Continue", anchor=False)
    if loaded.kind == "masked":
        show_refusal(ContinuationRefusal.fills_gaps(loaded.title))
        return None
    way, most = way_controls()
    name = (_name(loaded.key, prompt, way), prompt.text, most)
    running = st.session_state.get(_RUNNING_KEY) == name
    with st.container(horizontal=True):
        st.button(
            "Continue the prompt",
            icon=":material/play_arrow:",
            disabled=running,
            on_click=_run,
            args=(name,),
        )
        stop = st.empty()
        append = st.empty()
    place, meaning = st.empty(), st.empty()

    def show(found: Continuation) -> None:
        texts = [token.shown for token in loaded.vocabulary.tokens(found.ids)]
        place.html(continuation_chips(texts, found, way.sampled))

    if running:
        stop.button("Stop", icon=":material/stop:", on_click=_run, args=(None,))
        write_on(loaded, prompt, way, most, show)
        st.session_state[_RUNNING_KEY] = None
        st.rerun()
    found = continuation_so_far(loaded.key, prompt, way, most)
    if found is None or not found.tokens:
        meaning.caption("What the model would write after the prompt, and how sure it is of each.")
        return None
    show(found)
    meaning.caption(chips_meaning(way.sampled, found.ended))
    _append_button(append, loaded, prompt, found)
    _table(loaded, found)
    return found, way


def _run(name: object) -> None:
    st.session_state[_RUNNING_KEY] = name


def _append_button(
    place: st.delta_generator.DeltaGenerator,
    loaded: LoadedModel,
    prompt: Prompt,
    found: Continuation,
) -> None:
    raw = b"".join(token.raw for token in loaded.vocabulary.tokens(found.text_ids))
    text = raw.decode("utf-8", "ignore")  # half a character at the end cannot be typed
    place.button(
        "Append to the prompt" if prompt.written is None else "Append to the answer",
        icon=":material/add:",
        disabled=not text,
        on_click=append_to_prompt if prompt.written is None else _append_to_answer,
        args=(text,),
    )


def _append_to_answer(text: str) -> None:
    st.session_state[DECODER_KEY] = (st.session_state.get(DECODER_KEY) or "") + text


def _table(loaded: LoadedModel, found: Continuation) -> None:
    """The same as a table that can be read aloud and taken along."""
    tokens = loaded.vocabulary.tokens(found.ids)
    frame = pd.DataFrame(
        {
            "token": [token.shown for token in tokens],
            "id": found.ids,
            "probability": [token.probability for token in found.tokens],
            "drawn with": [token.drawn for token in found.tokens],
            "rank": [token.rank for token in found.tokens],
        }
    )
    with st.expander("As a table"):
        st.dataframe(
            frame,
            hide_index=True,
            key="continuation table",
            column_config={
                "probability": st.column_config.NumberColumn(format="percent"),
                "drawn with": st.column_config.NumberColumn(format="percent"),
            },
            alt="The tokens of the continuation with their probabilities",
        )
        csv_button(frame, "continuation")
