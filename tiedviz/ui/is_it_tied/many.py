"""Many: one model a line, one table."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from tiedviz.ui.caches import files_verdict
from tiedviz.ui.frame.shared_server import without_paths
from tiedviz.ui.is_it_tied.heard import Heard
from tiedviz.verdict.hearing import Hearing, record_of
from tiedviz.words.numbers import count
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import markdown_safe

_MOST = 50


def many_tab(heard: Heard | None) -> None:
    """A box of names, a button, a table with progress; the files are heard, nothing is opened."""
    text = st.text_area(
        "Models, one a line", "smollm2\ngemma-3-270m", key="many", persist_state="session"
    )
    asked = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    names = asked[:_MOST]
    if len(asked) > _MOST:
        st.warning(f"{count(len(asked))} models are named; the first {_MOST} are heard.")
    if not st.button("Hear their files", disabled=not names):
        st.caption(f"Up to {_MOST} folders, files, shelf names or Hub ids.")
        return
    bar = st.progress(0.0)
    answers = []
    for index, name in enumerate(names):
        bar.progress(index / len(names), text=markdown_safe(name))
        answers.append(_hear(name))
    bar.empty()
    frame = pd.DataFrame([_row(*each) for each in zip(names, answers, strict=True)])
    st.dataframe(
        frame,
        hide_index=True,
        column_config={
            name: st.column_config.NumberColumn(format="localized")
            for name in ("parameters", "saved by tying")
        },
        alt="Verdicts on several models, from their files",
    )
    records = [record_of(heard) for heard in answers if isinstance(heard, Hearing)]
    lines = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
    with st.container(horizontal=True):
        for label, text, kind in (
            ("CSV", frame.to_csv(index=False), "csv"),
            ("JSON, one model a line", lines, "jsonl"),
        ):
            st.download_button(label, text, f"verdicts.{kind}", f"text/{kind}", on_click="ignore")


def _hear(name: str) -> Hearing | str:
    """What its files say, or why they cannot be heard."""
    try:
        return files_verdict(name)
    except Refusal as refusal:
        return without_paths(str(refusal))


def _row(name: str, heard: Hearing | str) -> dict[str, object]:
    if isinstance(heard, str):
        return {"model": name, "verdict": "not heard", "summary": heard}
    verdict = heard.verdict
    return {
        "model": name,
        "verdict": verdict.word.replace("_", " "),
        "summary": verdict.summary,
        "parameters": verdict.costs.total,
        "saved by tying": verdict.costs.saved_by_tying,
    }
