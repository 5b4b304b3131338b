"""A page run again for another prompt, against the least that any page would have to do for it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import torch
from streamlit.testing.v1 import AppTest

from benchmarks.timing import Row, ratio_row
from tiedviz.ui.caches import residents

_MAIN = Path(__file__).parents[1] / "tiedviz" / "main.py"


def rows() -> Iterator[Row]:
    """Next token on SmolLM2, over a bare forward pass, the ten best and an empty page's rerun."""
    page = _next_token()
    loaded = residents().get("smollm2")
    empty = AppTest.from_function(_empty).run()
    number = count()

    def ours() -> None:
        page.text_input(key="prompt").set_value(f"Number {next(number)} of them is").run()
        assert not page.exception

    def bare() -> None:
        empty.run()
        ids = loaded.tokenizer(f"Number {next(number)} of them is", return_tensors="pt")
        with torch.inference_mode():
            loaded.model(**ids).logits[0, -1].topk(10)

    yield ratio_row(
        "page rerun after a prompt change, over pass + top-k + empty page", ours, bare, 1.5
    )


def _next_token() -> AppTest:
    page = AppTest.from_file(_MAIN, default_timeout=300).run()
    residents().open("smollm2").wait(300)
    page.switch_page("../pages/next_token.py")
    page.query_params["model"] = "smollm2"
    return page.run()


def _empty() -> None:
    import streamlit as st

    st.title("Nothing")
