"""Many: one model a line, one table."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from tiedviz.ui.caches import files_verdict
from tiedviz.ui.frame.shared_server import without_paths
from tiedviz.ui.is_it_tied.heard import Heard
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import markdown_safe

_MOST = 50


def many_tab(heard: Heard | None) -> None:
    """A box of names, a button, a table with progress; the files are heard, nothing is opened."""
    text = st.text_area(
        "Models, one a line", "smollm2\ngemma-3-270m", key="many", persist_state="session"
    )
    names = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))[:_MOST]
    if not st.button("Hear their files", disabled=not names):
        st.caption(f"Up to {_MOST} folders, files, shelf names or Hub ids.")
        return
    bar = st.progress(0.0)
    rows = []
    for index, name in enumerate(names):
        bar.progress(index / len(names), text=markdown_safe(name))
        rows.append(_row(name))
    bar.empty()
    frame = pd.DataFrame(rows)
    st.dataframe(frame, hide_index=True, alt="Verdicts on several models, from their files")
    st.download_button("CSV", frame.to_csv(index=False), "verdicts.csv", "text/csv",
                       on_click="ignore")  # fmt: skip


def _row(name: str) -> dict[str, object]:
    try:
        heard = files_verdict(name)
    except Refusal as refusal:
        return {"model": name, "verdict": "not heard", "summary": without_paths(str(refusal))}
    verdict = heard.verdict
    return {
        "model": name,
        "verdict": verdict.word.replace("_", " "),
        "summary": verdict.summary,
        "parameters": verdict.costs.total,
        "saved by tying": verdict.costs.saved_by_tying,
    }
