"""Share & export for the page Layers."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

import streamlit as st

from tiedviz.ui.export import permalink, show_command, show_downloads, show_link
from tiedviz.ui.layers.controls import WATCH_KEY
from tiedviz.ui.layers.python import python_code
from tiedviz.ui.prompt_bar import DECODER_KEY, chosen_bos

if TYPE_CHECKING:
    import pandas as pd

    from tiedviz.compute.lens import Lens
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt


def share_and_export(
    loaded: LoadedModel,
    prompt: Prompt,
    found: Lens,
    frame: pd.DataFrame,
    layer: int,
    position: int,
) -> None:
    """The popover. What it offers gives the numbers that are on the screen now."""
    from tiedviz.compute.lens_tables import lens_record

    bos = chosen_bos()
    decoder = st.session_state.get(DECODER_KEY) if prompt.written is not None else None
    with st.popover("Share & export", icon=":material/ios_share:"):
        show_link(_link(loaded, prompt, found, layer, position))
        show_command(
            "lens",
            loaded.source,
            "--prompt",
            prompt.text,
            *(["--decoder", decoder] if decoder else []),
            *([] if bos == "default" else ["--bos", bos]),
            *(["--watch", *(f"id:{id}" for id in found.watched)] if found.watched else []),
        )
        name = "layers"
        if len(found.positions) < len(prompt.read):
            first, last = found.positions[0], found.positions[-1]
            name = f"layers-positions-{first}-to-{last}"
            st.caption(
                f"The files hold the {len(found.positions)} positions shown, {first} to {last}, of "
                f"{len(prompt.read)}; the command gives all."
            )
        st.markdown("**Python, without this app**")
        st.code(python_code(loaded, prompt, layer, position), language="python")
        show_downloads(name, frame, lens_record(loaded, prompt, found))


def _link(loaded: LoadedModel, prompt: Prompt, found: Lens, layer: int, position: int) -> str:
    bos = chosen_bos()
    decoder = st.session_state.get(DECODER_KEY) if prompt.written is not None else None
    watched = st.session_state.get(WATCH_KEY) or []
    link = permalink(
        "layers",
        model=loaded.source,
        prompt=prompt.text,
        bos=None if bos == "default" else bos,
        decoder=decoder or None,
        pos=None if position == prompt.place else position,
        layer=None if layer == found.layers else layer,
    )
    return "&".join([link, *(urlencode({WATCH_KEY: text}) for text in watched)])
