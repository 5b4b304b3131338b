"""`map` and `neighbors`, as the design writes them."""

import json

import numpy as np
import pandas as pd
import pytest
import torch

from tiedviz.commands.line import main


@pytest.fixture(scope="module")
def folder(tiny_folder):
    return str(tiny_folder(tied=True, name="mapped", vocab_size=310))


def matrix_of(folder):
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    return model.get_input_embeddings().weight.detach().numpy()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_map_writes_what_scikit_learn_finds(folder, tmp_path, suffix, capsys):
    from sklearn.decomposition import PCA

    out = tmp_path / f"map.{suffix}"
    assert main(["map", folder, "--out", str(out), "--view", "centred", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    table = pd.read_csv(out) if suffix == "csv" else pd.read_parquet(out)
    assert table.columns.tolist() == [
        "id",
        "text",
        "kind",
        "norm",
        *(f"pc{n}" for n in range(1, 11)),
    ]
    assert len(table) == said["rows"] == 310
    padded = table[table["kind"] == "no token"]
    assert len(padded) == 310 - said["placed"] and len(padded) > 0
    matrix = matrix_of(folder)
    assert table["norm"].to_numpy() == pytest.approx(np.linalg.norm(matrix, axis=1), rel=1e-5)
    pca = PCA(10, svd_solver="full").fit(matrix[: said["placed"]])
    theirs = pca.transform(matrix)
    mine = table[[f"pc{n}" for n in range(1, 11)]].to_numpy()
    assert np.abs(mine) == pytest.approx(np.abs(theirs), abs=1e-4)
    assert said["explained_variance"] == pytest.approx(pca.explained_variance_ratio_, abs=1e-5)


@pytest.mark.parametrize("out", ["map.txt", "nowhere/map.csv"])
def test_map_refuses_before_it_opens_a_model(out, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["map", "no-such-model", "--out", out]) == 2
    assert "was not written" in capsys.readouterr().err


@pytest.mark.parametrize("by", ["cosine", "dot", "l2"])
def test_neighbors_prints_the_nearest_rows(folder, by, capsys):
    assert main(["neighbors", folder, " cat", "--by", by, "--top", "5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["token"]["text"] == " cat" and found["by"] == by
    assert set(found["self_rank"]) == {"cosine", "dot", "l2"}
    assert found["self_rank"]["cosine"] == 1
    matrix, row = matrix_of(folder).astype(float), found["token"]["id"]
    dot = matrix @ matrix[row]
    cosine = dot / np.linalg.norm(matrix, axis=1) / np.linalg.norm(matrix[row])
    distance = np.linalg.norm(matrix - matrix[row], axis=1)
    score = {"cosine": cosine, "dot": dot, "l2": -distance}[by]
    from transformers import AutoTokenizer

    tokens = len(AutoTokenizer.from_pretrained(folder))
    order = [int(id) for id in np.argsort(-score) if id != row and id < tokens]
    listed = found["neighbors"]
    assert [each["id"] for each in listed] == order[:5]
    assert [each["rank"] for each in listed] == [1, 2, 3, 4, 5]
    assert [each["distance"] for each in listed] == pytest.approx(distance[order[:5]], abs=1e-5)


def test_neighbors_takes_a_row_by_number_and_prints_a_table(folder, capsys):
    assert main(["neighbors", folder, "id:40"]) == 0
    said = capsys.readouterr().out
    assert "id 40" in said and "own rank" in said and len(said.splitlines()) == 11


@pytest.mark.parametrize("token", ["cat dog", "id:99999"])
def test_what_is_no_token_is_refused(folder, token, capsys):
    assert main(["neighbors", folder, token]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("tiedviz: ")
