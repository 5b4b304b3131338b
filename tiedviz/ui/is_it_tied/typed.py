"""What is typed or pasted: the names of many models, and an error message."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from tiedviz.ui.caches import files_verdict
from tiedviz.ui.frame.server import without_paths
from tiedviz.ui.is_it_tied.evidence import prose
from tiedviz.verdict.audit import Audit
from tiedviz.verdict.record import audit_record
from tiedviz.verdict.report import explain_error
from tiedviz.words.numbers import count
from tiedviz.words.refusals import Refusal
from tiedviz.words.shelf import SHELF
from tiedviz.words.tokens import markdown_safe

_MOST = 50
_LONGEST = 20_000


def many_tab(audit: Audit | None) -> None:
    """A box of names, a button, a table with progress; the files are heard, nothing is opened."""
    text = st.text_area("Models, one a line", "\n".join(SHELF), key="many", persist_state="session")
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
        answers.append(_audit(name))
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
    records = [audit_record(found) for found in answers if isinstance(found, Audit)]
    lines = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
    with st.container(horizontal=True):
        for label, text, kind in (
            ("CSV", frame.to_csv(index=False), "csv"),
            ("JSON, one model a line", lines, "jsonl"),
        ):
            st.download_button(label, text, f"verdicts.{kind}", f"text/{kind}", on_click="ignore")


def _audit(name: str) -> Audit | str:
    """What its files say, or why they cannot be heard."""
    try:
        return files_verdict(name)
    except Refusal as refusal:
        return without_paths(str(refusal))


def _row(name: str, found: Audit | str) -> dict[str, object]:
    if isinstance(found, str):
        return {"model": name, "verdict": "not heard", "summary": found}
    verdict = found.verdict
    return {
        "model": name,
        "verdict": verdict.word.replace("_", " "),
        "summary": verdict.summary,
        "parameters": verdict.costs.total,
        "saved by tying": verdict.costs.saved_by_tying,
    }


def pasted_tab(audit: Audit | None) -> None:
    """A box for an error message; what it means, which names it gives, and what to do."""
    message = st.text_area(
        "Error message",
        key="pasted error",
        max_chars=_LONGEST,
        placeholder="Some tensors share memory, this will lead to duplicate memory on disk …",
        persist_state="session",
    )
    if not message.strip():
        st.caption("What safetensors or transformers say when a tied model is saved.")
        return
    found = explain_error(message)
    if found is None:
        st.info("This is no message about shared tensors, so it says nothing about tying.")
        return
    st.success(markdown_safe(found.meaning), icon=":material/link:")
    for names in found.names:
        st.code(" = ".join(names), language=None, wrap_lines=True)
    st.markdown(prose(found.remedy))
