"""Step 7: the table learns twice."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from tiedviz.charts.walkthrough import two_sides
from tiedviz.compute.toy import Toy
from tiedviz.compute.toy_training import LearningStep, Weights, learn, tables_of, what_moved
from tiedviz.ui.drawing import draw
from tiedviz.ui.frame.opened_model import opened_or_invited
from tiedviz.ui.prompt_bar import DEFAULT_PROMPT
from tiedviz.ui.walkthrough.halves import (
    TARGET_KEY,
    real_prompt,
    toy_editor,
    weights_control,
    word_pills,
)
from tiedviz.ui.walkthrough.step import Choice, Question, Step
from tiedviz.words.numbers import count, plural
from tiedviz.words.tokens import markdown_safe


def _toy_half() -> None:
    """One step of training: who gets a gradient, and what moved."""
    toy = toy_editor(state=True)
    read = word_pills(toy, "Word that is read, x")
    target = word_pills(toy, "Word that really came next, y", key=TARGET_KEY, first=0)
    weights = weights_control("Tables")
    rate = st.slider(
        "Learning rate", 0.0, 2.0, 0.5, 0.05, key="toy learning rate", persist_state="session"
    )
    step = learn(tables_of(toy, weights), toy.h - toy.E[read], read, target, rate)
    moved = what_moved(toy.words, step)
    draw(
        st,
        two_sides(moved),
        key="two sides",
        alt=f"Length of each row's gradient: through the input only {toy.words[read]}, through "
        "the output every row",
    )
    _headline(toy, moved, _unread(toy, read, target), weights)
    _table(moved)
    _formulas(step)


def _unread(toy: Toy, read: int, target: int) -> int:
    """A word that was not read: the target, or another one where that was read."""
    return target if target != read else (read + 1) % toy.V


def _headline(toy: Toy, moved: pd.DataFrame, word: int, weights: Weights) -> None:
    row = moved.iloc[word]
    logit = row["logit_after"] - row["logit_before"]
    said = (
        f"“{toy.words[word]}” was not read. Its logit moved by **{logit:+.4f}**, its input vector "
        f"by **{row['vector_moved']:.4f}**."
    )
    if weights is Weights.TIED:
        st.success(f"{said} One row did both.", icon=":material/link:")
    else:
        st.info(f"{said} Two tables: only its row of W moved.", icon=":material/link_off:")


def _table(moved: pd.DataFrame) -> None:
    columns = {
        "word": st.column_config.TextColumn("row", width="small"),
        "vector_moved": st.column_config.NumberColumn("vector moved", format="%.4f"),
        "logit_before": st.column_config.NumberColumn("logit before", format="%.4f"),
        "logit_after": st.column_config.NumberColumn("after", format="%.4f"),
    }
    st.dataframe(
        moved,
        hide_index=True,
        column_order=list(columns),
        column_config=columns,
        alt="How far each word's input vector and logit moved in one step",
    )


def _formulas(step: LearningStep) -> None:
    with st.expander("By hand", icon=":material/calculate:"):
        st.latex(r"h_L = E[x] + b,\quad z = W h_L,\quad \text{loss} = -\ln p_y")
        st.latex(r"\frac{\partial\,\text{loss}}{\partial W[j]} = (p_j - [j = y])\,h_L")
        st.latex(r"\frac{\partial\,\text{loss}}{\partial E[x]} = W^{\mathsf T}(p - [y])")
        st.latex(rf"\text{{loss}}: {step.loss_before:.4f} \to {step.loss_after:.4f}")
        st.caption(
            "b is what the blocks add, held fixed. Tied, W is E and its gradient is the sum of "
            "both. Tests compare these with PyTorch's autograd."
        )


def _real_half() -> None:
    """Which rows one prediction of this model would correct, from its forward pass alone."""
    loaded = opened_or_invited("Then you see which of its rows one prediction corrects.")
    if loaded is None:
        return
    from tiedviz.compute.next_token.candidates import nearest_tokens
    from tiedviz.compute.unembedding import unembedding_of
    from tiedviz.compute.walkthrough_model import pulls, rows_pushed

    prompt, found = real_prompt(loaded, DEFAULT_PROMPT)
    after = unembedding_of(loaded).after
    assert after is not None  # a reading exists only where it was reproduced
    ids = nearest_tokens(loaded, found, top=4)["id"].tolist()
    target = st.pills(
        "Suppose this came next",
        ids,
        format_func=lambda id: _named(loaded.vocabulary.token(id).shown, id),
        default=ids[1] if len(ids) > 1 else ids[0],
        key=f"target of {loaded.key} {prompt.text}",
        required=True,
        wrap=True,
    )
    target = int(ids[0] if target is None else target)
    read = len({token.id for token in (*prompt.tokens, *(prompt.written or ()))})
    rows = loaded.scoring_matrix.shape[0]
    st.markdown(
        f"**Input**: the prompt reads **{plural(read, 'row')}** of {count(rows)}; no other gets a "
        f"gradient there. **Output**: **{count(rows_pushed(found, after, target))}** rows do."
    )
    columns = {
        "text": st.column_config.TextColumn("row"),
        "probability": st.column_config.NumberColumn("p", format="%.4f"),
        "coefficient": st.column_config.NumberColumn("pushed by", format="%+.4f"),
        "length": st.column_config.NumberColumn("gradient", format="%.3f"),
    }
    st.dataframe(
        pulls(loaded, found, after, target),
        hide_index=True,
        column_order=list(columns),
        column_config=columns,
        alt="The rows that the output side corrects most",
    )
    st.caption(
        "Through the output row j gets (p_j − 1 where it came)·h_L, times what stands after the "
        "product. Below 0: a step pulls the row towards h_L; above 0: pushes it away. gradient: "
        "its length."
    )
    _link_to_gradients()


def _named(text: str, id: int) -> str:
    return f"{markdown_safe(text)} :gray[:small[{id}]]"


def _link_to_gradients() -> None:
    """To the page that measures both sides on the whole model."""
    st.caption("Both sides of every row, on this model and your text:")
    st.page_link("../pages/gradients.py", label="Gradients", icon=":material/arrow_forward:")


def _question(toy: Toy) -> Question:
    return Choice(
        "step 7",
        "The tables are separate. A word was not read; it was the right answer. After one step …",
        (
            "its input vector has moved, its logit has not",
            "both have moved",
            "its logit has moved, its input vector has not",
            "neither has moved",
        ),
        2,
        "Through the input a gradient reaches only rows that were read.",
        "The output side corrects its row of W, so its logit moves. Its row of E was not read and "
        "gets nothing. Were the tables tied, the one row would have moved, and both with it.",
    )


STEP = Step(
    title="The table learns twice",
    idea=(
        "One step of training sends a gradient to E on two ways: through the input, to the rows "
        "that were read, and through the output, to **every** row. Tied, both meet in one table, "
        "so a token's input vector and its logit move together."
    ),
    task="Train one step tied, then the same step with a copy.",
    toy_half=_toy_half,
    real_half=_real_half,
    question=_question,
)
