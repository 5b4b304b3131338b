"""Downloads that hang, are cut, are somebody's web page, or are not what was published."""

import re
import time

import pytest

from tiedviz.models.hub import download, stream
from tiedviz.models.hub.address import cache_folder
from tiedviz.models.hub.cached import cached_snapshot
from tiedviz.models.loading import load
from tiedviz.words.refusals import Refusal
from tiedviz.words.refusals.hub import DownloadCut, HubStoodStill
from tiedviz.words.refusals.opening import OpeningCancelled, WrongHash


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
    assert isinstance(refusal, WrongHash)
    assert refusal.what.startswith("model.safetensors")


def test_a_web_page_in_place_of_every_file_is_refused(large):
    said = refused_then_opened(large, portal=True)
    assert type(said).__name__ != "OpeningFailed"
    assert "<html>" not in str(said)


def test_a_body_that_stands_still_is_given_up_once_and_taken_up_where_it_stood(large, monkeypatch):
    """Each byte before the standstill comes once, over however many connections and tries."""
    monkeypatch.setenv("HF_HUB_DOWNLOAD_TIMEOUT", "1.5")
    large.hang_after = 2_000_000
    began = time.monotonic()
    with pytest.raises(HubStoodStill) as refusal:
        load("org/tiny")
    assert time.monotonic() - began < 15  # once, not six times over
    assert re.fullmatch(r"nothing came for \d s; 2 MB of 3 MB are kept", refusal.value.why)
    assert "goes on where it stopped" in refusal.value.remedy
    assert cached_snapshot("org/tiny") is None
    size = (large.repositories["org/tiny"] / "model.safetensors").stat().st_size
    monkeypatch.delenv("HF_HUB_DOWNLOAD_TIMEOUT")
    large.hang_after, large.sent = None, 0
    assert load("org/tiny").tied
    assert size - 2_000_000 < large.sent < size - 1_900_000  # the rest, and the headers again


def test_whoever_waits_hears_for_how_long_nothing_came_and_may_stop(large, monkeypatch):
    monkeypatch.setattr(download, "_SILENCE", 0.2)
    large.hang_after = 70_000
    said = []

    def stop(step):
        said.append(step)
        if step.stage.startswith("Nothing came for 1 s"):
            raise OpeningCancelled("org/tiny")

    began = time.monotonic()
    with pytest.raises(OpeningCancelled):
        load("org/tiny", report=stop)
    assert time.monotonic() - began < 10  # the standstill alone would be given up after 20 s
    assert said[-1].stage == "Nothing came for 1 s (given up after 20 s)"
    assert 70_000 <= said[-1].done < said[-1].total


def test_a_connection_that_breaks_is_taken_up_where_it_broke(large, monkeypatch):
    """Each connection brings a slice, and no byte comes twice."""
    monkeypatch.setattr(stream, "_PAUSE", 0.01)
    size = (large.repositories["org/tiny"] / "model.safetensors").stat().st_size
    large.slice = size // 4 + 1
    assert load("org/tiny").tied
    asked = [path for method, path in large.requests if method == "GET" and "safetensors" in path]
    assert len(asked) >= 4
    assert large.sent < size + 100_000


def test_what_was_kept_is_thrown_away_where_it_is_not_the_beginning_of_the_file(large, monkeypatch):
    """A part that somebody spoiled would make every later try a wrong one."""
    monkeypatch.setattr(stream, "_PAUSE", 0.01)
    large.cut_after = 70_000
    with pytest.raises(DownloadCut):
        load("org/tiny")
    large.cut_after = None
    [part] = cache_folder().rglob("*.incomplete")
    part.write_bytes(bytes(70_000))
    with pytest.raises(WrongHash):
        load("org/tiny")
    assert load("org/tiny").tied
