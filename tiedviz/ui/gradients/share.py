"""Share & export for the page Gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.ui.export import permalink, show_command, show_downloads, show_link
from tiedviz.ui.gradients.python import python_code
from tiedviz.ui.gradients.run import Shown
from tiedviz.ui.gradients.task import TARGET_KEY
from tiedviz.ui.prompt_bar import chosen_bos

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel


def share_and_export(loaded: LoadedModel, shown: Shown, frame: pd.DataFrame) -> None:
    """The popover. What it offers gives the numbers that are on the screen now."""
    from tiedviz.compute.gradients import gradient_record

    if shown.old:
        return  # what is typed and what is shown differ; a link could name only one of them
    sentence = shown.sentence
    bos = chosen_bos()
    target = st.session_state.get(TARGET_KEY) if sentence.decoder_ids is not None else None
    with st.popover("Share & export", icon=":material/ios_share:"):
        show_link(
            permalink(
                "gradients",
                model=loaded.source,
                prompt=sentence.text,
                bos=None if bos == "default" else bos,
                target=target or None,
            )
        )
        show_command(
            "gradients",
            loaded.source,
            "--text",
            sentence.text,
            *(["--target", target] if target else []),
            *([] if bos == "default" else ["--bos", bos]),
        )
        st.markdown("**Python, without this app**")
        st.code(python_code(loaded, sentence), language="python")
        table = frame.drop(columns="longer")
        show_downloads("gradients", table, gradient_record(loaded, sentence, shown.split))
