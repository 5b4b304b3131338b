"""A run that nobody waits for any more stops before the forward pass, and lets the lock go."""

import threading

import pytest
import streamlit

from tiedviz.models.prompt import encode
from tiedviz.ui import caches


class Superseded(Exception):
    """Stands for what Streamlit raises at the next call of a run that was replaced."""


def test_it_stops_before_the_pass_and_others_get_the_lock(tied_model, monkeypatch):
    def stop():
        raise Superseded

    passes = []
    counting = tied_model.model.register_forward_pre_hook(lambda *_: passes.append(1))
    monkeypatch.setattr(streamlit, "empty", stop)
    with pytest.raises(Superseded):
        caches.scored_state(tied_model, encode(tied_model, "never read before"), 0)
    counting.remove()
    assert passes == []

    free = []

    def another_visitor():
        free.append(tied_model.lock.acquire(timeout=5))
        tied_model.lock.release()

    thread = threading.Thread(target=another_visitor)
    thread.start()
    thread.join()
    assert free == [True]
