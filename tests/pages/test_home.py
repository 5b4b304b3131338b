import pytest

from tests.pages.conftest import text_of


def test_home_shows_the_published_loop_without_opening_anything(visit, empty_cache):
    app = visit()
    assert app.title[0].value.startswith("One table")
    said = text_of(app)
    assert "49,152 × 576 = 28,311,552 numbers" in said
    assert "21.05 %" in said
    assert "Published numbers, not yet read from a file." in said


def test_the_share_of_an_untied_model_is_that_of_both_tables(visit, empty_cache, tiny_folder):
    app = visit(model=str(tiny_folder(tied=False, name="two")))
    assert "E and W together are 64.86 % of the model" in text_of(app)
    assert any("E and W in all parameters" in html.proto.body for html in app.sidebar.get("html"))


def test_the_toy_gives_the_numbers_one_gets_by_hand(visit, empty_cache):
    app = visit()
    scores = app.dataframe[-1].value
    assert scores["logit"].round(2).tolist() == [0.43, 0.32, -0.13, 0.54]
    assert scores["probability"].round(4).tolist() == [0.2791, 0.2500, 0.1594, 0.3115]
    assert "**ran**" in text_of(app)


def test_an_edited_number_changes_the_next_word(visit, empty_cache):
    app = visit()
    app.session_state["toy h"] = {
        "edited_rows": {0: {"x₃": 0.9}},
        "added_rows": [],
        "deleted_rows": [],
    }
    app.run()
    assert "**the**" in text_of(app)  # 0.5·0.1 + 0.2·0.3 + 0.9·0.8 = 0.83, now the largest


def test_a_path_that_is_not_there_is_said_in_words(visit, empty_cache):
    app = visit(model="/nowhere/model")
    assert "Nothing lies at “/nowhere/model”" in text_of(app)
    assert "**ran**" in text_of(app)  # the rest of the page still stands


def test_a_checkpoint_is_checked_on_the_spot(visit, empty_cache, tiny_folder):
    app = visit()
    app.text_input(key="check").set_value(str(tiny_folder(tied=True))).run()
    assert any(box.value.startswith("**Tied.**") for box in app.success)
    app.text_input(key="check").set_value("/nowhere/at/all").run()
    assert any("Nothing lies at" in box.value.replace("\\", "") for box in app.error)
    assert app.text_input(key="check").value == "/nowhere/at/all"


@pytest.mark.parametrize("linked", ["gemma-3-270m", "Gemma 3 270M"])
def test_a_link_may_name_a_shelf_model_by_its_name_or_by_its_title(visit, empty_cache, linked):
    app = visit(model=linked)
    assert app.selectbox(key="model").value == "gemma-3-270m"
    assert "262,144 × 640" in text_of(app)
    assert not app.error


def test_share_and_export_stands_here_too(visit, empty_cache, capsys):
    import ast

    app = visit(model="gemma-3-270m")
    said = [code.value for code in app.code]
    assert any(value.endswith("/?model=gemma-3-270m") for value in said)
    assert "python -m tiedviz share gemma-3-270m" in said
    [python] = [value for value in said if "import numpy" in value]
    exec(compile(python, "exported", "exec"), {})
    printed = ast.literal_eval(capsys.readouterr().out)
    shown = app.dataframe[-1].value
    assert [logit for _, logit, _ in printed] == pytest.approx(shown["logit"].tolist())
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["CSV", "JSON"]
