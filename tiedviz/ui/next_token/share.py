"""Share & export for the page Next token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.ui.continuing import way_arguments
from tiedviz.ui.frame.choice import chosen_source
from tiedviz.ui.layers.python import python_code
from tiedviz.ui.next_token.candidates import BY_KEY, TEMPERATURE_KEY
from tiedviz.ui.prompt_bar import POSITION_KEY, bos_to_share, decoder_to_share
from tiedviz.ui.share import opening_code, options, share

if TYPE_CHECKING:
    from tiedviz.compute.continuation import Continuation, Way
    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt


def share_and_export(
    loaded: LoadedModel,
    prompt: Prompt,
    reading: ScoredState,
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
    bos, decoder = bos_to_share(), decoder_to_share(prompt)
    position = st.session_state[POSITION_KEY]
    position = None if position == -1 else position
    note = ""
    if by is not By.LOGIT or temperature != 1.0:
        note = (
            f"The command ranks by logit, at temperature 1; the files hold what is shown: by "
            f"{by.value}, at temperature {temperature:g}."
        )
    record = inspection(loaded, prompt, reading, by=by, temperature=temperature, nearest=frame)
    if written is not None:
        record["continuation"] = continuation_record(loaded, *written)
    share(
        "next_token",
        link={
            "model": loaded.source,
            "prompt": prompt.text,
            "bos": bos,
            "pos": position,
            "layer": below,
            "token": picked,
            "decoder": decoder,
        },
        commands=[
            [
                "inspect",
                loaded.source,
                *options(
                    {
                        "--prompt": prompt.text,
                        "--decoder": decoder,
                        "--bos": bos,
                        "--position": position,
                        "--layer": below,
                    }
                ),
                *([] if written is None else way_arguments(*written)),
            ]
        ],
        note=note,
        code=_code(loaded, prompt, reading.position)
        if below is None
        else python_code(loaded, prompt, below, reading.position),
        name="next-token" if below is None else f"next-token-layer-{below}",
        table=frame,
        record=record,
    )


def _code(loaded: LoadedModel, prompt: Prompt, position: int) -> str:
    kind = type(loaded.model).__name__
    written = ""
    if prompt.decoder_ids is not None:
        written = f", decoder_input_ids=torch.tensor([{prompt.decoder_ids}])"
    return (
        f"{opening_code(chosen_source(), kind)}"
        f"ids = torch.tensor([{prompt.ids}])  # {prompt.text!r}\n"
        "with torch.inference_mode():\n"
        f"    z = model(ids{written}).logits[0, {position}]\n"
        "values, best = z.topk(10)\n"
        "print([(tokenizer.decode([j]), float(v)) for v, j in zip(values, best)])\n"
    )
