"""The ten steps, with no model open and with one."""

from __future__ import annotations

import json
import math

import pytest

from tests.hub.released import published_like
from tests.pages.conftest import chart_data, open_model, press, text_of
from tiedviz.compute.toy import Toy
from tiedviz.ui.walkthrough import STEPS
from tiedviz.ui.walkthrough.practice_questions import practice
from tiedviz.ui.walkthrough.step import Choice, Numbers

TOY = Toy.published()


@pytest.fixture(scope="module")
def folder(tiny_folder):
    return tiny_folder(tied=True, name="shown")


@pytest.fixture
def at_step(visit, empty_cache):
    """The page at one step, no model open."""
    return lambda step, **parameters: visit("walkthrough", step=str(step), **parameters)


@pytest.fixture
def opened(visit, folder):
    """The page at one step, the tiny model open."""
    return lambda step: open_model(visit("walkthrough", model=str(folder), step=str(step)), "shown")


def edit(app, name, row, column, value):
    """Type into a cell of the toy."""
    app.session_state[f"toy {name} 0"] = {
        "edited_rows": {row: {column: value}},
        "added_rows": [],
        "deleted_rows": [],
    }
    app.run()
    assert not app.exception


def table_with(app, column):
    """The one data frame on the page that has this column."""
    [found] = [frame.value for frame in app.dataframe if column in frame.value]
    return found


def identity(app):
    """What Python said of W and E of the toy."""
    [found] = [code.value for code in app.code if "np.array_equal" in code.value]
    return found


def answer(app, question):
    """Fill in the right answer, question by question as the page asks it."""
    if isinstance(question, Choice):
        app.radio(key=f"answer {question.key}").set_value(question.right).run()
    elif isinstance(question, Numbers):
        for label, number in question.blanks:
            app.text_input(key=f"answer {question.key} {label}").set_value(f"{number:,}").run()
    else:
        app.text_area(key=f"answer {question.key}").set_value(question.answer).run()


@pytest.mark.parametrize("step", range(1, 11))
def test_every_step_stands_with_no_model_open(at_step, step):
    app = at_step(step)
    assert app.title[0].value == "Walkthrough"
    assert app.subheader[0].value == f"{step}. {STEPS[step - 1].title}"
    assert not app.error
    if step < 9:
        assert "is not open yet" in text_of(app)


def test_back_and_next_turn_the_page(at_step):
    app = at_step(3)
    press(app, "Next")
    assert app.subheader[0].value.startswith("4. ")
    press(app, "3. Lookup is a matrix multiply")
    press(app, "Back")
    assert app.subheader[0].value.startswith("2. ")
    assert [button.disabled for button in at_step(1).button if button.label == "Back"] == [True]
    assert [button.disabled for button in at_step(10).button if button.label == "Next"] == [True]


def test_a_link_to_a_step_that_is_not_there_leads_to_the_first(at_step):
    assert at_step(77).subheader[0].value.startswith("1. ")
    assert at_step("x").subheader[0].value.startswith("1. ")


def test_the_toy_gives_the_numbers_one_gets_by_hand(at_step):
    app = at_step(6)
    scores = table_with(app, "products")
    assert scores["logit"].round(2).tolist() == [0.43, 0.32, -0.13, 0.54]
    assert scores["probability"].round(4).tolist() == [0.2791, 0.2500, 0.1594, 0.3115]
    assert "Next word: **ran**, with probability **0.3115**" in text_of(app)
    assert rf"{-math.log(0.279069):.3f}" in app.latex[-1].value


def test_an_edited_number_changes_what_follows_and_survives_the_next_step(at_step):
    app = at_step(6)
    edit(app, "h", 0, "x₃", 0.9)
    assert "Next word: **the**" in text_of(app)  # 0.5·0.1 + 0.2·0.3 + 0.9·0.8 = 0.83
    press(app, "Next")
    press(app, "Next")
    press(app, "Next")
    assert "**the** wins with logit 0.83" in text_of(app)
    app.switch_page("../pages/home.py").run()
    app.switch_page("../pages/walkthrough.py").run()
    assert "**the** wins with logit 0.83" in text_of(app)
    press(app, "Reset")
    assert "**ran** wins with logit 0.54" in text_of(app)


def test_an_empty_cell_is_named(at_step):
    app = at_step(6)
    edit(app, "E", 3, "x₁", None)
    assert "ran, x₁ is empty and counts as 0 until you fill it." in text_of(app)
    assert table_with(app, "products")["logit"][3] == pytest.approx(0.54 - 0.35)


