"""The tab Evidence and other loaders: what each witness said, who reads it otherwise."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from tiedviz.files.header import StoredTensor
from tiedviz.ui.caches import model_pool
from tiedviz.ui.is_it_tied.banner import prose
from tiedviz.ui.is_it_tied.configured import three_lines
from tiedviz.ui.is_it_tied.heard import Heard
from tiedviz.verdict.live import Loaded, Measured
from tiedviz.verdict.witnesses import Comparison, Declared, Stored
from tiedviz.verdict.wording.numbers import shape_words
from tiedviz.words.numbers import count, exact_size, scientific, small_number
from tiedviz.words.refusals.file import printable
from tiedviz.words.tokens import markdown_safe

_YES = {True: "yes", False: "no", None: "not known"}


def evidence_tab(heard: Heard | None) -> None:
    """The four witnesses in full, all ties, where tying is configured, other loaders."""
    if heard is None:
        st.caption("Nothing is heard yet.")
        return
    hearing = heard.hearing
    live = hearing.live.loaded if hearing.live else None
    _other_loaders(hearing.verdict.other_loaders, unsure=hearing.verdict.word == "cannot_tell")
    _declared(hearing.declared, live)
    _stored(hearing.stored)
    _loaded(live)
    _measured(hearing.live.measured if hearing.live else None)
    _groups(hearing.verdict.groups)
    st.markdown("**Where it is configured**")
    if (loaded := model_pool().get(heard.source.text)) is None:
        st.caption("Open the model to see the class that ties it and its file.")
    else:
        st.code(three_lines(loaded), language="python", wrap_lines=True)


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
