"""The map as a still picture, and Share & export."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.charts.token_map import on_white, raster, raster_chart
from tiedviz.ui.drawing import draw
from tiedviz.ui.frame.model_choice import chosen_source
from tiedviz.ui.prompt_bar import DECODER_KEY, chosen_bos
from tiedviz.ui.share import opening_code, share
from tiedviz.ui.token_map.drawn import DrawnMap, kind_codes
from tiedviz.ui.token_map.neighbours import ASK_KEY, BY_KEY, TOKEN_KEY, TOP, MapQuestion
from tiedviz.words.numbers import count

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt


def still_picture(drawn: DrawnMap, ask: MapQuestion) -> None:
    """The same points without a canvas, with the chosen token and its neighbours named."""
    ids = ([] if ask.row is None else [ask.row]) + (
        [] if ask.near is None else ask.near.ids.tolist()
    )
    ids = [id for id in ids if drawn.visible[id]]
    named = pd.DataFrame(
        {
            "id": ids,
            "text": drawn.named.tokens["text"].iloc[ids].tolist(),
            "x": drawn.points[ids, 0].tolist(),
            "y": drawn.points[ids, 1].tolist(),
        }
    )
    with st.expander("The map as a still picture"):
        chart = raster_chart(_still_png(drawn), drawn.box.low, drawn.box.high, drawn.axes, named)
        draw(st, chart, key="map still")


def _still_png(drawn: DrawnMap) -> bytes:
    """The whole view as a PNG with a clear background."""
    return raster(drawn.points, kind_codes(drawn), drawn.visible, drawn.box.low, drawn.box.high)


def share_and_export(
    loaded: LoadedModel, prompt: Prompt, position: int, drawn: DrawnMap, ask: MapQuestion
) -> None:
    """The popover. What it offers gives the numbers that are on the screen now."""
    bos, view = chosen_bos(), drawn.choice.view.value
    decoder = st.session_state.get(DECODER_KEY) if prompt.written is not None else None
    typed = str(st.session_state.get(ASK_KEY) or "")
    commands = [["map", loaded.source, "--out", "map.csv", "--view", view]]
    if ask.row is not None:
        by = str(st.session_state.get(BY_KEY) or "cosine")
        commands.append(["neighbors", loaded.source, f"id:{ask.row}", "--by", by])
    popover = share(
        "token_map",
        link={
            "model": loaded.source,
            "prompt": prompt.text,
            "bos": None if bos == "default" else bos,
            "decoder": decoder or None,
            "pos": None if position == prompt.place else position,
            TOKEN_KEY: typed if ask.total is not None else ask.row,
        },
        link_note="The view and its axes are yours; the link names the model, prompt and token.",
        commands=commands,
        code=_python_code(loaded, drawn, ask),
    )
    with popover:
        _files(loaded, drawn)


def _python_code(loaded: LoadedModel, drawn: DrawnMap, ask: MapQuestion) -> str:
    """The ten nearest tokens by cosine and the axes of the view, without this app."""
    unit = "E = E / E.norm(dim=1, keepdim=True)\n" if drawn.choice.view == "unit" else ""
    terms = [(1, ask.row)] if ask.row is not None else []
    if ask.total is not None:
        terms = [(sign, token.id) for sign, token in ask.total.terms]
    total = " ".join(f"{'+' if sign > 0 else '-'} E[{row}]" for sign, row in terms) or "E[0]"
    own = sorted({row for _, row in terms})
    imports = "from sklearn.decomposition import PCA\n"
    return (
        f"{opening_code(chosen_source(), type(loaded.model).__name__, imports)}"
        "E = model.get_input_embeddings().weight.detach().float()\n"
        f"v = {total.removeprefix('+ ')}\n"
        "cosine = torch.nn.functional.cosine_similarity(E, v[None])\n"
        f"cosine[{own!r}] = -2  # what was asked about\n"
        f"values, best = cosine.topk({TOP})\n"
        "print([(tokenizer.decode([j]), float(c)) for c, j in zip(values, best)])\n"
        f"{unit}"
        'points = PCA(10, svd_solver="covariance_eigh").fit_transform(E.numpy())\n'
    )


def _files(loaded: LoadedModel, drawn: DrawnMap) -> None:
    """Coordinates of all tokens, and the picture; made when they are asked for."""

    def table() -> pd.DataFrame:
        from tiedviz.compute.token_map.projection import coordinate_table

        return coordinate_table(drawn.named, drawn.projection)

    def parquet() -> bytes:
        buffer = BytesIO()
        table().to_parquet(buffer, index=False)
        return buffer.getvalue()

    name = f"token-map-{drawn.choice.view.value}"
    title = (
        f"{loaded.title}: {count(int(drawn.visible.sum()))} rows of E, view {drawn.choice.view}; "
        f"across {drawn.axes[0]}, up {drawn.axes[1]} of the variance"
    )
    files = (
        ("CSV", lambda: table().to_csv(index=False), "text/csv"),
        ("Parquet", parquet, "application/vnd.apache.parquet"),
        ("PNG", lambda: on_white(_still_png(drawn), title), "image/png"),
    )
    for place, (label, made, kind) in zip(st.columns(3), files, strict=True):
        ending = label.lower()
        place.download_button(
            label, made, f"{name}.{ending}", kind, on_click="ignore", key=f"map {ending}"
        )
    st.caption(
        "The table holds ten coordinates of every row; the PNG the whole view. The button PNG "
        "above the map saves what is in view there."
    )
