"""The pieces of the page Next token. Here: the layer, the answer, its proof, its export."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.ui.continuing import go_on, way_arguments
from tiedviz.ui.frame.model_choice import chosen_source
from tiedviz.ui.layers.controls import LAYER_KEY, layer_slider
from tiedviz.ui.next_token.arithmetic import difference_of_two, logit_as_arithmetic
from tiedviz.ui.next_token.candidates import BY_KEY, TEMPERATURE_KEY, candidates, read_any_vector
from tiedviz.ui.plain_code import layer_code
from tiedviz.ui.prompt_bar import POSITION_KEY, bos_to_share, decoder_to_share
from tiedviz.ui.share import opening_code, options, share
from tiedviz.words.numbers import count, percent, scientific
from tiedviz.words.tokens import Token, markdown_safe, readable, shorten

if TYPE_CHECKING:
    from tiedviz.compute.continuation import Continuation, Way
    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt

__all__ = [
    "candidates",
    "chosen_layer",
    "difference_of_two",
    "go_on",
    "headline",
    "logit_as_arithmetic",
    "proof",
    "read_any_vector",
    "share_and_export",
]


def headline(loaded: LoadedModel, prompt: Prompt, state: ScoredState) -> None:
    """`The opposite of hot is → ␣cold 68.1 %`, at temperature 1."""
    from tiedviz.compute.next_token.candidates import likeliest

    best, probability = likeliest(state)
    question = markdown_safe(_question(loaded, prompt, state))
    answer = f":orange[{markdown_safe(loaded.vocabulary.token(best).shown)}] {percent(probability)}"
    lens = "" if state.is_last else f"  (layer {state.layer} would say)"
    st.subheader(f"{question} → {answer}{lens}", anchor=False)


def _question(loaded: LoadedModel, prompt: Prompt, state: ScoredState) -> str:
    """What was read: the text so far; the whole text, where a gap in it is filled."""
    if loaded.kind == "masked":
        return shorten(_text(prompt.tokens), 60)
    written = _text(prompt.read[: state.position + 1])
    if prompt.written is None:
        return shorten(written, 60)
    return f"{shorten(_text(prompt.tokens), 40)} ⇒ {shorten(written, 30)}"


def _text(tokens: Sequence[Token]) -> str:
    return readable(b"".join(token.raw for token in tokens))


def proof(loaded: LoadedModel, state: ScoredState) -> None:
    """The formula of this model's logits, and how close it comes to the model's own."""
    from tiedviz.compute.next_token.candidates import mass_without_token
    from tiedviz.compute.next_token.formula import formula_latex, formula_notes
    from tiedviz.compute.unembedding import unembedding_of

    unembedding = unembedding_of(loaded)
    assert unembedding.after is not None  # a state is scored only where it was reproduced
    left, right = st.columns([2, 5], vertical_alignment="center")
    left.latex(formula_latex(unembedding.after, tied=loaded.tied, state=state.name))
    rows = loaded.scoring_matrix.shape[0]
    product = "this product" if state.is_last else "this product of h_L"
    sentence = (
        f"max |Δ| = **{scientific(state.max_abs_error)}** between {product} and the model's "
        f"own {count(rows)} logits, limit {scientific(state.tolerance)} ({loaded.dtype})."
    )
    if not state.is_last:
        sentence += f" That is layer {state.layers}; the numbers below are of {state.name}."
    notes = "; ".join(formula_notes(unembedding, state.layer))
    right.caption(f"{sentence}  \nHere {markdown_safe(notes)}.")
    if not state.agrees:
        st.warning("The product differs from the model by more than rounding: believe the model.")
    if mass := mass_without_token(loaded, state):
        spare = rows - loaded.vocabulary.size
        st.caption(f"{count(spare)} rows have no token; the model gives them {percent(mass)}.")


def chosen_layer(loaded: LoadedModel) -> int:
    """The layer whose state is read: −1, the model's own answer, unless another was chosen.

    A layer below the last is said in words, with the way back; where none is chosen, nothing is
    drawn.
    """
    from tiedviz.compute.unembedding import unembedding_of

    unembedding = unembedding_of(loaded)
    linked = st.query_params.get(LAYER_KEY, "")
    named = st.session_state.get(LAYER_KEY, int(linked) if re.fullmatch(r"\d{1,4}", linked) else -1)
    if unembedding.path is None or not 0 <= named < unembedding.layers:
        return -1
    layer = layer_slider(loaded)
    if layer == unembedding.layers:
        return -1
    st.info(
        f"You are reading h_{layer}, the state after block {layer} of {unembedding.layers}, "
        "through the logit lens: what the model would answer if it stopped there. "
        "It is not the model's answer.",
        icon=":material/layers:",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"Read layer {unembedding.layers}, the model's own answer",
            on_click=_read_the_last,
            args=(unembedding.layers,),
            type="tertiary",
        )
        st.page_link("../pages/layers.py", label="Back to Layers", icon=":material/layers:")
    return layer


def _read_the_last(layers: int) -> None:
    st.session_state[LAYER_KEY] = layers


def share_and_export(
    loaded: LoadedModel,
    prompt: Prompt,
    state: ScoredState,
    frame: pd.DataFrame,
    picked: int,
    written: tuple[Continuation, Way] | None,
) -> None:
    """The popover. What it offers gives the numbers that are on the screen now."""
    from tiedviz.compute.continuation import continuation_record
    from tiedviz.compute.next_token.candidates import By, inspection

    below = None if state.is_last else state.layer
    by = By(str(st.session_state.get(BY_KEY) or "logit"))
    temperature = float(st.session_state.get(TEMPERATURE_KEY, 1.0))
    bos, decoder = bos_to_share(), decoder_to_share(prompt)
    position = st.session_state[POSITION_KEY]
    position = None if position == -1 else position
    note = ""
    if by is not By.LOGIT or temperature != 1.0:
        note = (
            f"The command ranks by logit, at temperature 1; the files hold what is shown: by "
            f"{by.value}, at temperature {temperature:g}."
        )
    record = inspection(loaded, prompt, state, by=by, temperature=temperature, nearest=frame)
    if written is not None:
        record["continuation"] = continuation_record(loaded, *written)
    share(
        "next_token",
        link={
            "model": loaded.source,
            "prompt": prompt.text,
            "bos": bos,
            "pos": position,
            "layer": below,
            "token": picked,
            "decoder": decoder,
        },
        commands=[
            [
                "inspect",
                loaded.source,
                *options(
                    {
                        "--prompt": prompt.text,
                        "--decoder": decoder,
                        "--bos": bos,
                        "--position": position,
                        "--layer": below,
                    }
                ),
                *([] if written is None else way_arguments(*written)),
            ]
        ],
        note=note,
        code=_code(loaded, prompt, state.position)
        if below is None
        else layer_code(loaded, prompt, below, state.position),
        name="next-token" if below is None else f"next-token-layer-{below}",
        table=frame,
        record=record,
    )


def _code(loaded: LoadedModel, prompt: Prompt, position: int) -> str:
    kind = type(loaded.model).__name__
    written = ""
    if prompt.decoder_ids is not None:
        written = f", decoder_input_ids=torch.tensor([{prompt.decoder_ids}])"
    return (
        f"{opening_code(chosen_source(), kind)}"
        f"ids = torch.tensor([{prompt.ids}])  # {prompt.text!r}\n"
        "with torch.inference_mode():\n"
        f"    z = model(ids{written}).logits[0, {position}]\n"
        "values, best = z.topk(10)\n"
        "print([(tokenizer.decode([j]), float(v)) for v, j in zip(values, best)])\n"
    )
