"""The prompt bar: what to read, with or without BOS, and which position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.frame.model_choice import chosen_facts, chosen_source
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import Token, characters, markdown_safe, visible

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt

PROMPT_KEY = "prompt"
BOS_KEY = "bos"
POSITION_KEY = "pos"
DECODER_KEY = "decoder"
DEFAULT_PROMPT = "The opposite of hot is"
PRESETS = (DEFAULT_PROMPT, "The capital of France is", "Once upon a time, there was a")

# Typing is answered letter by letter while a forward pass takes a fraction of a second.
_LIVE_PARAMETERS = 300_000_000


def prompt_bar() -> None:
    """The box for the prompt, and the BOS switch. Drawn whether or not a model is open."""
    several = st.session_state.get("several lines", False)
    box, bos, more = st.columns([6, 2.2, 1], vertical_alignment="bottom")
    with box:
        if several:
            st.text_area("Prompt", DEFAULT_PROMPT, key=PROMPT_KEY, bind="query-params", height=110)
        else:
            st.text_input(
                "Prompt", DEFAULT_PROMPT, key=PROMPT_KEY, bind="query-params", live=_at_once()
            )
    bos.segmented_control(
        "BOS",
        ["default", "add", "omit"],
        default="default",
        key=BOS_KEY,
        bind="query-params",
        required=True,
        help="The mark at the beginning: as this tokenizer does by itself, always, or never.",
    )
    with more.popover("", icon=":material/more_vert:", help="Examples, several lines"):
        for preset in PRESETS:
            st.button(preset, on_click=_set_prompt, args=(preset,), type="tertiary")
        st.toggle("Several lines", key="several lines", persist_state="session")


def chosen_bos() -> str:
    """default, add or omit. A link with nothing behind `bos=` leaves none chosen: the default."""
    return str(st.session_state[BOS_KEY] or "default")


def bos_to_share() -> str | None:
    """What a link and a command say of BOS; None, nothing, for the default."""
    return None if chosen_bos() == "default" else chosen_bos()


def decoder_to_share(prompt: Prompt) -> str | None:
    """What they say of the answer so far: None where there is no decoder, or nothing is typed."""
    written = st.session_state.get(DECODER_KEY) if prompt.written is not None else None
    return written or None


def _at_once() -> bool:
    """Whether an answer takes so little that it may be given at every key."""
    try:
        facts = chosen_facts(chosen_source())
    except Refusal:
        return False  # the sidebar says why
    return facts is not None and facts.parameters <= _LIVE_PARAMETERS


def _set_prompt(text: str) -> None:
    st.session_state[PROMPT_KEY] = text


def append_to_prompt(text: str) -> None:
    """Put `text` behind what is typed, and read the new last position."""
    st.session_state[PROMPT_KEY] += text
    choose_position(-1)


def choose_position(position: int) -> None:
    """Read the state at `position`, −1 for where it is read by itself, and say so in the link."""
    st.session_state[POSITION_KEY] = position
    _write_position()


def encoded_prompt(loaded: LoadedModel) -> Prompt:
    """What is typed, as tokens of this model; its notes stand under the bar.

    Raises:
        PromptRefusal, PromptTooLong: there is nothing to run, or too much.
    """
    from tiedviz.models.prompt import Bos, encode

    decoder = decoder_box() if loaded.kind == "seq2seq" else ""
    typed = st.session_state[PROMPT_KEY]
    prompt = encode(loaded, typed, Bos(chosen_bos()), decoder)
    for note in prompt.notes:
        st.caption(f":material/info: {markdown_safe(note)}")
    if loaded.kind == "masked":
        _offer_mask(loaded, prompt)
    return prompt


def decoder_box() -> str:
    """The box for what a model with a decoder has written so far. Returns it."""
    return str(
        st.text_input(
            "Written so far",
            key=DECODER_KEY,
            bind="query-params",
            live=True,
            help="This model reads the prompt with one part and writes its answer with another. "
            "Empty: the answer has not begun.",
        )
    )


def _offer_mask(loaded: LoadedModel, prompt: Prompt) -> None:
    mask = loaded.tokenizer.mask_token
    if mask and loaded.tokenizer.mask_token_id not in prompt.ids:
        st.button(
            f"Put {markdown_safe(mask)} at the end",
            on_click=append_to_prompt,
            args=(f" {mask}",),
            type="tertiary",
        )


def position_chips(prompt: Prompt) -> int:
    """The tokens as chips; the chosen one is the position that is read. Returns it, from 0.

    In the link −1 stands for the place that is read where nobody chooses: the last position, or
    the first mask of a model that fills gaps.
    """
    options = [-1 if each == prompt.place else each for each in range(len(prompt.read))]
    if POSITION_KEY not in st.session_state:  # a link names it, or nobody has
        named = str(st.query_params.get(POSITION_KEY))
        found = [each for each in options if str(each) == named]
        st.session_state[POSITION_KEY] = found[0] if found else -1
    elif st.session_state[POSITION_KEY] not in options:
        st.session_state[POSITION_KEY] = -1
    chosen = st.pills(
        "Read the state at this token" if prompt.written is None else "Read the answer after",
        options,
        format_func=lambda each: _chip(prompt.read[prompt.place if each == -1 else each]),
        key=POSITION_KEY,
        persist_state="session",
        on_change=_write_position,
        required=True,
    )
    position = prompt.place if chosen in (-1, None) else int(chosen)
    _details(prompt.read, position)
    return position


def _write_position() -> None:
    """Keep the link in step: bound pills would write their labels there instead of numbers."""
    chosen = st.session_state.get(POSITION_KEY)
    if chosen in (None, -1):
        st.query_params.pop(POSITION_KEY, None)
    else:
        st.query_params[POSITION_KEY] = str(chosen)


def _chip(token: Token) -> str:
    """`␣France` with its id in small grey figures."""
    shown = markdown_safe(token.shown)
    return (
        f":gray[{shown}] :gray[:small[{token.id}]]"
        if token.special
        else (f"{shown} :gray[:small[{token.id}]]")
    )


def _details(tokens: Sequence[Token], position: int) -> None:
    token = tokens[position]
    # as the tokenizer writes it, but no letter of it may turn or hide the line
    piece = markdown_safe(visible(str(token.piece).encode("utf-8", "surrogatepass")))
    kind = "special token" if token.special else f"bytes {token.hex}"
    st.caption(
        f"Position {position} of {len(tokens)} · id {token.id} · piece {piece} · {kind}"
        f"{_part_of(tokens, position)}"
    )


def _part_of(tokens: Sequence[Token], position: int) -> str:
    """Which character the token is a part of, where it is not whole by itself."""
    group = next(group for group in characters(tokens) if position in group)
    if len(group) == 1:
        return ""
    spelled = visible(b"".join(tokens[each].raw for each in group))
    return f" · part of {markdown_safe(spelled)} (positions {group[0]} to {group[-1]})"
