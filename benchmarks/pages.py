"""A page run again for another prompt, against the least that any page would have to do for it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import torch
from streamlit.testing.v1 import AppTest

from benchmarks.timing import Row, ratio_row, seconds
from tiedviz.ui.caches import residents

_MAIN = Path(__file__).parents[1] / "tiedviz" / "main.py"


def rows() -> Iterator[Row]:
    """Next token on SmolLM2, over a bare forward pass, the ten best and an empty page's rerun.

    And Embedding share, which builds no model.
    """
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
    yield _share_row()


def _share_row() -> Row:
    page = AppTest.from_file(_MAIN, default_timeout=300).run()
    page.switch_page("../pages/embedding_share.py")
    [(wall, _)] = seconds(page.run)
    assert page.get("vega_lite_chart") and not page.exception
    return Row("page Embedding share, 233 models", f"{wall:.3f} s", "<= 1 s", wall <= 1)


def _next_token() -> AppTest:
    page = AppTest.from_file(_MAIN, default_timeout=300).run()
    residents().open("smollm2").wait(300)
    page.switch_page("../pages/next_token.py")
    page.query_params["model"] = "smollm2"
    return page.run()


def _empty() -> None:
    import streamlit as st

    st.title("Nothing")
