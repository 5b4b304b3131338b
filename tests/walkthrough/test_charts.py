"""The walkthrough's pictures."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd

from tiedviz.charts.palette import LIVE
from tiedviz.charts.walkthrough import (
    arrows,
    drift_line,
    place_in_table,
    table_picture,
    two_sides,
    word_bars,
)

CELLS = pd.DataFrame(
    [(7, "<b>", 0, -0.5, False), (7, "<b>", 1, 0.1, False), (8, "<b>", 0, 0.2, True)],
    columns=["row", "label", "column", "value", "lit"],
)


def rows_of(chart):
    """The rows behind the first layer that has `row` data, by dataset."""
    return list(chart.to_dict()["datasets"].values())


def test_rows_with_the_same_text_stay_two_rows_and_the_lit_one_is_framed():
    spec = table_picture(CELLS).to_dict()
    assert spec["encoding"]["y"]["field"] == "row"
    assert "<b>  7" in spec["encoding"]["y"]["axis"]["labelExpr"]
    assert spec["encoding"]["stroke"]["condition"]["value"] == LIVE
    assert "opacity" not in spec["encoding"]  # it would fade the frame along with the square


def test_the_place_in_the_table_is_on_the_scale_of_the_whole_table():
    spec = place_in_table(38_462, 49_152).to_dict()
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 49_151]


def test_labels_of_arrows_keep_apart_and_rows_keep_their_places():
    tips = pd.DataFrame(
        {
            "rank": range(4),
            "label": ["a", "a", "b", "c"],
            "along": [1.0, 0.9, 0.8, 0.7],
            "across": [0.0, 0.001, 0.002, 2.0],
            "hidden": 0.0,
            "logit": [4.0, 3.0, 2.0, 1.0],
        }
    )
    [drawn] = [rows for rows in rows_of(arrows(tips, LIVE)) if "beside" in rows[0]]
    heights = sorted(row["beside"] for row in drawn)
    assert min(b - a for a, b in pairwise(heights)) > 0.1
    assert [row["across"] for row in drawn] == tips["across"].tolist()


def test_bars_stand_in_the_order_of_the_ids_with_room_below_zero_for_a_number():
    frame = pd.DataFrame({"word": ["a", "a"], "logit": [-1.0, 3.0]})
    spec = word_bars(frame, "logit", LIVE, 1).to_dict()
    bar = spec["layer"][0]["encoding"]
    assert bar["y"]["field"] == "id"
    low, high = bar["x"]["scale"]["domain"]
    assert low < -1.5 and high > 3.5


def test_two_sides_and_the_drift_hold_their_numbers():
    moved = pd.DataFrame({"word": ["a"], "input_side": [0.0], "output_side": [0.5]})
    [rows] = rows_of(two_sides(moved))
    assert {row["side"]: row["length"] for row in rows} == {
        "through the input": 0.0,
        "through the output": 0.5,
    }
    [rows] = rows_of(drift_line([0.0, 0.5]))
    assert [row["distance"] for row in rows] == [0.0, 0.5]
