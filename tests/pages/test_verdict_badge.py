"""The verdict in the sidebar: from the files, in a word, on every page."""

import json

import pytest
from safetensors.torch import load_file, save_file

from tests.pages.conftest import text_of


def badges(app):
    return [part.value.replace("\\", "") for part in app.sidebar.markdown]


@pytest.mark.parametrize(("tied", "word"), [(True, "tied"), (False, "two matrices, not compared")])
def test_it_says_what_the_files_say_before_anything_is_opened(visit, tiny_folder, tied, word):
    folder = tiny_folder(tied=tied, name=f"badge-{tied}")
    app = visit("next_token", model=str(folder))
    assert "is not open yet" in text_of(app)
    assert any(f"by its files: {word}" in badge for badge in badges(app))


def test_something_wrong_is_said_in_a_word_too(visit, tiny_folder):
    folder = tiny_folder(tied=False, name="badge-broken")
    weights = load_file(folder / "model.safetensors")
    del weights["lm_head.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    assert config["tie_word_embeddings"] is False
    app = visit("embedding_share", model=str(folder))
    assert any("by its files: broken" in badge for badge in badges(app))


def test_it_reads_no_weights(visit, tiny_folder, monkeypatch):
    """Two copies are not compared for it; what the page Is it tied? compared is used."""
    folder = tiny_folder(tied=True, name="badge-twin")
    weights = load_file(folder / "model.safetensors")
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"].clone()
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    app = visit("home", model=str(folder))
    assert any("by its files: two matrices, not compared" in badge for badge in badges(app))
    app.switch_page("../pages/is_it_tied.py").run()
    app.run()
    assert any("by its files: twin" in badge for badge in badges(app))


def test_nothing_is_said_where_nothing_is_heard(visit, empty_cache):
    app = visit("home", model="smollm2")
    assert not any("by its files" in badge for badge in badges(app))
