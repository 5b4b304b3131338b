"""A chart is drawn unchecked, and says what it would say checked."""

import altair as alt
import pandas as pd
import pytest
from altair.utils.schemapi import SchemaValidationError, enable_debug_mode

from tiedviz.charts.waterfall import waterfall
from tiedviz.ui.drawing import unchecked

STEPS = pd.DataFrame(
    {
        "step": ["a", "logit"],
        "start": [0.0, 0.0],
        "end": [1.0, 1.0],
        "value": [1.0, 1.0],
        "kind": ["adds", "the logit"],
        "detail": ["1·1", ""],
    }
)


@pytest.fixture(autouse=True)
def checks_come_back():
    yield
    enable_debug_mode()


def test_the_dictionary_is_the_checked_one():
    assert unchecked(waterfall(STEPS)).to_dict() == waterfall(STEPS).to_dict()


def test_nothing_is_checked():
    wrong = alt.Chart(STEPS).mark_bar()
    wrong.mark = {"type": "no such mark"}
    with pytest.raises(SchemaValidationError):
        wrong.to_dict()
    assert unchecked(wrong).to_dict()["mark"] == {"type": "no such mark"}
