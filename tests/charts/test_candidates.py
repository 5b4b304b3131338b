"""Bars of the nearest tokens: one bar for each row, whatever the tokens look like."""

from __future__ import annotations

import pandas as pd
import pytest

from tiedviz.charts.next_token import PICK, candidate_bars
from tiedviz.charts.palette import LIVE, SHARED

FRAME = pd.DataFrame(
    {
        "rank": [1, 2, 3],
        "id": [40, 7, 99],
        "text": ["␣the", "␣the", '"a"<b>$\\'],
        "logit": [3.0, 2.5, -1.0],
        "probability": [0.6, 0.3654, 0.0004],
        "cosine": [0.9, 0.8, -0.1],
        "distance": [1.0, 1.1, 2.0],
    }
)
MEASURES = ["probability", "cosine", "distance"]


def spec(measure: str, frame: pd.DataFrame = FRAME) -> dict:
    return candidate_bars(frame, measure, SHARED, 7).to_dict()


def rows(chart: dict) -> list[dict]:
    [data] = chart["datasets"].values()
    return data.to_dict("records")


def parameter(chart: dict, name: str) -> dict:
    [found] = [each for each in chart["params"] if each["name"] == name]
    return found


@pytest.mark.parametrize("measure", MEASURES)
def test_a_bar_is_keyed_by_its_rank_so_that_equal_texts_stay_two_bars(measure):
    chart = spec(measure)
    assert [row["text"] for row in rows(chart)][:2] == ["␣the", "␣the"]
    assert len(rows(chart)) == 3
    for layer in chart["layer"]:
        assert layer["encoding"]["y"]["field"] == "rank"
        assert layer["encoding"]["y"]["type"] == "ordinal"
        assert layer["encoding"]["x"]["field"] == measure


def test_the_label_of_each_bar_is_its_token_quotes_and_all():
    chart = spec("cosine")
    assert chart["layer"][0]["encoding"]["y"]["axis"]["labelExpr"] == "names[datum.value - 1]"
    assert parameter(chart, "names")["value"] == ["␣the", "␣the", '"a"<b>$\\']


def test_the_end_of_a_bar_has_its_number_in_words():
    assert [row["label"] for row in rows(spec("probability"))] == ["60.0 %", "36.5 %", "<0.1 %"]
    assert [row["label"] for row in rows(spec("distance"))] == ["1.000", "1.100", "2.000"]


def test_the_token_under_inspection_is_amber_and_the_others_are_not():
    chart = spec("cosine")
    colour = chart["layer"][0]["encoding"]["color"]
    assert colour["condition"] == {"test": "datum.id === picked", "value": LIVE}
    assert parameter(chart, "picked")["value"] == 7
    assert colour["value"] == SHARED


def test_a_click_gives_the_id():
    assert parameter(spec("cosine"), PICK)["select"]["fields"] == ["id"]


def test_a_chart_of_one_bar_is_as_high_as_one_bar_needs():
    low, high = spec("cosine", FRAME.iloc[:1])["height"], spec("cosine")["height"]
    assert 0 < low < high
