"""A logit as a waterfall, its steps in the order they are taken."""

from __future__ import annotations

import pandas as pd

from tiedviz.charts.next_token import waterfall

STEPS = pd.DataFrame(
    {
        "step": ["dimension 7", "dimension 2", "30 others", "× 2", "logit"],
        "detail": ["2.000 × 3.000", "1.000 × -4.000", "30 smaller products", "scale", "the total"],
        "value": [6.0, -4.0, 1.0, 3.0, 6.0],
        "start": [0.0, 6.0, 2.0, 3.0, 0.0],
        "end": [6.0, 2.0, 3.0, 6.0, 6.0],
        "kind": ["adds", "takes away", "the rest", "adds", "the logit"],
    }
)


def rows_of(chart: dict) -> pd.DataFrame:
    [rows] = chart["datasets"].values()
    return rows


def test_the_steps_stand_in_the_order_of_the_rows_and_not_of_the_alphabet():
    chart = waterfall(STEPS).to_dict()
    for layer in chart["layer"]:
        y = layer["encoding"]["y"]
        assert (y["field"], y["type"], y.get("sort")) == ("at", "ordinal", None)
        assert y["axis"]["labelExpr"] == "names[datum.value - 1]"
    assert rows_of(chart)["at"].tolist() == [1, 2, 3, 4, 5]
    [names] = [each["value"] for each in chart["params"] if each["name"] == "names"]
    assert names == STEPS["step"].tolist()


def test_each_bar_goes_from_where_the_sum_was_to_where_it_is():
    chart = waterfall(STEPS).to_dict()
    bar = chart["layer"][0]["encoding"]
    assert (bar["x"]["field"], bar["x2"]["field"]) == ("start", "end")
    rows = rows_of(chart)
    ends = list(zip(rows["start"], rows["end"], strict=True))
    assert ends == [(0, 6), (6, 2), (2, 3), (3, 6), (0, 6)]


def test_every_kind_of_step_has_its_own_colour():
    scale = waterfall(STEPS).to_dict()["layer"][0]["encoding"]["color"]["scale"]
    assert set(STEPS["kind"]) <= set(scale["domain"])
    assert len(set(scale["range"])) == len(scale["domain"])


def test_the_number_stands_at_the_far_end_of_its_bar():
    text = waterfall(STEPS).to_dict()["layer"][1]
    assert text["transform"][0]["calculate"] == "max(datum.start, datum.end)"
    assert text["encoding"]["text"]["field"] == "value"


def test_the_steps_of_a_real_logit_can_be_drawn():
    import torch

    from tiedviz.compute.next_token.arithmetic import logit_arithmetic
    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.compute.unembedding import AfterHead
    from tiedviz.compute.unembedding.after_head import ONE

    class Small:
        scoring_matrix = torch.randn(3, 20)

    reading = ScoredState(0, 1, 1, torch.randn(20), None, torch.zeros(3), torch.zeros(3), 0.0, 1.0)
    steps = logit_arithmetic(Small(), reading, AfterHead(None, "", ONE, None), 2).steps()
    rows = rows_of(waterfall(steps).to_dict())
    assert len(rows) == 14 and rows["step"].nunique() == 14
