import ast

import pytest

from tests.hub.released import published_like
from tests.pages.conftest import chart_data, open_model, press, text_of

PROMPT = "the cat sat on the mat"


@pytest.fixture(scope="module")
def folder(tiny_folder):
    return tiny_folder(tied=True, name="learning")


@pytest.fixture
def page(visit, folder):
    """Gradients with the tiny model open, run once."""
    app = open_model(visit("gradients", model=str(folder), prompt=PROMPT), "learning")
    return press(app, "Run")


def by_hand(folder, prompt):
    """(input norm, output norm, loss, n, tied gradient) by autograd on the library's own model."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = AutoTokenizer.from_pretrained(folder)(prompt, return_tensors="pt")["input_ids"]
    loss = model(ids, labels=ids).loss
    loss.backward()
    return float(loss.detach()), ids.shape[1] - 1, model.get_input_embeddings().weight.grad


def test_nothing_is_run_before_the_person_asks(visit, folder):
    app = visit("gradients", model=str(folder), prompt=PROMPT)
    assert app.title[0].value == "Gradients"
    assert "is not open yet" in text_of(app)
    app = open_model(app, "learning")
    assert "two passes there and back" in text_of(app)
    assert not app.dataframe and not app.get("vega_lite_chart")


def test_the_numbers_are_those_of_the_librarys_own_loss(page, folder):
    loss, n, gradient = by_hand(folder, PROMPT)
    said = text_of(page)
    assert f"Loss **{loss:.4f}** nats, mean of {n} positions" in said
    assert f"‖input + output‖ = **{float(gradient.norm()):#.4g}**" in said
    assert "max |Δ| = **" in said and "limit" in said and "(float32)" in said
    sides, _ = chart_data(page, 0)
    assert sides["side"].tolist() == ["input", "output"]
    rows = len(gradient)
    assert sides["rows"].tolist()[1] == rows and f"output all {rows}" in said


def test_the_table_holds_what_was_read_and_asked(page):
    shown = page.dataframe[0].value
    assert shown["read"].sum() == shown["asked"].sum() == len(page.dataframe[1].value)
    unread = shown[shown["read"] == 0]
    assert (unread["input_norm"] == 0).all() and unread["cosine"].isna().all()
    drawn, _ = chart_data(page, 1)
    assert drawn["side"].value_counts().to_dict() == {"input": len(shown), "output": len(shown)}


def test_another_text_dims_the_old_numbers_and_names_them(page):
    before = page.dataframe[0].value
    page.text_input(key="prompt").set_value("the dog ran").run()
    assert "Computed for “the cat sat on the mat”" in text_of(page)
    assert page.dataframe[0].value.equals(before)
    assert not any("tiedviz gradients" in code.value for code in page.code)
    press(page, "Run")
    assert "Computed for" not in text_of(page)
    assert not page.dataframe[0].value.equals(before)
    page.text_input(key="prompt").set_value(PROMPT).run()  # what is known is shown at once
    assert page.dataframe[0].value.equals(before)


def test_the_exported_python_gives_the_same_numbers(page, capsys):
    [code] = [code.value for code in page.code if "from transformers import" in code.value]
    exec(compile(code, "exported", "exec"), {})
    printed = ast.literal_eval(capsys.readouterr().out)
    sides, _ = chart_data(page, 0)
    assert printed[:2] == pytest.approx(sides["norm"].tolist(), rel=1e-5)
    assert printed[2] < 1e-5


def test_the_link_and_the_command_say_what_is_on_the_screen(page):
    assert any("gradients?" in code.value and "prompt=the+cat" in code.value for code in page.code)
    assert any("tiedviz gradients" in code.value and "--text" in code.value for code in page.code)


def test_two_matrices_never_meet(visit, tiny_folder, capsys):
    folder = tiny_folder(tied=False, name="apart")
    page = press(open_model(visit("gradients", model=str(folder), prompt=PROMPT), "apart"), "Run")
    assert "never meet" in text_of(page) and "pull apart" not in text_of(page)
    [code] = [code.value for code in page.code if "from transformers import" in code.value]
    exec(compile(code, "exported", "exec"), {})
    sides, _ = chart_data(page, 0)
    assert ast.literal_eval(capsys.readouterr().out)[:2] == pytest.approx(
        sides["norm"].tolist(), rel=1e-5
    )


@pytest.mark.parametrize(
    ("prompt", "said"),
    [("the", "nothing to predict"), ("", "prompt is empty"), ("cat " * 300, "at most 256")],
)
def test_what_cannot_be_asked_is_refused_in_words(visit, tiny_folder, prompt, said):
    folder = tiny_folder(tied=True, name="learning", max_position_embeddings=2048)
    app = open_model(visit("gradients", model=str(folder), prompt="the cat"), "learning")
    app.text_input(key="prompt").set_value(prompt).run()
    assert not app.exception
    assert said in text_of(app)


def test_too_little_memory_is_said_before_the_run(visit, folder, monkeypatch):
    from tiedviz.compute import gradient_task

    app = open_model(visit("gradients", model=str(folder), prompt=PROMPT), "learning")
    monkeypatch.setattr(gradient_task, "available_memory", lambda: 1000)
    app.run()
    assert "does not fit in memory" in text_of(app) and "are free" in text_of(app)


@pytest.mark.parametrize(
    ("family", "said"), [("bert", "Nothing is hidden here"), ("t5", "asked for the same text")]
)
def test_other_kinds_of_model_say_what_they_are_asked(visit, tmp_path, family, said):
    folder = published_like(family, tmp_path / family)
    app = open_model(visit("gradients", model=str(folder), prompt="the cat sat"), family)
    press(app, "Run")
    assert not app.exception and not app.error
    assert said in text_of(app) and "max |Δ|" in text_of(app)


def test_a_loss_that_is_none_of_next_tokens_is_said_to_be_none(visit, folder, monkeypatch):
    from tiedviz.compute import gradients

    for later, said, prompt in ((0.0, False, "the cat sat"), (0.25, True, "the dog ran")):
        monkeypatch.setattr(gradients, "later_tokens_move", lambda loaded, moves=later: moves)
        app = open_model(visit("gradients", model=str(folder), prompt=prompt), "learning")
        text = text_of(press(app, "Run"))
        assert ("No next-token loss" in text) is said
        assert ("by up to 0.25" in text) is said
