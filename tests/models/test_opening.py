"""One model on its way in: its stage, its end, its refusal."""

from __future__ import annotations

import gc
import logging
import threading
import weakref

import pytest

from tiedviz.models import pool
from tiedviz.models.pool import Opening
from tiedviz.models.progress import Stage
from tiedviz.words.refusals.opening import OpeningRefusal


def test_the_step_is_what_was_reported_last():
    reported, looked = threading.Event(), threading.Event()

    def work(report) -> None:
        report(Stage("Fetching", 3, 4, "bytes"))
        reported.set()
        looked.wait(20)

    opening = Opening("x", work)
    assert reported.wait(20)
    assert opening.stage == Stage("Fetching", 3, 4, "bytes")
    assert not opening.finished and not opening.wait(0)
    looked.set()
    assert opening.wait(20) and opening.finished and opening.refusal is None


def test_it_knows_what_was_asked_for_and_for_how_long():
    opening = Opening("x", lambda report: None)
    assert opening.source == "x"
    assert opening.seconds >= 0


def test_a_refusal_is_kept_as_it_is():
    refusal = OpeningRefusal.no_such_path("x")

    def work(report) -> None:
        raise refusal

    opening = Opening("x", work)
    assert opening.wait(20) and opening.refusal is refusal


def test_an_unforeseen_error_is_one_line_here_and_a_traceback_in_the_log(caplog):
    def work(report) -> None:
        raise ZeroDivisionError("a\nb")

    with caplog.at_level(logging.ERROR):
        opening = Opening("x", work)
        assert opening.wait(20)
    assert isinstance(opening.refusal, OpeningRefusal) and "could not be opened" in str(
        opening.refusal
    )
    assert "ZeroDivisionError: a b" in str(opening.refusal)
    assert "Traceback" in caplog.text


def test_cancelling_stops_the_work_at_its_next_report():
    stages = []
    cancelled = threading.Event()

    def work(report) -> None:
        report(Stage("one"))
        cancelled.wait(20)
        report(Stage("two"))
        stages.append("never")

    opening = Opening("x", work)
    opening.cancel()
    cancelled.set()
    assert opening.wait(20)
    assert (
        isinstance(opening.refusal, OpeningRefusal)
        and "was cancelled" in str(opening.refusal)
        and stages == []
    )


def test_cancelling_what_is_done_changes_nothing():
    opening = Opening("x", lambda report: None)
    assert opening.wait(20)
    opening.cancel()
    assert opening.refusal is None


def test_a_fraction_is_known_where_the_end_is():
    assert Stage("x", 1, 4).fraction == 0.25
    assert Stage("x", 5, 4).fraction == 1.0
    assert Stage("x", 5).fraction is None and Stage("x", 0, 0).fraction is None


@pytest.mark.parametrize(
    "error", [OpeningRefusal.no_such_path, ValueError], ids=["refusal", "fault"]
)
def test_an_opening_that_failed_late_lets_go_of_what_it_held(error, monkeypatch):
    """A model that was all but open when somebody cancelled stayed in memory, counted by nobody."""
    monkeypatch.setattr(pool._LOG, "exception", lambda *_: None)  # pytest keeps records
    kept = []

    class Model:
        pass

    def work(report):
        model = Model()
        kept.append(weakref.ref(model))
        raise error("x")

    opening = Opening("x", work)
    assert opening.wait(10)
    gc.collect()
    assert opening.refusal is not None
    assert kept[0]() is None
