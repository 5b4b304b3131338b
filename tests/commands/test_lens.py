"""`python -m tiedviz lens`."""

import json

import pytest
import torch

from tests.hub.released import published_like

PROMPT = "the cat sat"


@pytest.fixture(scope="module")
def folder(tiny_folder):
    return tiny_folder(tied=True, name="lens of the line")


def by_hand(folder, layer):
    """Logits (n, V) of a layer, by the library alone."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = AutoTokenizer.from_pretrained(folder)(PROMPT, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        out = model(ids, output_hidden_states=True)
        if layer == 2:
            return ids[0], out.logits[0]
        return ids[0], model.lm_head(model.model.norm(out.hidden_states[layer]))[0]


def test_one_json_object_with_the_librarys_own_numbers(command, folder):
    status, out, err = command("lens", folder, "--prompt", PROMPT, "--top", 3, "--json")
    record = json.loads(out)
    assert status == 0 and out.count("\n") == 1 and "{" not in err
    assert [layer["layer"] for layer in record["layers"]] == [0, 1, 2]
    for layer in record["layers"]:
        ids, logits = by_hand(folder, layer["layer"])
        assert [token["id"] for token in record["tokens"]] == ids.tolist()
        for place in layer["positions"]:
            own = logits[place["position"]]
            best = own.topk(3)
            assert [token["id"] for token in place["top"]] == best.indices.tolist()
            shown = [token["logit"] for token in place["top"]]
            assert shown == pytest.approx(best.values.tolist(), abs=1e-4)
            p = torch.softmax(own.double(), 0)
            assert place["entropy"] == pytest.approx(float(-(p * p.log()).sum()), abs=1e-4)


def test_watched_tokens_have_ranks_at_every_layer(command, folder):
    record = json.loads(
        command("lens", folder, "--prompt", PROMPT, "--watch", "id:7", "id:9", "--json")[1]
    )
    for layer in record["layers"]:
        _, logits = by_hand(folder, layer["layer"])
        for place in layer["positions"]:
            own = logits[place["position"]]
            assert [token["id"] for token in place["watched"]] == [7, 9]
            ranks = [int((own > own[id]).sum()) + 1 for id in (7, 9)]
            assert [token["rank"] for token in place["watched"]] == ranks


def test_a_table_for_people_has_a_line_for_each_layer(command, folder):
    status, out, _ = command("lens", folder, "--prompt", PROMPT, "--watch", "id:7")
    assert status == 0
    assert "max |Δ| =" in out and "rank" in out
    starts = [line.split()[0] for line in out.splitlines() if line[:4].strip().isdigit()]
    assert starts[:3] == ["2", "1", "0"]


def test_a_decoder_reads_what_it_has_written(command, tmp_path):
    folder = published_like("t5", tmp_path / "t5")
    said = command("lens", folder, "--prompt", "the cat", "--decoder", "sat", "--json")[1]
    record = json.loads(said)
    assert len(record["layers"][0]["positions"]) == len(record["decoder_tokens"]) > 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--prompt", PROMPT, "--watch", "cat dog mat"), "is not one token"),
        (("--prompt", PROMPT, "--watch", "id:999999"), "There is no row"),
        (("--prompt", ""), "The prompt is empty"),
        (("--prompt", "the cat " * 9000), "tokens long"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_status_2(command, folder, arguments, said):
    status, out, err = command("lens", folder, *arguments, "--json")
    assert (status, out) == (2, "")
    assert said in err.splitlines()[-1]


def test_a_model_that_is_not_there(command, tmp_path):
    status, out, err = command("lens", tmp_path / "nowhere", "--prompt", PROMPT)
    assert (status, out) == (2, "") and "Nothing lies at" in err


def test_top_of_nothing_is_a_usage_error(command, folder):
    with pytest.raises(SystemExit) as ended:
        command("lens", folder, "--prompt", PROMPT, "--top", 0)
    assert ended.value.code == 2
