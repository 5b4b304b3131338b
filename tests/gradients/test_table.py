"""What is shown of a split: rows, positions, one JSON object, one command."""

import json
import math

import pytest

from tiedviz.commands.line import main
from tiedviz.compute.gradient_task import sentence_of
from tiedviz.compute.gradients import (
    gradient_record,
    gradient_split,
    opposed,
    position_table,
    row_table,
)

TEXT = "w41 w7 w90 w7 w66 w13 w13"


@pytest.fixture
def done(architecture):
    loaded = architecture("gpt2")
    sentence = sentence_of(loaded, TEXT)
    return loaded, sentence, gradient_split(loaded, sentence)


def test_rows_read_rows_asked_for_and_the_longest(done):
    loaded, sentence, split = done
    frame = row_table(loaded, sentence, split, largest=30).set_index("id")
    assert {41, 7, 90, 66, 13} <= set(frame.index)
    assert set(split.output_norms.topk(30).indices.tolist()) <= set(frame.index)
    assert frame.loc[7, "read"] == 2 and frame.loc[13, "read"] == 1
    assert frame.loc[13, "asked"] == 2 and frame.loc[41, "asked"] == 0
    assert frame["longer"].is_monotonic_decreasing
    for id in (41, 90):
        at = split.read_rows.tolist().index(id)
        assert frame.loc[id, "input_norm"] == float(split.input_norms[at])
        assert frame.loc[id, "output_norm"] == float(split.output_norms[id])
        assert frame.loc[id, "cosine"] == float(split.cosines[at])
    never_read = [id for id in frame.index if id not in split.read_rows.tolist()]
    assert never_read and all(frame.loc[id, "input_norm"] == 0 for id in never_read)
    assert all(math.isnan(frame.loc[id, "cosine"]) for id in never_read)


def test_rows_that_pull_apart_are_counted(done):
    _, _, split = done
    assert opposed(split) == (int((split.cosines < 0).sum()), 5)


def test_positions_say_what_was_read_and_asked(done):
    loaded, sentence, split = done
    frame = position_table(loaded, sentence, split)
    assert frame["reads"].tolist() == ["w41", "w7", "w90", "w7", "w66", "w13"]
    assert frame["asked"].tolist() == ["w7", "w90", "w7", "w66", "w13", "w13"]
    assert frame["loss"].mean() == pytest.approx(split.loss)


def test_the_record_is_plain_json(done):
    record = gradient_record(*done)
    again = json.loads(json.dumps(record, allow_nan=False))
    assert again == record
    assert set(record["input"]) == set(record["output"]) == {"norm", "rows_touched"}
    assert {"id", "text", "input_norm", "output_norm"} <= set(record["rows"][0])
    assert record["positions"] == 6 and record["dtype"] == "float32"


def test_the_command_prints_one_object(tiny_folder, capfdbinary):
    folder = str(tiny_folder(tied=True, name="gradients"))
    assert main(["gradients", folder, "--text", "the cat sat on the mat", "--json"]) == 0
    record = json.loads(capfdbinary.readouterr().out)
    assert record["tied"] and record["max_abs_difference"] <= record["tolerance"]
    assert record["output_share"] == pytest.approx(
        record["output"]["norm"] / (record["input"]["norm"] + record["output"]["norm"])
    )
    assert main(["gradients", folder, "--text", "the cat sat on the mat", "--top", "2"]) == 0
    printed = capfdbinary.readouterr().out.decode()
    assert "cosine" in printed and "rows touched" in printed


def test_two_matrices_never_meet(tiny_folder, capfdbinary):
    folder = str(tiny_folder(tied=False, name="gradients-two"))
    assert main(["gradients", folder, "--text", "the cat sat on the mat", "--json"]) == 0
    record = json.loads(capfdbinary.readouterr().out)
    assert record["cosine"] is None and not record["tied"]
    assert main(["gradients", folder, "--text", "the cat sat on the mat"]) == 0
    assert "never meet" in capfdbinary.readouterr().out.decode()


@pytest.mark.parametrize("text", ["", "<bos>"])
def test_nothing_to_ask_for_is_status_2(tiny_folder, text, capfd):
    folder = str(tiny_folder(tied=True, name="gradients"))
    assert main(["gradients", folder, "--text", text, "--json"]) == 2
    said = capfd.readouterr()
    assert not said.out and said.err.strip().splitlines()[-1].startswith("tiedviz:")
