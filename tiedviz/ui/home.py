"""The pieces of the home page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from tiedviz.charts.walkthrough import loop_diagram
from tiedviz.compute.toy import DIMENSIONS, TOY_WORDS, Toy
from tiedviz.ui.caches import files_verdict
from tiedviz.ui.frame import refusals_shown
from tiedviz.ui.frame.model_choice import MODEL_KEY, chosen_facts, chosen_source, first_choice
from tiedviz.ui.is_it_tied.verdict import banner
from tiedviz.ui.prompt_bar import PRESETS
from tiedviz.ui.share import share, toy_code
from tiedviz.words.numbers import count, percent
from tiedviz.words.tokens import markdown_safe


def doors() -> None:
    """Where to start."""
    learn, explore, check = st.columns(3)
    with learn.container(border=True, height="stretch"):
        st.markdown("#### Learn")
        st.markdown(
            "The toy below has four words and three dimensions. Change any number and watch the "
            "next word change; nothing has to be opened for it."
        )
        st.page_link(
            "../pages/walkthrough.py", label="Ten steps, from the ID on", icon=":material/school:"
        )
    with explore.container(border=True, height="stretch"):
        st.markdown("#### Explore")
        st.markdown("Open a real model, type a prompt, and read its next token off the matrix.")
        for preset in PRESETS[:2]:
            st.page_link(
                "../pages/next_token.py",
                label=f"“{preset} …”",
                icon=":material/arrow_forward:",
                query_params={"prompt": preset},
            )
    with check.container(border=True, height="stretch"):
        _check()


def _check() -> None:
    """A box for a path or a Hub id, and the verdict from its files right there."""
    st.markdown("#### Check")
    st.markdown("Is a checkpoint tied? Its files are read, nothing is opened.")
    name = st.text_input(
        "Model to check",
        key="check",
        placeholder="a folder, a file, OWNER/NAME",
        label_visibility="collapsed",
        persist_state="session",
    )
    if not name:
        return
    with refusals_shown(), st.spinner("Reading headers", show_time=True):
        banner(files_verdict(name).verdict)
        st.page_link("../pages/is_it_tied.py", label="More evidence", icon=":material/link:")


def loop() -> None:
    """The loop with the chosen model's numbers; nothing is opened for it."""
    with refusals_shown():
        source = chosen_source()
        facts = chosen_facts(source)
        if facts is None or facts.V is None or facts.d is None:
            return
        st.subheader(f"The loop, with the numbers of {markdown_safe(source.title)}", anchor=False)
        st.graphviz_chart(
            loop_diagram(
                rows=count(facts.V),
                width=count(facts.d),
                blocks="L" if facts.layers is None else count(facts.layers),
                tied=facts.stores_one_table,
            ),
            width="stretch",
        )
        tables = "They" if facts.stores_one_table else "E and W together"
        share = ""
        if facts.share is not None:
            share = f" {tables} are {percent(facts.share, 2)} of the model."
        st.caption(
            f"Text becomes ids, each id reads one row of E, the blocks turn rows into h_L, and h_L "
            f"is multiplied with every row to score the next token. E holds {count(facts.V)} × "
            f"{count(facts.d)} = {count(facts.V * facts.d)} numbers.{share} "
            f"{facts.origin[0].upper()}{facts.origin[1:]}."
        )


def toy() -> Toy:
    """Four words, three dimensions, every number editable. Returns them as they are now."""
    st.subheader("The same on four words", anchor=False)
    left, right = st.columns(2)
    with left:
        frames = Toy.published().frames()
        table = _edited("E, one row for each word", frames["E"], "E")
        h = _edited("h_L, what the blocks made of the text", frames["h"], "h")
    edited = Toy(TOY_WORDS, table, h[0])
    scores = edited.scores()
    best = scores.loc[scores["logit"].idxmax()]
    with right:
        st.caption("Logits h_L · e, and their softmax")
        st.dataframe(
            scores,
            hide_index=True,
            column_config={
                "products": st.column_config.TextColumn("h_L · e, written out", width="medium"),
                "logit": st.column_config.NumberColumn(format="%.2f"),
                "probability": st.column_config.NumberColumn("softmax", format="%.4f"),
            },
            alt="Logit and softmax of each of the four words",
        )
        st.markdown(f"Next word: **{best['word']}**, with probability {best['probability']:.4f}.")
    return edited


def share_and_export(edited: Toy) -> None:
    """The popover: a link, the command for the loop's numbers, the toy as code and as files."""
    chosen = str(st.session_state.get(MODEL_KEY) or first_choice())
    share(
        "",
        link={"model": chosen},
        commands=[["share", chosen]],
        code=toy_code(edited),
        code_note=" (the toy)",
        name="toy",
        table=edited.scores(),
        record=edited.record(),
        charts=False,
    )


def _edited(caption: str, frame: pd.DataFrame, key: str) -> np.ndarray:
    """The numbers as edited; an emptied cell counts as 0."""
    st.caption(caption)
    edited = st.data_editor(
        frame,
        key=f"toy {key}",
        column_config={
            name: st.column_config.NumberColumn(format="%.2f", step=0.1) for name in DIMENSIONS
        },
    )
    return edited.fillna(0.0).to_numpy(dtype=float)
