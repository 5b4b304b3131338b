"""Share & export for the page Compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from tiedviz.ui.compare.models import WITH_KEY, Seat
from tiedviz.ui.export import loading_code, permalink, show_command, show_downloads, show_link
from tiedviz.ui.prompt_bar import chosen_bos

_WRITTEN = 12  # tokens that the command writes unless it is told


def share_and_export(
    seats: Sequence[Seat], table: pd.DataFrame | None, found: dict[str, Any]
) -> None:
    """The popover. What it offers gives the numbers that are on the screen now."""
    text, bos, _ = seats[0].prompt
    decoder = next((seat.prompt[2] for seat in seats if seat.prompt[2]), "")
    most = int(st.session_state.get("continue most", _WRITTEN))
    link = permalink(
        "compare",
        model=seats[0].named,
        prompt=text,
        bos=None if bos == "default" else chosen_bos(),
        decoder=decoder or None,
    )
    with st.popover("Share & export", icon=":material/ios_share:"):
        show_link("&".join([link, *(urlencode({WITH_KEY: seat.named}) for seat in seats[1:])]))
        show_command(
            "compare",
            *(seat.named for seat in seats),
            "--prompt",
            text,
            *(["--decoder", decoder] if decoder else []),
            *([] if bos == "default" else ["--bos", bos]),
            *([] if most == _WRITTEN else ["--continue", str(most)]),
            *(["--geometry"] if "geometry" in found else []),
        )
        answered = [seat for seat in seats if seat.answer is not None]
        if table is None or not answered:
            st.caption("Files come with the answers.")
            return
        st.markdown("**Python, without this app**")
        st.code(_code(answered), language="python")
        titles = {seat.letter: seat.named for seat in answered}
        record = {
            "models": [seat.answer.record for seat in answered if seat.answer is not None],
            **found,
        }
        show_downloads("compare", table.assign(model=table["letter"].map(titles)), record)


def _code(answered: Sequence[Seat]) -> str:
    """What each model says next, one model in memory at a time."""
    parts = ["import torch\nfrom transformers import *\n"]
    for seat in answered:
        answer = seat.answer
        assert answer is not None and seat.source is not None
        written = ""
        if answer.prompt.decoder_ids is not None:
            written = f", decoder_input_ids=torch.tensor([{answer.prompt.decoder_ids}])"
        parts.append(
            f"\n# {seat.letter}\n{loading_code(seat.source, answer.class_name)}"
            f"ids = torch.tensor([{answer.prompt.ids}])\n"
            "with torch.inference_mode():\n"
            f"    p = model(ids{written}).logits[0, {answer.position}].softmax(-1)\n"
            "print([(tokenizer.decode([j]), float(v)) for v, j in zip(*p.topk(10))])\n"
            "del model\n"
        )
    return "".join(parts)
