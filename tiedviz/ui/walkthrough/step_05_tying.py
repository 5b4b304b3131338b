"""Step 5: one table for both jobs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from tiedviz.charts.palette import OUTPUT, SHARED, scoring_colour
from tiedviz.charts.walkthrough import arrows, drift_line
from tiedviz.compute.toy import Toy, seen_along
from tiedviz.compute.toy_training import Tables, Weights, drift
from tiedviz.ui.calculator import calculator
from tiedviz.ui.drawing import draw
from tiedviz.ui.frame.opened_model import opened_or_invited
from tiedviz.ui.prompt_bar import DEFAULT_PROMPT
from tiedviz.ui.walkthrough.halves import real_prompt, toy_editor, weights_control
from tiedviz.ui.walkthrough.step import Numbers, Question, Step
from tiedviz.words.numbers import count, megabytes
from tiedviz.words.tokens import markdown_safe

_RATE = 0.5
_READ, _TARGET = 2, 0  # "the", and then "cat"
_STEPS = 20


def _toy_half() -> None:
    """The switch, a few steps of training, and h_L among the rows that score."""
    toy = toy_editor(state=True)
    weights = weights_control("The output matrix is")
    steps = st.slider(
        "Training steps",
        0,
        _STEPS,
        0,
        key="steps of drift",
        persist_state="session",
        help=f"Each reads “{toy.words[_READ]}” and should say “{toy.words[_TARGET]}”; learning "
        f"rate {_RATE}.",
    )
    tables, apart = drift(toy, weights, _READ, _TARGET, _RATE, steps)
    _identity(tables, apart)
    if steps and weights is not Weights.TIED:
        draw(
            st,
            drift_line(apart),
            key="drift",
            alt=f"Distance between W and E after each of {steps} steps, now {apart[-1]:.4f}",
        )
    _among_the_rows(toy, tables)


def _identity(tables: Tables, apart: list[float]) -> None:
    """What Python says of the two names, evaluated now."""
    same, equal = tables.W is tables.E, bool(np.array_equal(tables.W, tables.E))
    st.code(
        f"W is E               # {same}\n"
        f"np.array_equal(W, E) # {equal}\n"
        f"numbers stored       # {tables.numbers}",
        language="python",
    )
    if same:
        st.caption("One table, two names. Training cannot pull it apart.")
    elif equal:
        st.caption("Two tables with equal numbers. Train one step and look again.")
    else:
        st.caption(
            f"Two tables, ‖W − E‖ = {apart[-1]:.4f}: each is corrected for its own job only."
        )


def _among_the_rows(toy: Toy, tables: Tables) -> None:
    name = "E" if tables.tied else "W"
    if not toy.h.any():
        st.info("h_L is all zeros, so it points nowhere and every logit is 0.")
        return
    tips = seen_along(toy.h, tables.W).assign(
        rank=range(toy.V), label=toy.words, logit=tables.W @ toy.h
    )
    draw(
        st,
        arrows(tips, SHARED if tables.tied else OUTPUT),
        key="toy arrows",
        alt=f"h_L as an arrow among the rows of {name}; furthest along it lies "
        f"{toy.words[int(tips['along'].idxmax())]}",
    )
    st.caption(
        f"The rows of {name}, seen along h_L. Further right is a larger logit, exactly. The other "
        "direction is the one in which they differ most; the third is not drawn."
    )
    with st.expander("The same numbers by rows and by columns", icon=":material/flip:"):
        st.markdown("By rows, to embed: row x of E is the vector of word x.")
        st.dataframe(_frame(tables.E, toy.words, "x"), alt="E by rows")
        st.markdown(f"By columns, to score: column j of {name}ᵀ is multiplied with h_L.")
        st.dataframe(_frame(tables.W, toy.words, "x").T, alt=f"{name} by columns")


def _frame(numbers: np.ndarray, words: tuple[str, ...], name: str) -> pd.DataFrame:
    columns = [f"{name}{'₁₂₃'[at]}" for at in range(numbers.shape[1])]
    return pd.DataFrame(numbers.round(4), pd.Index(words), columns)


def _real_half() -> None:
    """What the live model's two names mean, and h_L of a prompt among its rows."""
    loaded = opened_or_invited("Then Python is asked whether its two matrices are one.")
    if loaded is None:
        return
    embedding, head = loaded.embedding, loaded.scoring_matrix
    table = embedding.numel()
    st.code(
        "E = model.get_input_embeddings().weight\n"
        "W = model.get_output_embeddings().weight\n"
        f"W is E               # {head is embedding}\n"
        f"tuple(E.shape)       # {tuple(embedding.shape)}\n"
        f"tuple(W.shape)       # {tuple(head.shape)}",
        language="python",
    )
    stored = table if loaded.tied else table + head.numel()
    st.markdown(
        f"2·V·d = {count(2 * table)}, V·d = {count(table)}. This model stores **{count(stored)}** "
        f"({megabytes(stored * embedding.element_size())} in {loaded.dtype}) for both ends, of "
        f"{count(loaded.parameters)} parameters."
    )
    st.caption("Tying halves the two tables, not the model.")
    from tiedviz.compute.next_token.candidates import nearest_tokens

    prompt, reading = real_prompt(loaded, DEFAULT_PROMPT)
    best = nearest_tokens(loaded, reading, top=6)["id"].tolist()
    ids = list(dict.fromkeys([*best, *(token.id for token in prompt.read[-4:])]))
    rows = head[ids].detach().float().cpu().numpy()
    tips = seen_along(reading.h.numpy(), rows).assign(
        rank=range(len(ids)),
        label=[token.shown for token in loaded.vocabulary.tokens(ids)],
        logit=reading.product[ids].tolist(),
    )
    draw(
        st,
        arrows(tips, scoring_colour(loaded.tied)),
        key="real arrows",
        alt=f"h_L as an arrow among {len(ids)} rows; furthest along it lies {tips['label'][0]}",
    )
    st.caption(
        f"The six best next tokens and the last tokens of the prompt, among {count(head.shape[0])} "
        f"rows of {count(head.shape[1])} numbers. Best: "
        f"{markdown_safe(loaded.vocabulary.token(best[0]).shown)}."
    )


def _below() -> None:
    """The calculator."""
    with st.expander("What tying saves at any size: the calculator", icon=":material/calculate:"):
        calculator("walkthrough calculator")


def _question(toy: Toy) -> Question:
    table = toy.V * toy.d
    return Numbers(
        "step 5",
        "How many numbers do the toy's tables hold?",
        (("separate", 2 * table), ("tied", table)),
        "Two tables of the same shape, or one.",
        f"2·V·d = {2 * table} and V·d = {table}. The two tables are halved, not the model: its "
        "blocks stay as they are.",
    )


STEP = Step(
    title="Tying: one table for both",
    idea=(
        "Weight tying sets **W_out = Eᵀ**: the row that embeds a token also scores it. It is one "
        "tensor under two names, not two tensors that agree. The two tables shrink from 2·V·d "
        "numbers to V·d."
    ),
    task="Switch to an equal copy and train it for one step.",
    toy_half=_toy_half,
    real_half=_real_half,
    question=_question,
    below=_below,
)
