"""Step 9: the loop in one picture, and the story in plain words."""

from __future__ import annotations

import streamlit as st

from tiedviz.charts.walkthrough import loop_diagram
from tiedviz.compute.toy import Toy
from tiedviz.ui.caches import model_pool
from tiedviz.ui.frame.model_choice import chosen_facts, chosen_source
from tiedviz.ui.walkthrough.halves import current_toy, toy_editor
from tiedviz.ui.walkthrough.step import PAPER, Choice, Question, Step
from tiedviz.words.numbers import count

_STORY = (
    "Think of a **notebook with one page per token**. On each page stand d numbers.",
    "**Read it forwards to embed.** A token arrives as a page number. Open that page, copy its "
    "numbers: that is the token's vector. No arithmetic, just turning to a page.",
    "The blocks pass the vector on, each adding something, always in d numbers. What "
    "comes out after the final norm is h_L: a wish, written in the same d numbers.",
    "**Tip the notebook on its side to score.** Now every page is a column. Lay h_L across all of "
    "them: on each page multiply number by number and add up. The page that fits best has the "
    "largest logit. Softmax turns fits into probabilities.",
    "A model that is not tied carries **two notebooks**, one for each job. A tied model tips the "
    "one it has. That costs no storage; the scoring costs its 2·V·d operations either way.",
    "And when the model learns, it corrects a page for both reasons: for how it was read, and for "
    "how it scored. Which is why a page that was never opened still changes.",
)


def _toy_half() -> None:
    """The loop with the toy's numbers."""
    toy = current_toy()
    scores = toy.scores()
    best = toy.best
    st.graphviz_chart(
        loop_diagram(rows=count(toy.V), width=count(toy.d), blocks="some", tied=True, upright=True),
        alt=f"The loop of the toy: {toy.V} rows of {toy.d} numbers at both ends",
    )
    st.markdown(
        f"Here the state h_L = ({', '.join(f'{number:.4g}' for number in toy.h)}) meets "
        f"{toy.V} rows, and **{toy.words[best]}** wins with logit {toy.logits[best]:.4g} and "
        f"probability {scores['probability'][best]:.4f}."
    )
    with st.expander("The toy's numbers", icon=":material/edit:"):
        toy_editor(state=True)


def _real_half() -> None:
    """The same with the chosen model's numbers."""
    source = chosen_source()
    facts = chosen_facts(source)
    if facts is None or facts.V is None or facts.d is None:
        st.info("Its numbers are not known yet; opening it tells.")
        return
    loaded = model_pool().get(source.text)
    tied = facts.stores_one_table if loaded is None else loaded.tied
    blocks = "L" if facts.layers is None else count(facts.layers)
    st.graphviz_chart(
        loop_diagram(
            rows=count(facts.V), width=count(facts.d), blocks=blocks, tied=tied, upright=True
        ),
        alt=f"The loop: {count(facts.V)} rows of {count(facts.d)} numbers, {blocks} blocks, "
        f"{'one table at both ends' if tied else 'a table at each end'}",
    )
    st.caption(
        f"The output product takes 2·V·d = {count(2 * facts.V * facts.d)} operations for each "
        f"token, tied or not. {facts.origin[0].upper()}{facts.origin[1:]}."
    )


def _below() -> None:
    """The story."""
    st.markdown("#### The story in plain words")
    for paragraph in _STORY:
        st.markdown(paragraph)
    st.caption(f"Where it comes from: {PAPER}.")


def _question(toy: Toy) -> Question:
    return Choice(
        "step 9",
        "Which part of the loop takes 2·V·d operations for each token, tied or not?",
        ("Reading the row of E", "Adding the position", "Scoring h_L against every row", "Softmax"),
        2,
        "Look for the place where all V rows of d numbers are used.",
        f"The scores: V rows, d multiplications and additions each; 2·{toy.V}·{toy.d} = "
        f"{2 * toy.V * toy.d} on the toy. Tying saves memory there, not time.",
    )


STEP = Step(
    title="One picture",
    idea=(
        "Text becomes IDs, IDs become rows, blocks turn rows into h_L, h_L is compared with every "
        "row, the winner is appended, and it all begins again."
    ),
    task="Tell the story to somebody, with the picture and nothing else.",
    toy_half=_toy_half,
    real_half=_real_half,
    question=_question,
    below=_below,
)
