"""Downloads that hang, are cut, are somebody's web page, or are not what was published."""

import re
import time

import pytest
from huggingface_hub import constants

from tiedviz.models import hub_download
from tiedviz.models.hub import cached_snapshot
from tiedviz.models.loading import load
from tiedviz.models.progress import Abandoned, Fetched, silent
from tiedviz.words.refusals import Refusal
from tiedviz.words.refusals.hub import HubRefusal
from tiedviz.words.refusals.opening import OpeningRefusal


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
    hub.portal = hub.spoil = False
    assert load("org/tiny").tied
    return refusal.value


def test_weights_that_are_not_what_was_published_are_refused_and_not_kept(large):
    """One byte differs: the size is right, and nothing else would have noticed."""
    refusal = refused_then_opened(large, spoil=True)
    assert isinstance(refusal, OpeningRefusal) and "its SHA-256 is" in str(refusal)
    assert refusal.what.startswith("model.safetensors")


def test_a_web_page_in_place_of_every_file_is_refused(large):
    said = refused_then_opened(large, portal=True)
    assert "could not be opened" not in str(said)
    assert "<html>" not in str(said)


def test_a_body_that_stands_still_is_given_up_once(large, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 1)  # the client's own, read at import
    monkeypatch.setenv("HF_HUB_DOWNLOAD_TIMEOUT", "1.5")
    large.hang_after = 2_000_000
    began = time.monotonic()
    with pytest.raises(HubRefusal, match="The Hub stopped sending") as refusal:
        load("org/tiny")
    assert time.monotonic() - began < 10  # the client alone: six times its own patience
    assert re.fullmatch(r"nothing came for \d s", refusal.value.why)
    assert cached_snapshot("org/tiny") is None
    monkeypatch.delenv("HF_HUB_DOWNLOAD_TIMEOUT")
    large.hang_after = None
    assert load("org/tiny").tied


def test_whoever_waits_hears_for_how_long_nothing_came_and_may_stop(large, monkeypatch):
    monkeypatch.setattr(hub_download, "_SILENCE", 0.2)
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 4)
    large.hang_after = 600_000
    said = []

    def stop(stage):
        said.append(stage)
        if stage.name.startswith("Nothing came for 1 s"):
            raise OpeningRefusal.cancelled("org/tiny")

    began = time.monotonic()
    with pytest.raises(OpeningRefusal, match="was cancelled"):
        load("org/tiny", report=stop)
    assert time.monotonic() - began < 10  # the standstill alone would be given up after 20 s
    assert said[-1].name == "Nothing came for 1 s (given up after 20 s)"
    assert 2 << 18 <= said[-1].done < said[-1].total


def test_a_client_that_was_left_stops_at_the_next_byte():
    fetched = Fetched(100, silent)
    fetched.more(10)
    fetched.abandon()
    with pytest.raises(Abandoned):
        fetched.more(10)


def test_a_timeout_of_the_clients_own_comes_out_as_it_is():
    def ends() -> None:
        raise TimeoutError("own")

    with pytest.raises(TimeoutError, match="own"):
        hub_download.watched(ends, Fetched(100, silent))
