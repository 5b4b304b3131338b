"""A chart is drawn unchecked, and says what it would say checked."""

import altair as alt
import pandas as pd
import pytest
from altair.utils.schemapi import SchemaValidationError, enable_debug_mode

from tiedviz.charts.next_token import candidate_bars
from tiedviz.charts.palette import SHARED
from tiedviz.charts.template import chart_template, rows_to_come
from tiedviz.charts.walkthrough import word_bars
from tiedviz.ui.drawing import unchecked

WORDS = pd.DataFrame({"word": ["cat", "dog"], "logit": [0.43, 0.32]})


@pytest.fixture(autouse=True)
def checks_come_back():
    yield
    enable_debug_mode()


def test_the_dictionary_is_the_checked_one():
    def chart():
        return word_bars(WORDS, "logit", SHARED, 0)

    assert unchecked(chart()).to_dict() == chart().to_dict()


def test_nothing_is_checked():
    wrong = alt.Chart(WORDS).mark_bar()
    wrong.mark = {"type": "no such mark"}
    with pytest.raises(SchemaValidationError):
        wrong.to_dict()
    assert unchecked(wrong).to_dict()["mark"] == {"type": "no such mark"}


def test_a_template_is_specified_once_and_given_rows_each_time():
    frame = pd.DataFrame(
        {"rank": [1], "id": [7], "text": ["␣a"], "logit": [1.0], "probability": [0.5]}
    )
    first = candidate_bars(frame, "probability", SHARED, 7)
    second = candidate_bars(frame.assign(id=8), "probability", SHARED, 8)
    assert first.template is second.template
    assert first.to_dict()["params"] != second.to_dict()["params"]
    assert first.to_dict()["datasets"]["rows"]["id"].tolist() == [7]  # as it was before the second


def test_a_template_is_checked_when_it_is_specified():
    wrong = alt.Chart(rows_to_come()).mark_bar()
    wrong.mark = {"type": "no such mark"}
    with pytest.raises(SchemaValidationError):
        chart_template(wrong)
