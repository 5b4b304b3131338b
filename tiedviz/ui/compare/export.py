"""Share & export for the page Compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from tiedviz.ui.compare.models import WITH_KEY, ComparedModel
from tiedviz.ui.prompt_bar import chosen_bos
from tiedviz.ui.share import loading_code, options, share

_WRITTEN = 12  # tokens that the command writes unless it is told


def share_and_export(
    models: Sequence[ComparedModel], table: pd.DataFrame | None, found: dict[str, Any]
) -> None:
    """The popover. What it offers gives the numbers that are on the screen now."""
    text, bos, _ = models[0].prompt
    decoder = next((model.prompt[2] for model in models if model.prompt[2]), "")
    most = int(st.session_state.get("continue most", _WRITTEN))
    answered = [model for model in models if model.answer is not None]
    if table is not None:
        table = table.assign(
            model=table["letter"].map({model.letter: model.named for model in answered})
        )
    share(
        "compare",
        link={
            "model": models[0].named,
            "prompt": text,
            "bos": None if bos == "default" else chosen_bos(),
            "decoder": decoder or None,
            WITH_KEY: [model.named for model in models[1:]],
        },
        commands=[
            [
                "compare",
                *(model.named for model in models),
                *options(
                    {
                        "--prompt": text,
                        "--decoder": decoder or None,
                        "--bos": None if bos == "default" else bos,
                        "--continue": None if most == _WRITTEN else most,
                    }
                ),
                *(["--geometry"] if "geometry" in found else []),
            ]
        ],
        note="Files come with the answers." if table is None else "",
        code=None if table is None else _code(answered),
        table=table,
        record={
            "models": [model.answer.record for model in answered if model.answer is not None],
            **found,
        },
    )


def _code(answered: Sequence[ComparedModel]) -> str:
    """What each model says next, one model in memory at a time."""
    parts = ["import torch\nfrom transformers import *\n"]
    for model in answered:
        answer = model.answer
        assert answer is not None and model.source is not None
        written = ""
        if answer.prompt.decoder_ids is not None:
            written = f", decoder_input_ids=torch.tensor([{answer.prompt.decoder_ids}])"
        parts.append(
            f"\n# {model.letter}\n{loading_code(model.source, answer.class_name)}"
            f"ids = torch.tensor([{answer.prompt.ids}])\n"
            "with torch.inference_mode():\n"
            f"    p = model(ids{written}).logits[0, {answer.position}].softmax(-1)\n"
            "print([(tokenizer.decode([j]), float(v)) for v, j in zip(*p.topk(10))])\n"
            "del model\n"
        )
    return "".join(parts)
