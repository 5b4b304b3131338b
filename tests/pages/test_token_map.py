import ast
import json
import re
import struct

import numpy as np
import pytest
import torch

from tests.hub.released import published_like
from tests.pages.conftest import open_model, text_of

PROMPT = "the cat sat"


@pytest.fixture(scope="module")
def folder(tiny_folder):
    return tiny_folder(tied=True, name="mapped")


@pytest.fixture
def page(visit, folder):
    """Token map with the tiny model open and a prompt of its own corpus."""
    return open_model(visit("token_map", model=str(folder), prompt=PROMPT), "mapped")


def mounted(app):
    """What the browser is given: names, points (arrays), and the marks on the map."""
    names, points, marks = (each.proto for each in app.get("bidi_component"))
    return unpacked(names.bytes), unpacked(points.bytes), json.loads(marks.json)


def unpacked(raw):
    size = struct.unpack("<I", raw[:4])[0]
    header, rest = json.loads(raw[4 : 4 + size]), raw[4 + size :]
    rows = header["rows"]
    if header["role"] == "points":
        return header, np.frombuffer(rest, "<f4").reshape(2, rows).T
    norms = np.frombuffer(rest, "<f4", rows)
    lengths = np.frombuffer(rest, "<u2", rows, 4 * rows)
    kinds = np.frombuffer(rest, "<u1", rows, 6 * rows)
    text = rest[7 * rows :].decode()
    ends = np.cumsum(lengths)
    return (
        header,
        norms,
        kinds,
        [text[end - size : end] for end, size in zip(ends, lengths, strict=True)],
    )


