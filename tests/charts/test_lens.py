"""Layers × positions, and tokens through the layers: what is drawn, and by what it is keyed."""

from __future__ import annotations

import pandas as pd
import pytest

from tiedviz.charts.lens import MEASURES, PICK, lens_cells, lens_lines, shades
from tiedviz.charts.palette import LIVE

CELLS = pd.DataFrame(
    {
        "layer": [0, 0, 1, 1],
        "position": [7, 8, 7, 8],
        "id": [3, 9, 3, 5],
        "text": ["␣the", "␣the", "␣the", '"a"<b>$\\'],
        "probability": [0.1, 0.2, 0.6, 0.9],
        "entropy": [2.0, 1.5, 0.5, 0.1],
        "final_text": ["␣the", '"a"<b>$\\'] * 2,
        "final_rank": [40, 100, 1, 1],
    }
)
READ = ["␣cat", "␣cat"]
LINES = pd.DataFrame(
    {
        "order": [0, 0, 1, 1],
        "id": [5, 5, 9, 9],
        "text": ["␣the", "␣the", "␣the", "␣the"],
        "layer": [0, 1, 0, 1],
        "rank": [100, 1, 3, 2],
        "logit": [0.5, 4.0, 1.0, 3.0],
        "probability": [0.01, 0.7, 0.2, 0.3],
    }
)


def picture(by: str = "rank", picked: tuple[int, int] = (1, 8)) -> dict:
    return lens_cells(CELLS, shades(100)[by], READ, picked).to_dict()


def rows(chart: dict) -> pd.DataFrame:
    [data] = chart["datasets"].values()
    return data


def value(chart: dict, name: str):
    [found] = [each["value"] for each in chart["params"] if each["name"] == name]
    return found


def test_a_cell_is_keyed_by_layer_and_position_so_that_equal_texts_stay_apart():
    chart = picture()
    assert len(rows(chart)) == 4
    for layer in chart["layer"]:
        across, up = layer["encoding"]["x"], layer["encoding"]["y"]
        assert (across["field"], across["type"]) == ("position", "ordinal")
        assert (up["field"], up["type"], up["sort"]) == ("layer", "ordinal", "descending")


def test_each_column_is_named_by_the_token_read_there():
    chart = picture()
    assert chart["layer"][0]["encoding"]["x"]["axis"]["labelExpr"] == "names[datum.value]"
    assert value(chart, "names") == {"7": "␣cat", "8": "␣cat"}


def test_one_cell_has_the_amber_edge_and_no_other():
    chart = picture(picked=(1, 8))
    edge = chart["layer"][2]
    assert edge["mark"]["stroke"] == LIVE and edge["transform"] == [{"filter": "datum.picked"}]
    assert rows(chart)["picked"].tolist() == [False, False, False, True]
    assert rows(picture(picked=(0, 7)))["picked"].tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    ("by", "dark"),
    [
        ("rank", [False, False, True, True]),
        ("probability", [False, False, False, True]),
        ("entropy", [False, False, True, True]),
    ],
)
def test_the_ink_is_light_where_the_cell_is_strong(by, dark):
    chart = picture(by)
    assert rows(chart)["on_dark"].tolist() == dark
    assert chart["layer"][0]["encoding"]["color"]["field"] == shades(100)[by].field


def test_a_click_gives_layer_and_position():
    [pick] = [each for each in picture()["params"] if each["name"] == PICK]
    assert pick["select"]["fields"] == ["layer", "position"]


def test_another_prompt_is_filled_into_the_same_specification():
    one = lens_cells(CELLS, shades(100)["rank"], READ, (0, 7))
    other = lens_cells(CELLS, shades(100)["rank"], ["a", "b"], (1, 8))
    assert one.template is other.template
    deeper = lens_cells(CELLS[CELLS["layer"] == 0], shades(100)["rank"], READ, (0, 7))
    assert deeper.to_dict()["height"] < one.to_dict()["height"]


@pytest.mark.parametrize("measure", MEASURES)
def test_tokens_that_print_alike_are_two_lines_told_apart_by_id_and_dashes(measure):
    chart = lens_lines(LINES, measure, 1).to_dict()
    assert value(chart, "names") == ["␣the #5", "␣the #9"]
    _, paths, points = chart["layer"]
    assert paths["encoding"]["y"]["field"] == measure
    for channel in ("color", "strokeDash"):
        scale = paths["encoding"][channel]["scale"]
        assert paths["encoding"][channel]["field"] == "order"
        assert scale["domain"] == [0, 1] and scale["range"][0] != scale["range"][1]
    assert points["encoding"]["color"] == paths["encoding"]["color"]


def test_the_layer_under_inspection_is_ruled_once():
    chart = lens_lines(LINES, "rank", 1).to_dict()
    assert chart["layer"][0]["transform"] == [{"filter": "datum.inspected"}]
    assert rows(chart)["inspected"].tolist() == [False, True, False, False]
