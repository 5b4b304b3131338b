"""What is asked for, the button with its cost, the passes, and which result is on the screen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.models.progress import Stage
from tiedviz.ui.caches import gradients_done, run_gradients
from tiedviz.ui.prompt_bar import PROMPT_KEY, chosen_bos
from tiedviz.words.numbers import megabytes, plural
from tiedviz.words.tokens import markdown_safe, shorten

if TYPE_CHECKING:
    from tiedviz.compute.gradient_task import Sentence
    from tiedviz.compute.gradients import GradientSplit
    from tiedviz.models.loaded import LoadedModel


TARGET_KEY = "target"


def task(loaded: LoadedModel) -> Sentence:
    """The sentence as tokens with their targets, and the caption that says how the loss is taken.

    Raises:
        PromptRefusal, PromptTooLong, GradientRefusal: there is nothing to run, or too much.
    """
    from tiedviz.compute.gradient_task import sentence_of
    from tiedviz.models.prompt import Bos

    target = _target_box() if loaded.kind == "seq2seq" else ""
    typed = st.session_state[PROMPT_KEY]
    sentence = sentence_of(loaded, typed, Bos(chosen_bos()), target)
    _chips(loaded, sentence)
    st.caption(
        f"{sentence.words} {plural(len(sentence.targets), 'position')} "
        f"{'enters' if len(sentence.targets) == 1 else 'enter'} the mean."
    )
    for note in sentence.notes:
        st.caption(f":material/info: {markdown_safe(note)}")
    return sentence


def _target_box() -> str:
    return str(
        st.text_input(
            "Asked of the decoder",
            key=TARGET_KEY,
            bind="query-params",
            help="This model reads with one part and writes with another. Empty: it is asked to "
            "write what it read.",
        )
    )


def _chips(loaded: LoadedModel, sentence: Sentence) -> None:
    """The tokens that are asked for, each with its id; equal texts differ in that."""
    targets = loaded.vocabulary.tokens(list(sentence.targets))
    words = [f"{markdown_safe(token.shown)} :gray[:small[{token.id}]]" for token in targets]
    st.markdown(":gray[Asked for] " + " :gray[·] ".join(words))


_SHOWN_KEY = "gradients shown"
_OLD = "gradients of another text"


@dataclass(frozen=True)
class Shown:
    """What stands on the screen.

    Attributes:
        sentence: the one it was computed for.
        split: the numbers.
        old: whether another sentence is typed by now.
    """

    sentence: Sentence
    split: GradientSplit
    old: bool


def run(loaded: LoadedModel, sentence: Sentence) -> Shown:
    """The split of this sentence, or the last one until somebody presses Run.

    Ends the page where there is neither.

    Raises:
        Refusal: the split cannot be computed; said before anything is run, where that is possible.
    """
    found = gradients_done(loaded, sentence)
    pressed = _button(loaded, sentence, found)
    if pressed and found is None:
        found = _run(loaded, sentence)
    if found is not None:
        st.session_state[_SHOWN_KEY] = (loaded.key, sentence)
        return Shown(sentence, found, old=False)
    key, before = st.session_state.get(_SHOWN_KEY, ("", None))
    last = gradients_done(loaded, before) if before is not None and key == loaded.key else None
    if last is None:
        st.stop()
    return Shown(before, last, old=True)


def _button(loaded: LoadedModel, sentence: Sentence, found: GradientSplit | None) -> bool:
    from tiedviz.compute.gradient_task import bytes_needed, require_room, seconds_needed, sides_of

    sides = sides_of(loaded)
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            "Run", type="primary", icon=":material/play_arrow:", disabled=found is not None
        )
        if found is not None:
            st.caption(f"Computed in {found.seconds:.1f} s. Change the text to run it again.")
        else:
            require_room(loaded, sides, sentence)
            seconds = seconds_needed(loaded, sides, sentence)
            st.caption(
                f"About {_rounded(seconds)}: two passes there and back, with up to "
                f"{megabytes(bytes_needed(loaded, sides, sentence))} of memory meanwhile. "
                "The model stays as it is, bit for bit."
            )
    return bool(pressed)


def _rounded(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 1.5 else "1 s" if seconds >= 0.5 else "half a second"


def _run(loaded: LoadedModel, sentence: Sentence) -> GradientSplit:
    place = st.empty()

    def tell(stage: Stage) -> None:
        # a run that another one has superseded ends here, between two passes
        place.progress((stage.fraction or 0.0) + 0.05, text=f"{stage.name} …")

    found = run_gradients(loaded, sentence, tell)
    place.empty()
    st.rerun()  # so that the button says what was done
    return found


@contextmanager
def results(shown: Shown) -> Iterator[None]:
    """Where the numbers stand; dimmed and named where they belong to another text."""
    if not shown.old:
        with st.container(key="gradients"):
            yield
        return
    text = markdown_safe(shorten(shown.sentence.text, 80))
    st.caption(f":material/history: Computed for “{text}”. Press Run for the text above.")
    st.html(f"<style>.st-key-{_OLD.replace(' ', '-')} {{opacity: .45}}</style>")
    with st.container(key=_OLD):
        yield
