"""Share & export for the page Token map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.charts.token_map import on_white
from tiedviz.ui.export import loading_code, permalink, show_command, show_link
from tiedviz.ui.frame.model_choice import chosen_source
from tiedviz.ui.prompt_bar import DECODER_KEY, chosen_bos
from tiedviz.ui.token_map.chosen import ASK_KEY, BY_KEY, TOKEN_KEY, TOP, Asked
from tiedviz.ui.token_map.drawn import Drawn
from tiedviz.ui.token_map.spectrum import still_png
from tiedviz.words.numbers import count

if TYPE_CHECKING:
    import pandas as pd

    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt

_UNIT = "E = E / E.norm(dim=1, keepdim=True)\n"


def share_and_export(
    loaded: LoadedModel, prompt: Prompt, position: int, drawn: Drawn, ask: Asked
) -> None:
    """The popover. What it offers gives the numbers that are on the screen now."""
    view = drawn.choice.view.value
    with st.popover("Share & export", icon=":material/ios_share:"):
        show_link(_link(loaded, prompt, position, ask))
        st.caption("The view and its axes are yours; the link names the model, prompt and token.")
        show_command("map", loaded.source, "--out", "map.csv", "--view", view)
        if ask.row is not None:
            by = str(st.session_state.get(BY_KEY) or "cosine")
            show_command("neighbors", loaded.source, f"id:{ask.row}", "--by", by)
        st.markdown("**Python, without this app**")
        st.code(python_code(loaded, drawn, ask), language="python")
        _files(loaded, drawn)


def _link(loaded: LoadedModel, prompt: Prompt, position: int, ask: Asked) -> str:
    bos = chosen_bos()
    decoder = st.session_state.get(DECODER_KEY) if prompt.written is not None else None
    typed = str(st.session_state.get(ASK_KEY) or "")
    return permalink(
        "token_map",
        model=loaded.source,
        prompt=prompt.text,
        bos=None if bos == "default" else bos,
        decoder=decoder or None,
        pos=None if position == prompt.place else position,
        **{TOKEN_KEY: typed if ask.walk is not None else ask.row},
    )


def python_code(loaded: LoadedModel, drawn: Drawn, ask: Asked) -> str:
    """The ten nearest tokens by cosine and the axes of the view, without this app."""
    kind = type(loaded.model).__name__
    unit = _UNIT if drawn.choice.view == "unit" else ""
    terms = [(1, ask.row)] if ask.row is not None else []
    if ask.walk is not None:
        terms = [(sign, token.id) for sign, token in ask.walk.terms]
    total = " ".join(f"{'+' if sign > 0 else '-'} E[{row}]" for sign, row in terms) or "E[0]"
    own = sorted({row for _, row in terms})
    return (
        "import torch\n"
        "from sklearn.decomposition import PCA\n"
        f"from transformers import {kind}, AutoTokenizer, GgufConfig\n"
        f"{loading_code(chosen_source(), kind)}"
        "E = model.get_input_embeddings().weight.detach().float()\n"
        f"v = {total.removeprefix('+ ')}\n"
        "cosine = torch.nn.functional.cosine_similarity(E, v[None])\n"
        f"cosine[{own!r}] = -2  # what was asked about\n"
        f"values, best = cosine.topk({TOP})\n"
        "print([(tokenizer.decode([j]), float(c)) for c, j in zip(values, best)])\n"
        f"{unit}"
        'points = PCA(10, svd_solver="covariance_eigh").fit_transform(E.numpy())\n'
    )


def _files(loaded: LoadedModel, drawn: Drawn) -> None:
    """Coordinates of all tokens, and the picture; made when they are asked for."""

    def table() -> pd.DataFrame:
        from tiedviz.compute.token_map.table import coordinate_table

        return coordinate_table(drawn.named.tokens, drawn.named.rows, drawn.projection)

    def parquet() -> bytes:
        from io import BytesIO

        buffer = BytesIO()
        table().to_parquet(buffer, index=False)
        return buffer.getvalue()

    name = f"token-map-{drawn.choice.view.value}"
    title = (
        f"{loaded.title}: {count(int(drawn.visible.sum()))} rows of E, view {drawn.choice.view}; "
        f"across {drawn.axes[0]}, up {drawn.axes[1]} of the variance"
    )
    csv, columns, png = st.columns(3)
    csv.download_button(
        "CSV", lambda: table().to_csv(index=False), f"{name}.csv", "text/csv",
        on_click="ignore", key="map csv",
    )  # fmt: skip
    columns.download_button(
        "Parquet", parquet, f"{name}.parquet", "application/vnd.apache.parquet",
        on_click="ignore", key="map parquet",
    )  # fmt: skip
    png.download_button(
        "PNG", lambda: on_white(still_png(drawn), title), f"{name}.png", "image/png",
        on_click="ignore", key="map png",
    )  # fmt: skip
    st.caption(
        "The table holds ten coordinates of every row; the PNG the whole view. The button PNG "
        "above the map saves what is in view there."
    )
