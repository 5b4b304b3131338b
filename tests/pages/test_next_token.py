import ast

import pytest
import torch

from tests.pages.conftest import chart_data, open_model, press, text_of


@pytest.fixture(scope="module")
def folder(tiny_folder):
    return tiny_folder(tied=True, name="shown")


@pytest.fixture
def page(visit, folder):
    """Next token with the tiny model open and a prompt of its own corpus."""
    return open_model(visit("next_token", model=str(folder), prompt="the cat sat"), "shown")


def by_hand(folder, prompt):
    """Probabilities and logits of the same model without any code of this app."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = AutoTokenizer.from_pretrained(folder)(prompt, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        logits = model(ids).logits[0, -1]
    return torch.softmax(logits, 0), logits


def test_nothing_is_opened_before_the_person_asks(visit, folder):
    app = visit("next_token", model=str(folder), prompt="the cat sat")
    assert app.title[0].value == "Next token"
    assert app.text_input(key="prompt").value == "the cat sat"
    assert "is not open yet" in text_of(app)
    assert not app.dataframe


def test_the_ten_nearest_tokens_are_the_models_own(page, folder):
    probability, logits = by_hand(folder, "the cat sat")
    shown = page.dataframe[0].value
    best = logits.topk(10)
    assert shown["id"].tolist() == best.indices.tolist()
    assert shown["logit"].tolist() == pytest.approx(best.values.tolist(), abs=1e-5)
    assert shown["probability"].tolist() == pytest.approx(
        probability[best.indices].tolist(), abs=1e-6
    )


def test_the_proof_and_its_limit_are_on_the_page(page):
    said = text_of(page)
    assert "max |Δ| = **" in said
    assert "limit" in said
    assert "model.norm" in said
    assert r"h_L\,E^" in page.latex[0].value


def test_the_arithmetic_ends_in_the_models_own_number(page, folder):
    _, logits = by_hand(folder, "the cat sat")
    steps, _ = chart_data(page, 1)
    total = steps[steps["kind"] == "the logit"]["value"].item()
    assert total == pytest.approx(float(logits.max()), abs=1e-5)
    parts = steps[steps["kind"] != "the logit"]["value"].sum()
    assert parts == pytest.approx(total, abs=1e-5)
    assert f"The model's own number: **{float(logits.max()):.4f}**" in text_of(page)


def test_a_clicked_bar_is_taken_apart(page):
    third = page.dataframe[0].value.iloc[2]
    page.session_state["candidate bars"] = {"selection": {"pick": [{"id": int(third["id"])}]}}
    page.session_state["token"] = int(third["id"])
    page.run()
    assert f"The model's own number: **{third['logit']:.4f}**" in text_of(page)


def test_a_candidate_can_be_written_behind_the_prompt(page, tied_model):
    before = page.text_input(key="prompt").value
    row = next(
        row
        for row in page.dataframe[0].value.itertuples()
        if page.button(key=f"append {row.rank}").disabled is False
    )
    page.button(key=f"append {row.rank}").click().run()
    assert page.text_input(key="prompt").value == before + tied_model.vocabulary.token(row.id).text


def test_temperature_changes_probabilities_and_nothing_else(page):
    before = page.dataframe[0].value
    page.slider(key="temperature").set_value(0.5).run()
    after = page.dataframe[0].value
    assert after["id"].tolist() == before["id"].tolist()
    assert after["logit"].tolist() == before["logit"].tolist()
    assert after["probability"].iloc[0] > before["probability"].iloc[0]


def test_cosine_and_distance_are_other_orders_of_the_same_rows(page, folder):
    page.get_by_key("nearest by").set_value("cosine").run()
    cosines = page.dataframe[0].value["cosine"].tolist()
    assert cosines == sorted(cosines, reverse=True)
    page.get_by_key("nearest by").set_value("distance").run()
    distances = page.dataframe[0].value["distance"].tolist()
    assert distances == sorted(distances)


def test_another_position_reads_another_state(page):
    last = page.dataframe[0].value
    page.get_by_key("pos").set_value(0).run()
    first = page.dataframe[0].value
    assert first["logit"].tolist() != last["logit"].tolist()
    assert "Position 0 of" in text_of(page)


def test_bos_can_be_added(page):
    page.get_by_key("bos").set_value("add").run()
    assert page.get_by_key("pos").options[0].startswith(r":gray[\<bos\>]")


@pytest.mark.parametrize("prompt", ["", None])
def test_an_empty_prompt_is_refused_in_words(page, prompt):
    page.text_input(key="prompt").set_value(prompt or "").run()
    assert "The prompt is empty" in text_of(page)
    assert not page.dataframe


def test_a_prompt_past_the_trained_positions_is_answered_with_a_warning(page):
    page.text_input(key="prompt").set_value("cat " * 80).run()
    assert "past the 64 this model was trained for" in text_of(page)


def test_markdown_html_and_latex_in_a_prompt_stay_text(page):
    page.text_input(key="prompt").set_value("*a* <b>x</b> $y$ :red[z]").run()
    assert not page.exception
    heading = page.subheader[0].value
    assert r"\*a\*" in heading and r"\<b\>" in heading and r"\$y\$" in heading


def test_a_link_names_the_token_that_is_taken_apart(visit, folder, page):
    third = page.dataframe[0].value.iloc[2]
    link = {"model": str(folder), "prompt": "the cat sat", "token": str(third["id"])}
    app = open_model(visit("next_token", **link), "shown")
    assert f"The model's own number: **{third['logit']:.4f}**" in text_of(app)


def test_the_export_holds_the_numbers_on_the_screen(page):
    downloads = page.get("download_button")
    labels = {button.proto.label for button in downloads}
    assert labels == {"CSV", "JSON", "h_L of this page as .npy"}
    assert any("python -m tiedviz inspect" in code.value for code in page.code)
    link = next(code.value for code in page.code if "next_token?" in code.value)
    assert "prompt=the+cat+sat" in link


def test_the_exported_python_gives_the_same_numbers(page, capsys):
    [code] = [code.value for code in page.code if "from transformers import" in code.value]
    exec(compile(code, "exported", "exec"), {})
    printed = ast.literal_eval(capsys.readouterr().out)
    shown = page.dataframe[0].value
    assert [logit for _, logit in printed] == pytest.approx(shown["logit"].tolist(), abs=1e-5)


def test_a_failed_opening_says_why_and_can_be_tried_again(visit, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    app = visit("next_token", model=str(broken), prompt="keep me")
    assert app.error
    assert app.text_input(key="prompt").value == "keep me"


def test_pressing_cancel_leaves_the_page_usable(visit, folder, monkeypatch):
    import threading

    from tiedviz.models import loading

    goes_on = threading.Event()
    real = loading.load_folder

    def slow(*args, report, **options):
        goes_on.wait(20)
        return real(*args, report=report, **options)

    monkeypatch.setattr(loading, "load_folder", slow)
    app = visit("next_token", model=str(folder), prompt="typed before")
    press(app, "Open shown")
    assert "what you type is kept" in text_of(app)
    app.button(key="cancel on the page").click().run()
    goes_on.set()
    from tiedviz.ui.caches import model_pool

    assert model_pool().opening(str(folder)).wait(20)
    app.run()
    assert "was cancelled" in text_of(app)
    assert app.text_input(key="prompt").value == "typed before"


@pytest.mark.real
def test_smollm2_says_paris(visit, smollm2):
    app = visit("next_token", model="smollm2", prompt="The capital of France is")
    open_model(app, "SmolLM2 135M Instruct")
    shown = app.dataframe[0].value
    assert shown["text"].iloc[0] == "␣Paris"
    assert shown["logit"].iloc[0] == pytest.approx(17.37, abs=0.01)
    said = text_of(app)
    assert "The capital of France is → :orange[␣Paris] 77.3 %" in said
    assert "49,152 logits" in said
    facts = app.sidebar.get("html")[0].proto.body
    for fact in ("49,152", "576", "30", "134,515,008", "21.05 %"):
        assert fact in facts


def test_a_link_names_the_position(visit, folder, page):
    link = {"model": str(folder), "prompt": "the cat sat", "pos": "1"}
    app = open_model(visit("next_token", **link), "shown")
    assert "Position 1 of" in text_of(app)


def test_a_link_may_name_a_token_that_is_not_among_the_ten(visit, folder, page):
    shown = set(page.dataframe[0].value["id"])
    other = next(id for id in range(10, 300) if id not in shown)
    _, logits = by_hand(folder, "the cat sat")
    link = {"model": str(folder), "prompt": "the cat sat", "token": str(other)}
    app = open_model(visit("next_token", **link), "shown")
    assert f"The model's own number: **{float(logits[other]):.4f}**" in text_of(app)
