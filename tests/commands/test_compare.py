"""`python -m tiedviz compare`."""

import gc
import json
import weakref

import pytest

from tests.hub.released import published_like

PROMPT = "the cat sat"


@pytest.fixture(scope="module")
def pair(tiny_folder):
    one = tiny_folder(tied=True, name="compare a")
    return one, tiny_folder(tied=False, name="compare b", seed=2, hidden_size=32)


def test_one_json_object_with_models_and_agreement(command, pair):
    status, out, err = command("compare", *pair, "--prompt", PROMPT, "--json", "--continue", 4)
    record = json.loads(out)
    assert status == 0 and out.count("\n") == 1 and "{" not in err
    one, other = record["models"]
    assert (one["verdict"], other["verdict"]) == ("tied", "untied")
    assert one["parameters"]["head"] == 0 < other["parameters"]["head"]
    assert (one["h"]["width"], other["h"]["width"]) == (16, 32)
    assert len(one["continuation"]["tokens"]) <= 4
    [found] = record["agreement"]
    assert found["models"] == [str(each) for each in pair]
    assert 0 < found["js_divergence_bits"] < 1
    assert all(0 < mass <= 1 for mass in found["mass_shared"])


def test_each_model_is_as_inspect_gives_it(command, pair):
    record = json.loads(command("compare", *pair, "--prompt", PROMPT, "--json")[1])
    for model, folder in zip(record["models"], pair, strict=True):
        alone = json.loads(command("inspect", folder, "--prompt", PROMPT, "--json")[1])
        assert {key: model[key] for key in alone} == alone


def test_the_same_model_twice_and_its_geometry(command, pair):
    said = command("compare", pair[0], pair[0], "--prompt", PROMPT, "--geometry", "--json")[1]
    record = json.loads(said)
    [found] = record["agreement"]
    assert found["js_divergence_bits"] == 0 and found["top_overlap"] == 1
    assert not found["greedy"]["differ"]
    assert record["geometry"]["overlaps"][0]["neighbours_shared"] == 1


def test_one_that_cannot_be_opened_leaves_the_others_standing(command, pair, tmp_path):
    models = [pair[0], tmp_path / "nowhere", pair[1]]
    status, out, err = command("compare", *models, "--prompt", PROMPT, "--json")
    record = json.loads(out)
    assert status == 2 and "Nothing lies at" in err
    assert "refusal" in record["models"][1]
    assert len(record["agreement"]) == 1


def test_no_two_models_are_in_memory_at_once(command, pair, monkeypatch):
    import tiedviz.models.loading as loading

    real, opened, seen = loading.load, [], []

    def load(*args, **options):
        gc.collect()
        seen.append(sum(each() is not None for each in opened))
        found = real(*args, **options)
        opened.append(weakref.ref(found.model))
        return found

    monkeypatch.setattr(loading, "load", load)
    command("compare", *pair, pair[0], "--prompt", PROMPT, "--geometry", "--json")
    assert seen == [0] * 6


def test_a_masked_and_a_causal_model(command, pair, tmp_path):
    bert = published_like("bert", tmp_path / "bert")
    status, out, _ = command("compare", pair[0], bert, "--prompt", "the cat [MASK]", "--json")
    record = json.loads(out)
    # the two copies of this BERT are something to mend, as audit says
    assert status == max(command("audit", folder)[0] for folder in (pair[0], bert))
    assert record["agreement"][0]["greedy"] is None
    status, out, err = command("compare", pair[0], bert, "--prompt", "the cat", "--json")
    assert status == 2 and "the prompt has none" in err
    assert json.loads(out)["agreement"] == []


def test_a_table_for_people(command, pair):
    status, out, _ = command("compare", *pair, "--prompt", PROMPT, "--geometry")
    assert status == 0
    assert "JS divergence" in out and "shared tokens" in out and "neighbours shared" in out


@pytest.mark.parametrize("number", [1, 5])
def test_two_to_four(command, pair, number):
    status, out, err = command("compare", *[pair[0]] * number, "--prompt", PROMPT)
    assert (status, out) == (2, "") and "two to four" in err
