"""Step 9: the loop in one picture, and the story in plain words."""

from __future__ import annotations

import streamlit as st

from tiedviz.charts.loop import loop_diagram
from tiedviz.ui.caches import model_pool
from tiedviz.ui.frame.model_choice import chosen_facts, chosen_source
from tiedviz.ui.walkthrough.toy import current_toy, toy_editor
from tiedviz.words.numbers import count
from tiedviz.words.walkthrough import PAPER, STORY


def toy_half() -> None:
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


def real_half() -> None:
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


def below() -> None:
    """The story."""
    st.markdown("#### The story in plain words")
    for paragraph in STORY:
        st.markdown(paragraph)
    st.caption(f"Where it comes from: {PAPER}.")
