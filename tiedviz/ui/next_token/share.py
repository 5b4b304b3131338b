"""Share & export for the page Next token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.ui.continuing import way_arguments
from tiedviz.ui.export import (
    loading_code,
    permalink,
    show_command,
    show_downloads,
    show_link,
)
from tiedviz.ui.frame.choice import chosen_source
from tiedviz.ui.layers.python import python_code
from tiedviz.ui.next_token.candidates import BY_KEY, TEMPERATURE_KEY
from tiedviz.ui.prompt_bar import DECODER_KEY, POSITION_KEY, chosen_bos

if TYPE_CHECKING:
    from tiedviz.compute.continuation import Continuation, Way
    from tiedviz.compute.next_token.reading import Reading
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt


def share_and_export(
    loaded: LoadedModel,
    prompt: Prompt,
    reading: Reading,
    frame: pd.DataFrame,
    picked: int,
    written: tuple[Continuation, Way] | None,
) -> None:
    """The popover. What it offers gives the numbers that are on the screen now."""
    from tiedviz.compute.continuation.record import continuation_record
    from tiedviz.compute.next_token.inspection import inspection
    from tiedviz.compute.next_token.ranking import By

    below = None if reading.layer == reading.layers else reading.layer
    by = By(str(st.session_state.get(BY_KEY) or "logit"))
    temperature = float(st.session_state.get(TEMPERATURE_KEY, 1.0))
    bos = chosen_bos()
    decoder = st.session_state.get(DECODER_KEY) if prompt.written is not None else None
    position = st.session_state[POSITION_KEY]
    with st.popover("Share & export", icon=":material/ios_share:"):
        show_link(
            permalink(
                "next_token",
                model=loaded.source,
                prompt=prompt.text,
                bos=None if bos == "default" else bos,
                pos=None if position == -1 else position,
                layer=below,
                token=picked,
                decoder=decoder or None,
            )
        )
        show_command(
            "inspect",
            loaded.source,
            "--prompt",
            prompt.text,
            *(["--decoder", decoder] if decoder else []),
            *([] if bos == "default" else ["--bos", bos]),
            *([] if position == -1 else ["--position", str(position)]),
            *([] if below is None else ["--layer", str(below)]),
            *([] if written is None else way_arguments(*written)),
        )
        if by is not By.LOGIT or temperature != 1.0:
            st.caption(
                f"The command ranks by logit, at temperature 1; the files hold what is shown: by "
                f"{by.value}, at temperature {temperature:g}."
            )
        st.markdown("**Python, without this app**")
        code = (
            _code(loaded, prompt, reading.position)
            if below is None
            else python_code(loaded, prompt, below, reading.position)
        )
        st.code(code, language="python")
        record = inspection(loaded, prompt, reading, by=by, temperature=temperature, nearest=frame)
        if written is not None:
            record["continuation"] = continuation_record(loaded, *written)
        name = "next-token" if below is None else f"next-token-layer-{below}"
        show_downloads(name, frame, record)


def _code(loaded: LoadedModel, prompt: Prompt, position: int) -> str:
    kind = type(loaded.model).__name__
    written = ""
    if prompt.decoder_ids is not None:
        written = f", decoder_input_ids=torch.tensor([{prompt.decoder_ids}])"
    return (
        "import torch\n"
        f"from transformers import {kind}, AutoTokenizer, GgufConfig\n"
        f"{loading_code(chosen_source(), kind)}"
        f"ids = torch.tensor([{prompt.ids}])  # {prompt.text!r}\n"
        "with torch.inference_mode():\n"
        f"    z = model(ids{written}).logits[0, {position}]\n"
        "values, best = z.topk(10)\n"
        "print([(tokenizer.decode([j]), float(v)) for v, j in zip(values, best)])\n"
    )
