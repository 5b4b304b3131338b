"""What a page says when its files go away under an open model."""

from __future__ import annotations

import shutil

import pytest
import streamlit as st

from tests.hostile.conftest import page
from tests.pages.conftest import text_of
from tests.tiny_gguf import write_gguf
from tiedviz.ui.caches import model_pool

PAGES = ("next_token", "layers", "is_it_tied", "home", "embedding_share")


@pytest.fixture
def opened():
    """Open a model as the app does."""
    st.cache_data.clear()
    st.cache_resource.clear()

    def open_it(source: str) -> None:
        opening = model_pool().open(source)
        assert opening.wait(120) and opening.refusal is None, opening.refusal

    return open_it


def test_an_emptied_cache_takes_nothing_from_an_open_model(
    opened, tmp_path, empty_cache, tiny_tokenizer
):
    file = tmp_path / "small.gguf"
    write_gguf(file, tiny_tokenizer)
    opened(str(file))
    before = page("next_token", model=str(file), prompt="the cat").dataframe[0].value
    shutil.rmtree(empty_cache)
    for name in PAGES:
        app = page(name, model=str(file), prompt="the cat")
        assert not app.exception, (name, app.exception)
    after = page("next_token", model=str(file), prompt="the cat").dataframe[0].value
    assert after["logit"].tolist() == before["logit"].tolist()
    model_pool().forget(str(file))
    opened(str(file))  # converted again
    again = page("next_token", model=str(file), prompt="the cat").dataframe[0].value
    assert again["logit"].tolist() == before["logit"].tolist()


def test_a_folder_that_is_gone_is_said_to_be(opened, tiny_folder, tmp_path):
    folder = tmp_path / "gone"
    shutil.copytree(tiny_folder(name="there"), folder)
    opened(str(folder))
    shutil.rmtree(folder)
    for name in PAGES:
        app = page(name, model=str(folder), prompt="the cat")
        assert not app.exception, (name, app.exception)
        assert "Nothing lies at" in text_of(app)
