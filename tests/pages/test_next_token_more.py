"""Next token: two tokens set against each other, any vector, a layer from the page Layers."""

import ast
import io
import json

import numpy as np
import pytest
import torch

from tests.pages.conftest import chart_data, open_model, text_of
from tiedviz.compute.next_token.candidates import By, inspection
from tiedviz.compute.next_token.state import score_state
from tiedviz.models.prompt import encode
from tiedviz.ui.next_token.arithmetic import OPEN_KEY


@pytest.fixture(scope="module")
def folder(tiny_folder):
    return tiny_folder(tied=True, name="more")


@pytest.fixture
def page(visit, folder):
    app = open_model(visit("next_token", model=str(folder), prompt="the cat sat"), "more")
    return with_the_difference_open(app)


def with_the_difference_open(app):
    """AppTest cannot click an expander; its state is what a click would leave."""
    app.session_state[OPEN_KEY] = True
    app.run()
    assert not app.exception
    return app


def by_hand(folder, layer=None):
    """h (d,) and logits (V,) at the last position, by the library alone."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = AutoTokenizer.from_pretrained(folder)("the cat sat", return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        states = model(ids, output_hidden_states=True).hidden_states
        h = states[-1] if layer is None else model.model.norm(states[layer])
        return h[0, -1], model.lm_head(h)[0, -1]


def test_the_two_best_tokens_are_set_against_each_other(page, folder):
    _, logits = by_hand(folder)
    first, second = page.dataframe[0].value["id"].tolist()[:2]
    difference = float(logits[first] - logits[second])
    steps, _ = chart_data(page, 2)
    assert steps[steps["step"] == "difference"]["value"].item() == pytest.approx(
        difference, abs=1e-5
    )
    assert f"differ by **{difference:.4f}**" in text_of(page)


def against(visit, folder, typed):
    """The page with something typed into the box; AppTest can set no new option later on."""
    app = visit("next_token", model=str(folder), prompt="the cat sat")
    app.session_state["against"] = typed
    return with_the_difference_open(open_model(app, "more"))


def test_any_token_can_be_typed(visit, folder):
    _, logits = by_hand(folder)
    difference = float(logits.max() - logits[7])
    assert f"differ by **{difference:.4f}**" in text_of(against(visit, folder, "id:7"))


def test_what_is_no_token_is_refused(visit, folder):
    page = against(visit, folder, "cat dog mat")
    assert "is not one token" in text_of(page) and "differ by" not in text_of(page)


def test_nothing_is_set_against_itself(visit, folder):
    _, logits = by_hand(folder)
    best = logits.topk(2)
    page = against(visit, folder, f"id:{int(best.indices[0])}")
    difference = float(best.values[0] - best.values[1])
    assert f"differ by **{difference:.4f}**" in text_of(page)


def test_an_uploaded_vector_is_ranked(page, folder):
    h, logits = by_hand(folder)
    file = io.BytesIO()
    np.save(file, h.numpy())
    uploader = page.file_uploader(key="any vector")
    uploader.set_value(("h.npy", file.getvalue(), "application/octet-stream")).run()
    shown = page.dataframe[1].value
    assert shown["id"].tolist() == logits.topk(10).indices.tolist()
    assert shown["logit"].tolist() == pytest.approx(logits.topk(10).values.tolist(), abs=1e-4)
    uploader = page.file_uploader(key="any vector")
    uploader.set_value(("h.npy", b"no array", "application/octet-stream")).run()
    assert "no .npy file" in text_of(page) and len(page.dataframe) == 1


def test_the_record_says_by_what_and_at_which_temperature(folder):
    from tiedviz.models.loading import load

    loaded = load(str(folder))
    prompt = encode(loaded, "the cat sat")
    state = score_state(loaded, prompt.ids)
    record = inspection(loaded, prompt, state, by=By.COSINE, temperature=2.0)
    assert json.loads(json.dumps(record))["temperature"] == 2.0 and record["by"] == "cosine"
    cosines = [row["cosine"] for row in record["top"]]
    assert cosines == sorted(cosines, reverse=True)
    first = record["top"][0]
    p = torch.softmax(state.logits.double() / 2, 0)[first["id"]]
    assert first["probability"] == pytest.approx(float(p))
    plain = inspection(loaded, prompt, state)
    assert plain["temperature"] == 1.0 and plain["by"] == "logit"


def test_a_link_may_name_a_layer_and_that_is_said(visit, folder, capsys):
    link = {"model": str(folder), "prompt": "the cat sat", "layer": "1"}
    app = open_model(visit("next_token", **link), "more")
    _, logits = by_hand(folder, layer=1)
    shown = app.dataframe[0].value
    assert shown["logit"].tolist() == pytest.approx(logits.topk(10).values.tolist(), abs=1e-4)
    said = text_of(app)
    assert "(layer 1 would say)" in said and "The logit of layer 1: **" in said
    assert "It is not the model's answer." in "".join(info.value for info in app.info)
    assert any("--layer 1" in code.value for code in app.code)
    assert any("layer=1" in code.value for code in app.code)
    [code] = [code.value for code in app.code if "from transformers import" in code.value]
    exec(compile(code, "exported", "exec"), {})
    printed = ast.literal_eval(capsys.readouterr().out)
    assert [logit for _, logit in printed] == pytest.approx(shown["logit"].tolist(), abs=1e-4)
    [last] = [button for button in app.button if button.label.startswith("Read layer 2")]
    last.click().run()
    assert "would say" not in text_of(app) and "The model's own number" in text_of(app)


@pytest.mark.parametrize("by", ["logit", "cosine", "distance"])
def test_below_the_last_layer_everything_names_the_layer(visit, folder, by):
    from tiedviz.models.loading import load

    link = {"model": str(folder), "prompt": "the cat sat", "layer": "1"}
    app = open_model(visit("next_token", **link), "more")
    app.segmented_control(key="nearest by").set_value(by).run()
    said = [each.value.replace("\\", "") for each in (*app.caption, *app.subheader)]
    of_h_L = [each for each in said if "h_L" in each]
    assert len(of_h_L) == 2  # the page's subtitle, and what the proof is about
    assert any("between this product of h_L and the model's own" in each for each in of_h_L)
    assert any("h_1 is the output of block 1 after model.norm" in each for each in said)
    reading_help = {"logit": "product with h_1", "cosine": "the way h_1", "distance": "to h_1"}
    assert any(reading_help[by] in each for each in said)
    specification = app.get("vega_lite_chart")[0].proto.spec
    assert "h_L" not in specification
    assert ("with h_1" in specification or "from h_1" in specification) is (by != "logit")
    assert any("at layer 1, taken apart" in each for each in said)
    assert app.latex[0].value.strip("$\n").startswith("z = h_1")
    assert "h_L" not in "".join(each.value for each in (*app.code, *app.latex))
    [code] = [code.value for code in app.code if "from transformers import" in code.value]
    assert "# what layer 1 of 2 would say" in code
    loaded = load(str(folder))
    prompt = encode(loaded, "the cat sat")
    record = inspection(loaded, prompt, score_state(loaded, prompt.ids, layer=1))
    assert record["formula"] == "h_1 @ E.T" and record["h"]["layer"] == 1


@pytest.mark.parametrize("layer", ["2", "7", "-1", "x"])
def test_the_last_layer_or_none_is_the_models_own_answer(visit, folder, layer):
    link = {"model": str(folder), "prompt": "the cat sat", "layer": layer}
    app = open_model(visit("next_token", **link), "more")
    assert not app.exception and "would say" not in text_of(app)
    assert "The model's own number" in text_of(app)