def by_hand(folder):
    """E, the model and its tokenizer, by the library alone."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    return (
        model.get_input_embeddings().weight.detach(),
        model,
        AutoTokenizer.from_pretrained(folder),
    )


def scikit_learn(array):
    from sklearn.decomposition import PCA

    pca = PCA(10, svd_solver="full")
    return pca.fit_transform(array.double().numpy()), pca


def test_nothing_is_opened_before_the_person_asks(visit, folder):
    app = visit("token_map", model=str(folder), prompt=PROMPT)
    assert app.title[0].value == "Token map"
    assert "is not open yet" in text_of(app)
    assert not app.get("bidi_component")


@pytest.mark.case(15, 69)
def test_every_row_is_sent_where_scikit_learn_puts_it(page, folder):
    """For case 15 and case 69 as well: no row is sampled, and the strip says how many there are."""
    table, _, tokenizer = by_hand(folder)
    (header, norms, _, texts), (_, points), marks = mounted(page)
    theirs, pca = scikit_learn(table / table.norm(dim=1, keepdim=True))
    assert np.abs(points) == pytest.approx(np.abs(theirs[:, :2]), abs=1e-4)
    assert norms == pytest.approx(table.norm(dim=1).numpy(), rel=1e-5)
    assert len(texts) == len(tokenizer) == header["rows"]
    assert texts[tokenizer.convert_tokens_to_ids("Ġcat")] == "␣cat"
    metrics = {metric.label: metric.value for metric in page.metric}
    assert metrics["Points drawn"] == f"{len(table)}"
    shown = f"{100 * pca.explained_variance_ratio_[:2].sum():.1f} %"
    assert metrics["Variance shown"] == shown
    assert sum(kind["count"] for kind in marks["kinds"]) == len(table)


def test_the_views_and_axes_are_those_that_were_chosen(page, folder):
    table, _, _ = by_hand(folder)
    theirs, pca = scikit_learn(table)
    page.segmented_control(key="map view").set_value("centred").run()
    page.selectbox(key="map axes up").set_value(4).run()
    _, (_, points), marks = mounted(page)
    assert np.abs(points) == pytest.approx(np.abs(theirs[:, [0, 4]]), abs=1e-4)
    assert marks["axes"][1].startswith("PC5")
    page.segmented_control(key="map view").set_value("raw").run()
    _, (_, points), marks = mounted(page)
    moved = (theirs + pca.mean_ @ pca.components_.T)[:, [0, 4]]
    assert np.abs(points) == pytest.approx(np.abs(moved), abs=1e-4)
    assert marks["crosses"][0]["label"] == "zero vector"


def test_the_chosen_token_is_the_models_answer_and_its_neighbours_are_right(page, folder):
    table, model, tokenizer = by_hand(folder)
    ids = tokenizer(PROMPT, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        answer = int(model(ids).logits[0, -1].argmax())
    *_, marks = mounted(page)
    assert marks["chosen"] == answer
    cosine = torch.nn.functional.cosine_similarity(table, table[answer][None])
    cosine[answer] = -2
    best = cosine.topk(10)
    assert marks["neighbours"] == best.indices.tolist()
    shown = page.dataframe[0].value
    assert shown["cosine"].tolist() == pytest.approx(best.values.tolist(), abs=1e-5)
    assert "its own row has rank 1 by cosine" in text_of(page)
    page.segmented_control(key="map by").set_value("l2").run()
    distance = (table - table[answer]).norm(dim=1)
    distance[answer] = torch.inf
    assert (
        page.dataframe[0].value["id"].tolist() == distance.topk(10, largest=False).indices.tolist()
    )


def test_a_sum_of_tokens_can_be_typed_and_what_is_none_is_refused(page, folder):
    table, _, _ = by_hand(folder)
    page.text_input(key="map ask").set_value("id:20 − id:30 + id:40").run()
    total = table[20] - table[30] + table[40]
    cosine = torch.nn.functional.cosine_similarity(table, total[None])
    cosine[[20, 30, 40]] = -2
    assert page.dataframe[0].value["id"].tolist() == cosine.topk(10).indices.tolist()
    *_, marks = mounted(page)
    assert marks["chosen"] is None and marks["crosses"][0]["label"] == "the sum"
    page.text_input(key="map ask").set_value("cat dog mat").run()
    assert "is not one token" in text_of(page)
    assert len(page.get("bidi_component")) == 3  # the map stands all the same
    page.text_input(key="map ask").set_value("␣cat").run()
    assert ":orange[␣cat] #" in text_of(page)


def test_the_path_is_the_models_own_states_in_the_same_view(page, folder):
    table, model, tokenizer = by_hand(folder)
    ids = tokenizer(PROMPT, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        out = model(ids, output_hidden_states=True)
        below = [model.model.norm(state[0, -1]) for state in out.hidden_states[:-1]]
    states = torch.stack([*below, out.hidden_states[-1][0, -1]])
    unit = table / table.norm(dim=1, keepdim=True)
    _, pca = scikit_learn(unit)
    theirs = pca.transform((states / states.norm(dim=1, keepdim=True)).double().numpy())
    *_, marks = mounted(page)
    assert [step["label"] for step in marks["path"]] == ["h_0", "h_1", "h_2"]
    mine = np.array([[step["x"], step["y"]] for step in marks["path"]])
    assert np.abs(mine) == pytest.approx(np.abs(theirs[:, :2]), abs=1e-4)
    page.query_params["map_tab"] = "Path of h"
    page.run()
    assert f"‖h_2‖ = **{float(states[-1].norm()):.2f}**" in text_of(page)
    page.toggle(key="map path").set_value(False).run()
    assert mounted(page)[-1]["path"] == []


@pytest.mark.case(68)
def test_the_share_of_kept_neighbours_is_counted(page, folder):  # case 68
    table, _, _ = by_hand(folder)
    unit = table / table.norm(dim=1, keepdim=True)
    flat = torch.from_numpy(scikit_learn(unit)[0][:, :2])

    def nearest(points):
        away = torch.cdist(points, points).fill_diagonal_(torch.inf)
        return away.topk(10, largest=False).indices.tolist()

    pairs = zip(nearest(unit.double()), nearest(flat), strict=True)
    share = np.mean([len(set(a) & set(b)) / 10 for a, b in pairs])
    [kept] = [metric.value for metric in page.metric if metric.label == "Neighbours kept"]
    assert float(kept.split()[0]) == pytest.approx(100 * share, abs=0.11)


def test_a_region_lists_the_tokens_inside_it(page):
    _, (header, points), _ = mounted(page)
    x, y = np.percentile(points, [20, 70], axis=0).T
    region = {"x": x.tolist(), "y": y.tolist(), "points": header["key"]}
    page.session_state["map region"] = region
    page.query_params["map_tab"] = "Region"
    page.run()
    inside = ((points >= [x[0], y[0]]) & (points <= [x[1], y[1]])).all(axis=1)
    assert page.dataframe[0].value["id"].tolist() == np.flatnonzero(inside).tolist()
    page.session_state["map region"] = region | {"points": "other axes"}
    page.run()
    assert not page.dataframe


def test_a_rerun_sends_the_same_bytes_and_a_click_only_other_marks(page, folder):
    before = [
        each.proto.SerializeToString(deterministic=True) for each in page.get("bidi_component")
    ]
    page.run()
    again = [
        each.proto.SerializeToString(deterministic=True) for each in page.get("bidi_component")
    ]
    assert again == before
    page.session_state["map token"] = (str(folder), 33)
    page.run()
    clicked = [
        each.proto.SerializeToString(deterministic=True) for each in page.get("bidi_component")
    ]
    assert clicked[:2] == before[:2] and clicked[2] != before[2]
    assert mounted(page)[-1]["chosen"] == 33


@pytest.mark.parametrize(("token", "said"), [("33", "#33"), ("id:20 − id:30", "Nearest to")])
def test_a_link_names_the_token(visit, folder, page, token, said):
    app = open_model(visit("token_map", model=str(folder), prompt=PROMPT, token=token), "mapped")
    assert said in text_of(app)
    [link] = [code.value for code in app.code if "token_map?" in code.value]
    assert "token=" in link


def test_the_exported_python_gives_the_same_neighbours(page, capsys):
    [code] = [code.value for code in page.code if "from transformers import" in code.value]
    exec(compile(code, "exported", "exec"), {})
    printed = ast.literal_eval(capsys.readouterr().out)
    shown = page.dataframe[0].value["cosine"].tolist()
    assert [cosine for _, cosine in printed] == pytest.approx(shown, abs=1e-5)


def test_rows_without_a_token_are_left_out_until_asked_for(visit, tiny_folder):
    folder = tiny_folder(tied=True, name="padded", vocab_size=330)
    app = open_model(visit("token_map", model=str(folder), prompt=PROMPT), "padded")
    said = text_of(app)
    number = int(re.search(r"(\d+) rows without a token", said)[1])
    [drawn] = [metric.value for metric in app.metric if metric.label == "Points drawn"]
    assert int(drawn) == 330 - number
    app.toggle(key="map empty rows").set_value(True).run()
    [drawn] = [metric.value for metric in app.metric if metric.label == "Points drawn"]
    assert drawn == "330"


@pytest.mark.parametrize("family", ["bert", "t5"])
def test_other_kinds_of_model_have_a_map_too(visit, tmp_path, family):
    folder = published_like(family, tmp_path / family)
    app = open_model(visit("token_map", model=str(folder), prompt="the cat <mask> sat"), family)
    assert not app.exception and not app.error
    assert mounted(app)[-1]["path"]


def test_the_spectrum_and_the_still_picture_are_drawn(page):
    page.query_params["map_tab"] = "Spectrum"
    page.run()
    assert len(page.get("vega_lite_chart")) == 2
    assert "hold half of the variance" in text_of(page)


def test_a_row_that_is_not_finite_is_named_and_the_map_stands(visit, tiny_folder):
    from safetensors.torch import load_file, save_file

    folder = tiny_folder(tied=True, name="holed")
    weights = load_file(folder / "model.safetensors")
    weights["model.embed_tokens.weight"][77] = float("nan")
    weights["model.embed_tokens.weight"][[90, 91]] = 0
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    app = open_model(visit("token_map", model=str(folder), prompt=PROMPT), "holed")
    said = text_of(app)
    assert "1 row not finite, left out" in said and "#77" in said
    assert "2 rows of length 0, no direction" in said
    [drawn] = [metric.value for metric in app.metric if metric.label == "Points drawn"]
    rows = weights["model.embed_tokens.weight"].shape[0]
    assert int(drawn) == rows - 3
    app.text_input(key="map ask").set_value("id:77").run()
    assert "has no neighbours" in text_of(app)


def test_a_matrix_two_wide_has_two_components(visit, tiny_folder):
    folder = tiny_folder(
        tied=True, name="flat", hidden_size=2, num_attention_heads=1, num_key_value_heads=1
    )
    app = open_model(visit("token_map", model=str(folder), prompt=PROMPT), "flat")
    metrics = {metric.label: metric.value for metric in app.metric}
    assert metrics["Variance shown"] == "100.0 %"
    assert app.selectbox(key="map axes up").options == ["PC1", "PC2"]


def test_a_component_that_a_view_does_not_have_is_its_last_one(visit, tiny_folder):
    from safetensors.torch import load_file, save_file

    folder = tiny_folder(tied=True, name="hollow")
    weights = load_file(folder / "model.safetensors")
    weights["model.embed_tokens.weight"][4:] = 0
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    app = open_model(visit("token_map", model=str(folder), prompt=PROMPT), "hollow")
    app.selectbox(key="map axes up").set_value(7).run()  # PC8, where four directions have four
    assert not app.exception, app.exception
    assert mounted(app)[-1]["axes"][1].startswith("PC4 ")
    [kept] = [metric.value for metric in app.metric if metric.label == "Neighbours kept"]
    assert kept


def test_an_untied_model_says_which_matrix_scores(visit, tiny_folder):
    folder = tiny_folder(tied=False, name="parted")
    app = open_model(
        visit("token_map", model=str(folder), prompt=PROMPT, map_tab="Path of h"), "parted"
    )
    said = text_of(app)
    assert "This model is untied" in said and "Rows of W, the matrix that scores" in said