def test_a_state_of_zeros_has_no_arrow_and_even_odds(at_step):
    app = at_step(5)
    app.session_state["toy h 0"] = {
        "edited_rows": {0: {"x₁": 0, "x₂": 0, "x₃": 0}},
        "added_rows": [],
        "deleted_rows": [],
    }
    app.run()
    assert any("points nowhere" in box.value for box in app.info)


def test_an_equal_copy_drifts_after_one_step_and_a_tied_table_cannot(at_step):
    app = at_step(5)
    assert "W is E               # True" in identity(app)
    app.segmented_control(key="toy weights").set_value("equal copy").run()
    assert "W is E               # False" in identity(app)
    assert "np.array_equal(W, E) # True" in identity(app)
    app.slider(key="steps of drift").set_value(1).run()
    assert "np.array_equal(W, E) # False" in identity(app)
    app.segmented_control(key="toy weights").set_value("tied").run()
    assert "np.array_equal(W, E) # True" in identity(app)


def test_a_tied_row_does_both_and_a_copy_does_not(at_step):
    app = at_step(7)
    moved = table_with(app, "vector_moved")
    assert moved["vector_moved"][0] > 0.2 and moved["logit_after"][0] > moved["logit_before"][0]
    assert any("One row did both" in box.value for box in app.success)
    app.segmented_control(key="toy weights").set_value("equal copy").run()
    moved = table_with(app, "vector_moved")
    assert moved["vector_moved"][0] == 0 and moved["logit_after"][0] > moved["logit_before"][0]


def test_a_block_of_another_width_cannot_be_added(at_step):
    app = at_step(4)
    app.segmented_control(key="width of a block").set_value(4).run()
    assert any("could not be broadcast" in box.value for box in app.error)


def test_both_versions_are_built_in_torch(at_step):
    app = press(at_step(4), "Build both in PyTorch")
    said = text_of(app)
    assert "| **logits** | **1 × 5 × 4** | **1 × 5 × 4** |" in said
    assert "| parameters | 24 | 12 |" in said
    assert "| False | True |" in said


def test_hostile_text_is_shown_as_it_stands(at_step):
    app = at_step(8)
    app.text_input(key="toy unknown").set_value("**the** <b> $x$ \u202e :red[a]").run()
    assert not app.exception
    assert r"\*\*the\*\* → UNK" in "\n".join(part.value for part in app.markdown)


@pytest.mark.parametrize("step", range(1, 10))
def test_every_check_question_is_solved_by_its_own_answer(at_step, step):
    app = at_step(step)
    question = STEPS[step - 1].question(TOY)
    assert not [box for box in app.success if box.value == question.answer]
    answer(app, question)
    assert [box for box in app.success if box.value == question.answer]


def test_practice_checks_at_once_gives_a_hint_first_and_keeps_its_progress(at_step):
    app = at_step(10)
    questions = practice()
    first = questions[0]
    app.button(key=f"more {first.key}").click().run()
    assert any(box.value == first.hint for box in app.info)
    assert first.answer not in text_of(app)
    app.radio(key=f"answer {first.key}").set_value((first.right + 1) % 4).run()
    assert any("Not that one" in box.value for box in app.warning)
    for number, question in enumerate(questions):
        app.segmented_control(key="practice question").set_value(number).run()
        answer(app, question)
        assert any(box.value == question.answer for box in app.success), question.key
    progress = app.get("progress")[0].proto
    assert progress.text.startswith(f"{len(questions)} of {len(questions) + 9} solved")
    press(app, "Back")
    press(app, "Next")
    assert app.get("progress")[0].proto.text.startswith(f"{len(questions)} of ")
    press(app, "Start over")
    assert app.get("progress")[0].proto.text.startswith("0 of ")


def test_questions_on_the_chosen_model_use_its_published_sizes(at_step):
    app = at_step(10, model="smollm2")
    app.text_input(key="answer model other 49152 576 134515008 parameters").set_value("162826560")
    app.run()
    assert any("162,826,560" in box.value for box in app.success)


def test_the_toy_is_exported_as_it_is_now(at_step):
    app = at_step(6)
    edit(app, "h", 0, "x₃", 0.9)
    assert any("walkthrough?" in code.value and "step=6" in code.value for code in app.code)
    [code] = [code.value for code in app.code if code.value.startswith("import numpy")]
    assert "h = np.array([0.5, 0.2, 0.9])" in code


