"""A model that goes is gone: no idle visitor keeps it in memory, outside the byte budget."""

import gc
import weakref

import pytest

from tests.pages.conftest import open_model
from tiedviz.ui.caches import LruCache, model_pool
from tiedviz.words.refusals import Refusal

PAGES = ("home", "next_token", "layers", "token_map", "gradients", "compare", "walkthrough")


@pytest.mark.parametrize("page", [*PAGES, "is_it_tied", "embedding_share"])
def test_a_visitor_who_looks_away_keeps_no_model_alive(visit, tiny_folder, page):
    folder = str(tiny_folder(tied=True, name="going"))
    app = open_model(visit("next_token", model=folder, prompt="the cat sat"), "going")
    app.switch_page(f"../pages/{page}.py").run()
    assert not app.exception
    model = weakref.ref(model_pool().get(folder))
    assert model() is not None
    model_pool().forget(folder)
    gc.collect()
    assert model() is None, gc.get_referrers(model())


class Model:
    """Stands for half a gigabyte."""


def refused() -> tuple[weakref.ref, Refusal]:
    """A refusal on its way through a function that had a model in hand."""
    model = Model()
    try:
        try:
            raise ValueError(f"no answer of {model}")
        except ValueError as error:
            raise Refusal("Nothing", "it is a test", "Go on") from error
    except Refusal as refusal:
        return weakref.ref(model), refusal


def test_a_refusal_that_is_kept_holds_on_to_words_alone():
    kept = LruCache(2)
    model, refusal = refused()
    assert model() is not None  # in the frames that the refusal came through
    kept.keep("why not", refusal)
    del refusal
    gc.collect()
    assert model() is None
    assert kept.get("why not").why == "it is a test"
