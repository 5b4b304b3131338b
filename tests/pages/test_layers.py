import ast

import pyarrow as pa
import pytest
import torch

from tests.hub.released import published_like
from tests.pages.conftest import chart_data, open_model, text_of

PROMPT = "the cat sat"


@pytest.fixture(scope="module")
def folder(tiny_folder):
    return tiny_folder(tied=True, name="shown")


@pytest.fixture
def page(visit, folder):
    """Layers with the tiny model open and a prompt of its own corpus."""
    return open_model(visit("layers", model=str(folder), prompt=PROMPT), "shown")


def by_hand(folder, prompt, layer):
    """Logits (n, V) of a layer below L, by the library alone: the final norm, then the head."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = AutoTokenizer.from_pretrained(folder)(prompt, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        out = model(ids, output_hidden_states=True)
        if layer == 2:
            return ids[0], out.logits[0]
        return ids[0], model.lm_head(model.model.norm(out.hidden_states[layer]))[0]


def test_nothing_is_opened_before_the_person_asks(visit, folder):
    app = visit("layers", model=str(folder), prompt=PROMPT)
    assert app.title[0].value == "Layers"
    assert "is not open yet" in text_of(app)
    assert not app.dataframe


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_the_picture_and_the_table_hold_the_librarys_own_numbers(page, folder, layer):
    _, logits = by_hand(folder, PROMPT, layer)
    _, final = by_hand(folder, PROMPT, 2)
    page.slider(key="layer").set_value(layer).run()
    shown = page.dataframe[0].value
    best = logits[-1].topk(10)
    assert shown["id"].tolist() == best.indices.tolist()
    assert shown["logit"].tolist() == pytest.approx(best.values.tolist(), abs=1e-4)
    drawn, _ = chart_data(page, 0)
    row = drawn[drawn["layer"] == layer].sort_values("position")
    assert row["id"].tolist() == logits.argmax(1).tolist()
    answers = final.argmax(1)
    own = logits.gather(1, answers[:, None])
    assert row["final_rank"].tolist() == ((logits > own).sum(1) + 1).tolist()


def test_the_headline_is_counted(page, folder):
    ids, logits = by_hand(folder, PROMPT, 0)
    back = int((logits.argmax(1) == ids).sum())
    assert f"Layer 0 gives your prompt back at {back} of {len(ids)} positions." in text_of(page)


def test_a_clicked_cell_is_looked_into(page):
    selection = {"selection": {"cell": [{"layer": 1, "position": 0}]}}
    page.session_state["lens cells"] = selection
    page.session_state["layer"] = 1
    page.session_state["pos"] = 0
    page.run()
    assert "Layer 1, position 0" in text_of(page)
    assert not page.exception


def test_watched_tokens_have_lines_and_stray_text_is_refused(page):
    page.multiselect(key="watch").set_value(["id:7", "cat dog mat"]).run()
    chart = page.get("vega_lite_chart")[1].proto
    tables = [pa.ipc.open_stream(each.data.data).read_all().to_pandas() for each in chart.datasets]
    [followed] = [table for table in tables if "order" in table]
    assert 7 in followed["id"].tolist()
    assert len(followed) == followed["id"].nunique() * 3
    assert "is not one token" in text_of(page)


def test_a_long_prompt_is_windowed(page):
    page.text_input(key="prompt").set_value("the cat sat on the mat " * 4).run()
    assert "12 positions shown" in text_of(page)
    drawn, _ = chart_data(page, 0)
    assert drawn["position"].nunique() == 12
    assert "The files hold the 12 positions shown" in text_of(page)
    page.slider(key="first position shown").set_value(0).run()
    assert page.query_params["pos"] == "11"
    drawn, _ = chart_data(page, 0)
    assert sorted(drawn["position"].unique()) == list(range(12))
    assert "position 11" in text_of(page)


def test_the_proof_is_on_the_page(page):
    said = text_of(page)
    assert "max |Δ| = **" in said and "limit" in said and "not normed again" in said


@pytest.mark.parametrize("layer", [1, 2])
def test_the_exported_python_gives_the_same_numbers(page, layer, capsys):
    page.slider(key="layer").set_value(layer).run()
    [code] = [code.value for code in page.code if "from transformers import" in code.value]
    exec(compile(code, "exported", "exec"), {})
    printed = ast.literal_eval(capsys.readouterr().out)
    shown = page.dataframe[0].value
    assert [logit for _, logit in printed] == pytest.approx(shown["logit"].tolist(), abs=1e-4)


def test_the_link_and_the_command_say_what_is_on_the_screen(page):
    page.multiselect(key="watch").set_value(["id:7"]).run()
    page.slider(key="layer").set_value(1).run()
    link = next(code.value for code in page.code if "layers?" in code.value)
    assert "layer=1" in link and "watch=id%3A7" in link
    assert any("tiedviz lens" in code.value and "id:7" in code.value for code in page.code)


@pytest.mark.parametrize("family", ["bert", "t5"])
def test_other_kinds_of_model_have_layers_too(visit, tmp_path, family):
    folder = published_like(family, tmp_path / family)
    app = open_model(visit("layers", model=str(folder), prompt="the cat <mask> sat"), family)
    assert not app.exception and not app.error
    what = "the answer so far" if family == "t5" else "your prompt"
    assert f"Layer 0 gives {what} back" in text_of(app)


def test_a_link_names_layer_and_position(visit, folder, page):
    app = open_model(visit("layers", model=str(folder), prompt=PROMPT, layer="1", pos="0"), "shown")
    assert "Layer 1, position 0" in text_of(app)