def test_the_exported_python_prints_the_same_numbers(at_step, capsys):
    app = at_step(6)
    [code] = [code.value for code in app.code if code.value.startswith("import numpy")]
    exec(compile(code, "exported", "exec"), {})
    printed = eval(capsys.readouterr().out)
    assert [word for word, _, _ in printed] == list(TOY.words)
    assert [p for _, _, p in printed] == pytest.approx(TOY.scores()["probability"].tolist())


@pytest.mark.parametrize("step", range(1, 9))
def test_every_step_measures_the_open_model(opened, step):
    app = opened(step)
    assert not app.error and "is not open yet" not in text_of(app)


def test_the_real_table_is_the_models_own(opened, folder):
    from transformers import AutoModelForCausalLM

    E = AutoModelForCausalLM.from_pretrained(folder).get_input_embeddings().weight
    app = opened(2)
    app.text_input(key="walkthrough word").set_value("cat").run()
    drawn, _ = chart_data(app, 1)
    lit = drawn[drawn["lit"]]
    row = int(lit["row"].iloc[0])
    assert lit["value"].tolist() == pytest.approx(E[row, :32].tolist())


def test_both_ways_are_timed_on_the_real_table(opened):
    app = press(opened(3), "Time both ways")
    assert "for the same numbers (max |Δ| = 0)" in text_of(app)
    assert len(app.metric) == 2


def test_a_word_of_no_piece_is_refused_and_the_toy_stays(opened):
    app = opened(1)
    app.text_input(key="walkthrough word").set_value("").run()
    assert any("prompt is empty" in box.value for box in app.error)
    assert app.radio(key="answer step 1")


def test_the_real_answer_is_the_models_own(opened, folder):
    app = opened(6)
    app.text_input(key="walkthrough prompt").set_value("the cat sat").run()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = AutoTokenizer.from_pretrained(folder)("the cat sat", return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        best = float(torch.softmax(model(ids).logits[0, -1], 0).max())
    assert f"−ln p = **{-math.log(best):.4f}**" in text_of(app)


@pytest.mark.parametrize("family", ["bert", "t5"])
def test_other_kinds_of_model_walk_through_too(visit, tmp_path, family):
    folder = published_like(family, tmp_path / family)
    app = open_model(visit("walkthrough", model=str(folder), step="4"), family)
    for step in (4, 5, 6, 7, 8):
        app.segmented_control(key="step").set_value(step).run()
        assert not app.exception and not app.error, step
    said = text_of(app)
    assert "no plain sum" in said if family == "bert" else "| input scale | none |" in said


def test_the_record_is_plain_json():
    assert json.loads(json.dumps(TOY.record()))["words"] == list(TOY.words)


def upload(app, content):
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    app.file_uploader(key="toy file").set_value(("toy.json", raw, "application/json")).run()
    assert not app.exception, app.exception


def test_an_exported_toy_is_read_back_and_stays_from_step_to_step(at_step):
    app = at_step(6)
    E = [[1.0, 2.0, 3.0], [0.5, 0.25, -1.0], [0.0, 0.0, 0.125], [4.0, -4.0, 2.0]]
    upload(app, {"words": list(TOY.words), "E": E, "h_L": [1.0, 0.0, -1.0]})
    assert "The tables hold the numbers of the file." in text_of(app)
    assert f"E = np.array({E})" in "".join(code.value for code in app.code)
    logits = table_with(app, "logit")["logit"]
    assert sorted(logits) == sorted([-2.0, 1.5, -0.125, 2.0])
    press(app, "Next")
    assert f"E = np.array({E})" in "".join(code.value for code in app.code)


def test_a_file_that_is_no_toy_is_refused_and_the_toy_stays(at_step):
    app = at_step(6)
    before = [code.value for code in app.code]
    for content, said in (
        (b"no json", "The file holds no toy"),
        ({"E": [[1, 2, 3]], "h_L": [1, 2, 3]}, "another shape"),
        (b'{"E": [[NaN,0,0],[0,0,0],[0,0,0],[0,0,0]], "h_L": [0,0,0]}', "cannot be used"),
        ({"words": ["<b>x</b>", "*a*", "$y$", "ran"], "E": [], "h_L": []}, "about other words"),
    ):
        upload(app, content)
        [error] = app.error
        assert said in error.value.replace("\\", "")
        assert [code.value for code in app.code] == before
    assert "<b>" not in error.value.replace("\\<", "") and "\\*a\\*" in error.value
