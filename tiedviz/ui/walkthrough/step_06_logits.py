"""Step 6: logits, then probabilities."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from tiedviz.charts.next_token import candidate_bars
from tiedviz.charts.palette import OTHER, SHARED, scoring_colour
from tiedviz.charts.walkthrough import word_bars
from tiedviz.compute.toy import Toy
from tiedviz.ui.drawing import draw
from tiedviz.ui.frame.opened_model import opened_or_invited
from tiedviz.ui.prompt_bar import DEFAULT_PROMPT
from tiedviz.ui.walkthrough.halves import TARGET_KEY, real_prompt, toy_editor, word_pills
from tiedviz.ui.walkthrough.step import Choice, Question, Step
from tiedviz.words.numbers import percent, scientific
from tiedviz.words.tokens import markdown_safe


def _toy_half() -> None:
    """Every dot product, softmax with a temperature, and −ln p."""
    toy = toy_editor(state=True)
    temperature = st.slider(
        "Temperature", 0.1, 3.0, 1.0, 0.1, key="toy temperature", persist_state="session"
    )
    scores = toy.scores(temperature)
    _dot_products(scores)
    best = toy.best
    draw(
        st,
        word_bars(scores, "logit", SHARED, best),
        key="toy logits",
        alt=f"The logits of {toy.V} words; {toy.words[best]} has the largest",
    )
    draw(
        st,
        word_bars(scores, "probability", OTHER, best),
        key="toy probabilities",
        alt=f"Their probabilities in the same order; {toy.words[best]} has the largest",
    )
    st.markdown(
        f"Next word: **{toy.words[best]}**, with probability **{scores['probability'][best]:.4f}**."
    )
    _softmax(toy, scores, temperature)


def _dot_products(scores: pd.DataFrame) -> None:
    st.dataframe(
        scores,
        hide_index=True,
        column_order=["word", "logit", "products"],
        column_config={
            "word": st.column_config.TextColumn(width="small"),
            "logit": st.column_config.NumberColumn(format="%.4g", width="small"),
            "products": st.column_config.TextColumn("h_L · e, written out", width="large"),
        },
        alt="The dot product of h_L with each row, written out, and its sum",
    )


def _softmax(toy: Toy, scores: pd.DataFrame, temperature: float) -> None:
    st.latex(r"p_j = \frac{e^{z_j/T}}{\sum_k e^{z_k/T}}")
    first, second = scores["logit"].nlargest(2).index
    gap = float(scores["logit"][first] - scores["logit"][second])
    st.markdown(
        "Softmax does three things: it makes every score **positive**, makes all of them **add up "
        "to 1**, and turns differences into **ratios**: "
        f"“{toy.words[first]}” leads “{toy.words[second]}” by {gap:.4g}, so it is "
        f"e^({gap:.4g}/{temperature:g}) = {_times(gap / temperature)} times as likely. The order "
        "never changes."
    )
    target = word_pills(toy, "The word that really came", key=TARGET_KEY, first=0)
    loss = toy.loss(target, temperature)
    st.latex(rf"-\ln p_{{\text{{{toy.words[target]}}}}} = {loss:.4f}")
    st.caption("This is the loss: 0 for a sure and right guess, larger for a more surprised model.")


def _times(exponent: float) -> str:
    """How many times as likely, as long as that can be written."""
    return f"{math.exp(exponent):.4g}" if exponent < 20 else "more than 10⁸"


def _real_half() -> None:
    """Ten next tokens, the formula of this model, and how close it comes."""
    loaded = opened_or_invited("Then its logits for any prompt stand here.")
    if loaded is None:
        return
    from tiedviz.compute.next_token.candidates import nearest_tokens
    from tiedviz.compute.next_token.formula import formula_latex, formula_notes
    from tiedviz.compute.unembedding import unembedding_of

    _, found = real_prompt(loaded, DEFAULT_PROMPT)
    frame = nearest_tokens(loaded, found)
    best = frame.iloc[0]
    draw(
        st,
        candidate_bars(frame, "probability", scoring_colour(loaded.tied), int(best["id"])),
        key="real probabilities",
        alt=f"The ten likeliest tokens; {best['text']} comes first",
    )
    unembedding = unembedding_of(loaded)
    assert unembedding.after is not None  # a reading exists only where it was reproduced
    st.latex(formula_latex(unembedding.after, tied=loaded.tied))
    st.markdown(
        f"{markdown_safe(best['text'])}: logit **{best['logit']:.2f}** ({loaded.dtype}), "
        f"probability **{percent(best['probability'])}**, "
        f"−ln p = **{-math.log(max(best['probability'], 1e-300)):.4f}**."
    )
    notes = "; ".join(formula_notes(unembedding))
    st.caption(
        f"Here {markdown_safe(notes)}. max |Δ| = {scientific(found.max_abs_error)} to the model's "
        f"own logits, limit {scientific(found.tolerance)}."
    )
    st.page_link(
        "../pages/next_token.py", label="Take one logit apart", icon=":material/arrow_forward:"
    )


def _question(toy: Toy) -> Question:
    best = toy.words[toy.best]
    return Choice(
        "step 6",
        "The temperature is halved. Which word is the likeliest then?",
        toy.words,
        toy.best,
        "Dividing all logits by the same positive number leaves one thing as it was.",
        f"“{best}”, as before: softmax keeps the order of the logits at any temperature. Only its "
        "lead grows.",
    )


STEP = Step(
    title="Logits, then probabilities",
    idea=(
        "Token j scores **z_j = h_L · e_j**, plus what this model adds. h_L is the state after the "
        "final norm. Softmax turns the V logits into probabilities and keeps their order."
    ),
    task="Change h_L until another word wins.",
    toy_half=_toy_half,
    real_half=_real_half,
    question=_question,
)
