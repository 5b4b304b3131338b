"""Downloads that hang, are cut, are somebody's web page, or are not what was published."""

import time

import huggingface_hub.constants
import pytest

from tiedviz.models.hub.cached import cached_snapshot
from tiedviz.models.loading import load
from tiedviz.words.refusals import Refusal
from tiedviz.words.refusals.hub import HubRefusal
from tiedviz.words.refusals.opening import WrongHash


@pytest.fixture
def large(hub, tiny_folder):
    """A repository whose weights do not fit into the first read of their header."""
    hub.repositories["org/tiny"] = tiny_folder(name="large", hidden_size=64, intermediate_size=2048)
    return hub


def refused_then_opened(hub, **fault):
    """What is said under a fault; nothing of it is used, and without it the model opens."""
    for name, value in fault.items():
        setattr(hub, name, value)
    with pytest.raises(Refusal) as refusal:
        load("org/tiny")
    assert cached_snapshot("org/tiny") is None
    hub.cut_after = hub.hang_after = None
    hub.portal = hub.spoil = False
    assert load("org/tiny").tied
    return refusal.value


def test_weights_that_are_not_what_was_published_are_refused_and_not_kept(large):
    """One byte differs: the size is right, and nothing else would have noticed."""
    refusal = refused_then_opened(large, spoil=True)
    assert isinstance(refusal, WrongHash)
    assert refusal.what.startswith("model.safetensors")


def test_a_web_page_in_place_of_every_file_is_refused(large):
    said = refused_then_opened(large, portal=True)
    assert type(said).__name__ != "OpeningFailed"
    assert "<html>" not in str(said)


def test_a_body_that_stands_still_ends_in_words(large, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DOWNLOAD_TIMEOUT", 0.5)
    began = time.monotonic()
    assert isinstance(refused_then_opened(large, hang_after=70_000), HubRefusal)
    assert time.monotonic() - began < 60
