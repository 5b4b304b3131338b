import dataclasses

import pandas as pd
import pytest

from tiedviz.compute.counts.catalogue_frame import (
    how_share_falls,
    share_frame,
    where_families_stop_tying,
)
from tiedviz.words.catalogue import PARTS, catalogue, find_row


def test_one_row_for_each_model_the_smallest_first_and_the_parts_add_up():
    frame = share_frame()
    assert len(frame) == frame["repo_id"].nunique() == 233
    assert frame["parameters"].is_monotonic_increasing
    assert (frame[list(PARTS)].sum(axis=1) == frame["parameters"]).all()
    tables = frame["embedding"] + frame["head"]
    assert (tables / frame["parameters"] == frame["share"]).all()


def test_saved_and_added_are_one_table_where_tied():
    frame = share_frame().set_index("repo_id")
    gpt2, pythia = frame.loc["openai-community/gpt2"], frame.loc["EleutherAI/pythia-160m"]
    assert gpt2["saved"] == 38_597_376 and gpt2["if_untied"] == 163_037_184
    assert pythia["saved"] == 0 and pythia["if_untied"] == pythia["parameters"]


def test_where_families_stop_tying_is_read_off_the_rows():
    said = {stop.family: stop.sentence for stop in where_families_stop_tying(share_frame())}
    assert said["Qwen2.5"] == (
        "Qwen2.5 stops tying between 3B and 7B, so the share rises from 10.1 % to 14.3 %."
    )
    assert "and the share falls all the same, from" in said["OLMo"]
    assert "Pythia" not in said and "GPT-2" not in said


def test_rows_that_are_not_shown_do_not_speak():
    frame = share_frame()
    assert where_families_stop_tying(frame[frame["tied"] == "tied"]) == []
    assert how_share_falls(frame[frame["parameters"] < 1e9]) == ""


def test_a_family_that_ties_here_and_there_does_not_stop():
    row = find_row("Qwen/Qwen2.5-72B")
    parts = dataclasses.replace(row.parts, head=0)
    large = dataclasses.replace(row, repo_id="Qwen/Qwen2.5-99B", tied=True, parts=parts)
    rows = [*(each for each in catalogue() if each.family == "Qwen2.5"), large]
    assert where_families_stop_tying(share_frame(rows)) == []


def test_a_size_that_no_name_tells_is_counted():
    small, large = find_row("Qwen/Qwen2.5-3B"), find_row("Qwen/Qwen2.5-7B")
    rows = [
        dataclasses.replace(small, repo_id="a/mini"),
        dataclasses.replace(large, repo_id="a/maxi"),
    ]
    [stop] = where_families_stop_tying(share_frame(rows))
    assert "between 3.09B and 7.62B" in stop.sentence


def test_how_the_share_falls_with_size():
    said = how_share_falls(share_frame())
    small = share_frame().query("parameters < 5e8")["share"]
    assert said.startswith("The share falls with size")
    assert f"{small.median() * 100:.1f} % in the {len(small)} models below 500M" in said


def test_a_share_that_does_not_fall_is_not_said_to():
    frame = pd.DataFrame({"parameters": [1e6, 1e11], "share": [0.1, 0.2]})
    said = how_share_falls(frame)
    assert said.startswith("The share does not fall with size") and "1 model below" in said


@pytest.mark.parametrize("column", ["V", "d", "layers", "parameters", "used", "table"])
def test_numbers_are_positive(column):
    assert (share_frame()[column] > 0).all()
