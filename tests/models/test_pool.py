"""Open models are kept within a budget of bytes, the least recently used first to go."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest

from tiedviz.models import pool as pool_module
from tiedviz.models.pool import ModelPool
from tiedviz.models.progress import Stage
from tiedviz.words.refusals.opening import OpeningRefusal


@dataclass
class Weight:
    """As much of an open model as the budget looks at."""

    name: str
    nbytes: int


SIZES = {"a": 40, "b": 40, "c": 40, "huge": 1000}


class Loader:
    """Loads weights of known size, counts, and can be held up or made to fail."""

    def __init__(self) -> None:
        self.loaded: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.refuse = False

    def __call__(self, source, *, report, make_room):
        self.gate.wait(20)
        report(Stage("Loading"))
        if self.refuse:
            raise OpeningRefusal.no_such_model(source, ["a"])
        make_room(SIZES[source])
        self.loaded.append(source)
        return Weight(source, SIZES[source])


@pytest.fixture
def loader():
    return Loader()


@pytest.fixture
def pool(loader):
    return ModelPool(loader, budget=100)


def opened(pool: ModelPool, source: str) -> Weight:
    assert pool.open(source).wait(20)
    return pool.get(source)


def test_nothing_is_open_at_the_beginning(pool):
    assert pool.get("a") is None
    assert pool.opening("a") is None
    assert pool.names == [] and pool.nbytes == 0


def test_an_opened_model_is_there_for_everybody(pool):
    model = opened(pool, "a")
    assert model.name == "a"
    assert pool.get("a") is model
    assert pool.nbytes == 40


def test_the_least_recently_used_goes_first(pool):
    opened(pool, "a")
    opened(pool, "b")
    pool.get("a")
    opened(pool, "c")
    assert pool.names == ["a", "c"]
    assert pool.get("b") is None


@pytest.mark.case(17)
def test_the_budget_holds_whatever_is_opened(pool):  # case 17
    for source in "abcabc":
        opened(pool, source)
        assert pool.nbytes <= 100


def test_a_model_larger_than_the_budget_is_refused_and_nobody_goes(pool):
    opened(pool, "a")
    opening = pool.open("huge")
    assert opening.wait(5)
    assert isinstance(
        opening.refusal, OpeningRefusal
    ) and "is larger than open models may be together" in str(opening.refusal)
    assert pool.names == ["a"]


def test_who_still_computes_with_a_model_keeps_it(pool):
    model = opened(pool, "a")
    opened(pool, "b")
    opened(pool, "c")
    assert "a" not in pool.names
    assert model.nbytes == 40


def test_many_who_ask_at_once_look_at_one_opening(pool, loader):
    loader.gate.clear()
    openings = [pool.open("a") for _ in range(8)]
    assert len({id(opening) for opening in openings}) == 1
    assert not openings[0].finished
    assert pool.opening("a") is openings[0]
    loader.gate.set()
    assert openings[0].wait(20)
    assert loader.loaded == ["a"]


def test_a_finished_opening_is_not_looked_at_again(pool):
    opened(pool, "a")
    assert pool.opening("a") is None


def test_a_failed_opening_keeps_its_refusal_and_can_be_tried_again(pool, loader):
    loader.refuse = True
    failed = pool.open("a")
    assert failed.wait(20)
    assert isinstance(failed.refusal, OpeningRefusal) and "names no model" in str(failed.refusal)
    assert pool.opening("a") is failed
    assert pool.get("a") is None
    loader.refuse = False
    again = pool.open("a")
    assert again is not failed and again.wait(20)
    assert again.refusal is None and pool.get("a").name == "a"


def test_an_unforeseen_error_is_a_refusal_too(pool):
    failed = pool.open("no such size")
    assert failed.wait(20)
    assert isinstance(failed.refusal, OpeningRefusal) and "could not be opened" in str(
        failed.refusal
    )
    assert "KeyError" in failed.refusal.why


def test_a_cancelled_opening_stops_at_its_next_step(pool, loader):
    loader.gate.clear()
    opening = pool.open("a")
    opening.cancel()
    loader.gate.set()
    assert opening.wait(20)
    assert isinstance(opening.refusal, OpeningRefusal) and "was cancelled" in str(opening.refusal)
    assert pool.get("a") is None and loader.loaded == []


def test_a_model_can_be_let_go_of(pool):
    opened(pool, "a")
    pool.forget("a")
    assert pool.get("a") is None and pool.nbytes == 0
    pool.forget("never opened")


def test_what_was_just_opened_stays_until_all_who_asked_for_it_have_read_it(pool):
    """Room for two models, and both are new: the third opening waits until one was read."""
    for source, reader in (("a", "ann"), ("b", "ann"), ("b", "bob")):
        assert pool.open(source, reader).wait(20)
    third = pool.open("c", "eve")
    pool.get("b")  # by nobody in particular: a sidebar
    pool.get("b", "bob")
    assert not third.wait(0.5)
    assert third.stage.name.startswith("Waiting until what was just opened")
    assert pool.get("b", "ann").name == "b"  # the later one is read first, and goes first
    assert third.wait(20)
    assert pool.names == ["a", "c"] and pool.nbytes <= 100
    pool.get("a", "ann")
    assert pool.open("b", "bob").wait(20)
    assert pool.names == ["c", "b"]  # the one longest unused, but nobody has read it


def test_what_nobody_reads_is_spared_for_a_bounded_time(pool, monkeypatch):
    monkeypatch.setattr(pool_module, "_SPARED", 0.4)
    for source in "abc":
        assert pool.open(source).wait(20)
        assert pool.nbytes <= 100
    assert pool.names == ["b", "c"]


def test_whoever_waits_for_room_can_be_cancelled(pool, monkeypatch):
    monkeypatch.setattr(pool_module, "_SPARED", 60.0)
    assert pool.open("a").wait(20) and pool.open("b").wait(20)
    third = pool.open("c")
    third.cancel()
    assert (
        third.wait(20)
        and isinstance(third.refusal, OpeningRefusal)
        and "was cancelled" in str(third.refusal)
    )
    assert pool.names == ["a", "b"]
