"""What each witness said, in rows and in full, and the evidence to take along."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from tiedviz.ui.caches import model_pool
from tiedviz.ui.frame.model_choice import chosen_source
from tiedviz.ui.is_it_tied.audit_state import hear_the_rest
from tiedviz.ui.share import opening_code, share
from tiedviz.verdict.record import audit_record
from tiedviz.verdict.report import markdown_report
from tiedviz.verdict.wording import shape_words
from tiedviz.words.numbers import count, exact_size, scientific, small_number
from tiedviz.words.refusals.file import printable
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.files.header import StoredTensor
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.sources import Source
    from tiedviz.verdict.audit import Audit
    from tiedviz.verdict.witnesses import Comparison, Declared, Loaded, Measured, Stored

_STATES = {
    "declared": "what config.json says",
    "stored": "what the files hold",
    "loaded": "what the live model shares",
    "measured": "what its logits prove",
}
_FORMS = ["Markdown", "JSON"]
_YES = {True: "yes", False: "no", None: "not known"}


def prose(sentence: str) -> str:
    """A sentence made safe for Markdown; calls in backticks, as `tie_weights()`, stay code."""
    parts = re.split(r"`(\w+\(\))`", sentence)
    return "".join(
        f"`{part}`" if odd % 2 else markdown_safe(part) for odd, part in enumerate(parts)
    )


def witness_rows(audit: Audit) -> None:
    """Four full-width rows: witness, state, evidence; then buttons for what is unheard."""
    with st.container(border=True, key="witnesses"):
        for row in audit.verdict.evidence:
            name, state, text = st.columns([1.6, 1.4, 5], vertical_alignment="top")
            name.markdown(f"**{row.witness}**  \n:small[:gray[{_STATES[row.witness]}]]")
            state.markdown(markdown_safe(row.state))
            text.markdown(markdown_safe(row.text) if row.text else ":gray[–]")
        with st.container(horizontal=True, vertical_alignment="center"):
            hear_the_rest(audit)
            _copy_report(audit)


def evidence_tab(audit: Audit | None) -> None:
    """The four witnesses in full, all ties, where tying is configured, other loaders."""
    if audit is None:
        st.caption("Nothing is heard yet.")
        return
    verdict = audit.verdict
    _other_loaders(verdict.other_loaders, unsure=verdict.word == "cannot_tell")
    if audit.declared and audit.stored:
        _declared(audit.declared, audit.loaded)
        _stored(audit.stored)
    _loaded(audit.loaded)
    _measured(audit.measured)
    _groups(verdict.groups)
    st.markdown("**Where it is configured**")
    if (loaded := model_pool().get(audit.model)) is None:
        st.caption("Open the model to see the class that ties it and its file.")
    else:
        st.code(_three_lines(loaded), language="python", wrap_lines=True)


def _other_loaders(lines: tuple[str, ...], *, unsure: bool) -> None:
    st.markdown("**What other loaders do**")
    if lines:
        st.markdown("\n".join(f"* {prose(line)}" for line in lines))
    elif unsure:
        st.caption("That follows once the verdict is known.")
    else:
        st.caption("transformers, llama.cpp and vLLM are not known to differ on files like these.")


def _declared(found: Declared, live: Loaded | None) -> None:
    st.markdown("**Declared**: every flag in the raw config.json")
    if found.raw:
        flags = [
            {"path": printable(flag.path), "value": printable(json.dumps(flag.value))}
            for flag in found.raw
        ]
        st.dataframe(pd.DataFrame(flags), hide_index=True, alt="Every flag about tying, with path")
    default = _YES[found.class_default] if found.class_default is not None else "not known"
    words = f"Governed by {found.governed_by}. Tied by default of the class: {default}."
    if found.forced is not None:
        words += f" The class sets it to {str(found.forced).lower()} whatever the file says."
    if live is not None:
        words += f" After transformers read it: {str(live.effective).lower()}."
    st.caption(markdown_safe(words))


def _stored(found: Stored) -> None:
    st.markdown(f"**Stored**: the tables for tokens, from the {found.format} headers")
    tensors = [("E", found.embedding), ("W", found.head), ("decoder's own", found.decoder_table)]
    further = (t for t in found.copies if t != found.decoder_table)
    rows = [_tensor(role, t) for role, t in (*tensors, *(("further", t) for t in further)) if t]
    if rows:
        st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Stored tables")
    if found.comparison is not None:
        st.dataframe(_compared(found.comparison), hide_index=True, alt="W against E, as stored")
        return
    words = f"Not compared: {found.uncompared}." if found.uncompared else ""
    if not words and found.two_copies is False:
        words = "There are no two copies to compare."
    st.caption(markdown_safe(words))


def _tensor(role: str, tensor: StoredTensor) -> dict[str, str]:
    return {
        "role": role,
        "name": printable(tensor.name),
        "shape": shape_words(tensor),
        "type": tensor.dtype,
        "bytes": exact_size(tensor.nbytes),
        "file": printable(tensor.file),
    }


def _compared(found: Comparison) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "same bytes": _YES[found.same_bytes],
                "differing elements": count(found.differing_elements),
                "differing rows": count(found.differing_rows),
                "max |Δ|": small_number(found.max_abs),
                "relative error": small_number(found.relative_error),
                "least row cosine": small_number(found.min_row_cosine),
                "equal within": found.within or "–",
            }
        ]
    )


def _loaded(found: Loaded | None) -> None:
    st.markdown("**Loaded**: what the live model shares")
    if found is None:
        st.caption("Not heard: open the model, or hear all four.")
        return
    answers = {
        "one Parameter": _YES[found.same_object],
        "one place in memory (storage, offset, shape, stride)": _YES[found.same_storage],
        "one a slice or view of the other": _YES[found.overlapping],
        "same numbers": _YES[found.same_values],
        "type of E": found.dtype,
        "on meta or offloaded": _YES[found.on_meta],
        "head quantised": found.quantised or "no",
        "adapters": ", ".join(found.adapters) or "none",
        "missing from the files": ", ".join(map(printable, found.missing)) or "none",
    }
    frame = pd.DataFrame({"asked": list(answers), "answer": list(answers.values())})
    st.dataframe(frame, hide_index=True, alt="What the live model shares")


def _measured(found: Measured | None) -> None:
    st.markdown("**Measured**: logits made again from h_L and the matrix")
    if found is None:
        st.caption("Not heard: open the model, or hear all four.")
        return
    if found.formula:
        st.code(found.formula, language=None, wrap_lines=True)
    parts = [] if found.reproduced else [f"Not reproduced: {found.reason}."]
    if found.max_abs_error is not None and found.tolerance is not None:
        parts.append(
            f"max |Δ| = {scientific(found.max_abs_error)}, limit {scientific(found.tolerance)}, "
            f"{found.dtype}."
        )
    st.caption(markdown_safe(" ".join(parts)))


def _groups(groups: tuple[tuple[str, ...], ...]) -> None:
    if groups:
        st.markdown("**Names of the same numbers**")
        lines = (" = ".join(map(printable, group)) for group in groups)
        st.code("\n".join(lines), language=None, wrap_lines=True)


def _three_lines(loaded: LoadedModel) -> str:
    """The class with its tied keys, the config field, the file in the installed library."""
    kind = type(loaded.model)
    keys = getattr(kind, "_tied_weights_keys", None)
    flag = getattr(loaded.model.config.get_text_config(), "tie_word_embeddings", None)
    return (
        f"{kind.__name__}._tied_weights_keys = {keys}\n"
        f"model.config.tie_word_embeddings == {flag}\n"
        f"# {_written_at(kind)}"
    )


def _written_at(kind: type) -> str:
    """`transformers/…/modeling_gpt2.py, line 690`: where a class is written.

    `inspect.getsourcelines` is not asked: it parses the whole file through a cache of lines that
    all threads share, and failed once while eight visitors were served at the same time.
    """
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    shown = kind.__module__.replace(".", "/") + ".py"  # never the folder it is installed in
    if file is None:
        return shown
    source = Path(file).read_text(encoding="utf-8")
    found = re.search(rf"^class {kind.__name__}\b", source, re.MULTILINE)
    return f"{shown}, line {source.count(chr(10), 0, found.start()) + 1}" if found else shown


def _copy_report(audit: Audit) -> None:
    """The button beside Hear all four: the whole evidence, to copy or to keep, in two forms."""
    record = audit_record(audit)
    with st.popover("Copy report", icon=":material/content_copy:"):
        form = st.segmented_control(
            "Form", _FORMS, default=_FORMS[0], key="report form", label_visibility="collapsed"
        )
        if form == _FORMS[1]:
            st.caption("What `audit --json` prints. The button in its corner copies it.")
            st.code(_json(record), language="json", wrap_lines=True, height=320)
        else:
            st.caption("Ready to paste into an issue. The button in its corner copies it.")
            st.code(markdown_report(record), language="markdown", wrap_lines=True, height=320)
        with st.container(horizontal=True):
            _files(record, "report")


def share_and_export(audit: Audit) -> None:
    """The popover: link, command line, Python, and both forms of the report."""
    loaded = model_pool().get(audit.model)
    popover = share(
        "is_it_tied",
        link={"model": audit.model},
        commands=[["audit", audit.model]],
        code=None if loaded is None else _python_code(chosen_source(), type(loaded.model).__name__),
    )
    with popover:
        st.markdown("**Files**")
        with st.container(horizontal=True):
            _files(audit_record(audit), "share")


def _python_code(source: Source, kind: str) -> str:
    """What the third witness looks at, without this app; `kind` is the name of its class."""
    return opening_code(source, kind) + (
        "E = model.get_input_embeddings().weight\n"
        "W = model.get_output_embeddings().weight\n"
        "print('one Parameter:', W is E)\n"
        "print('one place in memory:', W.data_ptr() == E.data_ptr() != 0)  # 0 on meta\n"
        "print('same numbers:', torch.equal(E, W))\n"
    )


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, indent=2)


def _files(record: dict[str, Any], place: str) -> None:
    """Both forms as files; `place` tells the buttons of two popovers apart."""
    for label, text, name, kind in (
        ("Markdown", markdown_report(record), "verdict.md", "text/markdown"),
        ("JSON", _json(record), "verdict.json", "application/json"),
    ):
        st.download_button(
            label, text, name, kind, on_click="ignore", key=f"{name} from {place}",
            icon=":material/download:",
        )  # fmt: skip
