"""`python -m tiedviz share`."""

import json

import pytest

from tiedviz.commands.line import main


@pytest.fixture
def share(capfdbinary):
    def run(*arguments: str):
        status = main(["share", *arguments])
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return run


def test_all_models_as_json(share):
    status, out, err = share("--json")
    models = json.loads(out)["models"]
    assert (status, err, len(models)) == (0, "", 233)
    gpt2 = next(model for model in models if model["repo_id"] == "openai-community/gpt2")
    assert (gpt2["family"], gpt2["tied"]) == ("GPT-2", True)
    assert gpt2["parameters"]["total"] == 124_439_808
    assert gpt2["parameters"]["embedding"] == 38_597_376
    assert gpt2["parameters"]["head"] == 0
    assert round(gpt2["parameters"]["share"], 4) == 0.3102


def test_one_model_of_the_catalogue_with_bytes(share):
    record = json.loads(share("google/gemma-3-270m", "--json")[1])
    assert record["repo_id"] == "google/gemma-3-270m"
    assert round(record["parameters"]["share"], 3) == 0.626
    assert record["parameters"]["added_by_untying"] == 167_772_160
    assert record["bytes"]["float32"] == 4 * 268_098_176
    assert record["bytes"]["bfloat16"] == 2 * 268_098_176


def test_a_config_json_is_built_and_counted(share, tmp_path, llama):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(llama(tied=False)))
    status, out, _ = share(str(file), "--json")
    record = json.loads(out)
    assert status == 0 and record["parameters"]["counted_from"] == "meta"
    assert record["parameters"]["total"] == 6_800 and record["parameters"]["head"] == 800
    assert record["parameters"]["if_tied"] == 6_000
    assert record["bytes"] == {"float32": 27_200, "bfloat16": 13_600, "int8": 6_800, "4-bit": 3_400}


def test_tables_for_people(share):
    assert share()[1].count("\n") == 233
    said = share("smollm2")[1]
    assert "21.0 % of 134,515,008 parameters is one table" in said
    assert "with two tables it would hold 162,826,560" in said
    assert "operations a token, tied or not" in said


def test_what_cannot_be_counted_is_one_line_and_status_2(share, tmp_path):
    file = tmp_path / "config.json"
    file.write_text('{"model_type": "no_such_kind"}')
    status, out, err = share(str(file), "--json")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and "no_such_kind" in err
