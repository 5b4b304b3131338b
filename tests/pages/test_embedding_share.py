"""The page Embedding share as a visitor sees it; nothing is built and nothing opened for it."""

import json
import sys
import time

import pytest

from tests.pages.conftest import chart_data, text_of
from tiedviz.commands.line import main
from tiedviz.compute.counts import configs
from tiedviz.compute.counts.catalogue_frame import share_frame
from tiedviz.ui import embedding_share
from tiedviz.ui.caches import model_pool
from tiedviz.words.catalogue import catalogue, find_row

PAGE = "embedding_share"


@pytest.fixture
def page(visit, empty_cache):
    def open_tab(view: str | None = None, **parameters: str):
        chosen = {} if view is None else {"view": view}
        app = visit(PAGE, **chosen, **parameters)
        assert app.title[0].value == "Embedding share"
        return app

    return open_tab


def widget(app, kind, label):
    return next(each for each in getattr(app, kind) if each.label == label)


def test_the_first_paint_shows_all_models_and_the_reading(page):
    app = page()
    said = text_of(app)
    assert "233 of 233 models shown" in said
    assert "Qwen2.5 stops tying between 3B and 7B" in said
    assert "rises from 10.1 % to 14.3 %" in said
    assert "The share falls with size" in said
    _, spec = chart_data(app)
    assert len(spec["layer"]) == 5  # lines, ring, marks, names, the ring's name
    assert spec["layer"][2]["encoding"]["x"]["scale"]["type"] == "log"


def test_a_rerun_of_the_page_takes_less_than_a_second_of_work(page):
    app = page()
    started = time.process_time()
    app.run()
    assert time.process_time() - started < 1


def test_the_chosen_model_is_ringed_with_its_numbers(page):
    said = text_of(page(model="gemma-3-270m"))
    assert "Ringed: Gemma 3 270M, 268,098,176 parameters, 62.6 %" in said
    assert "published numbers, not yet read from a file" in said


def test_a_catalogued_hub_model_is_ringed_without_asking_the_hub(page):
    said = text_of(page(model="EleutherAI/pythia-160m"))
    assert "Ringed: pythia-160m, 162,322,944 parameters, 47.6 %" in said


def test_a_model_that_is_not_there_leaves_the_chart_standing(page):
    app = page(model="/nowhere/model")
    assert "No ring" in text_of(app)
    assert app.get("vega_lite_chart")


def test_filters_narrow_the_chart_and_the_reading(page):
    app = page()
    widget(app, "multiselect", "Family").set_value(["Pythia"]).run()
    said = text_of(app)
    assert "10 of 233 models shown" in said and "stops tying" not in said
    widget(app, "text_input", "Name contains").set_value("160M").run()
    assert "1 of 233 models shown" in text_of(app)
    widget(app, "text_input", "Name contains").set_value("no such name (").run()
    assert "0 of 233 models shown" in text_of(app)
    assert "No model passes these filters" in app.info[0].value
    widget(app, "button", "Show all again").click().run()
    assert "233 of 233 models shown" in text_of(app)


def test_tied_year_and_v_filter_as_well(page):
    app = page()
    widget(app, "slider", "Year").set_value((2019, 2019)).run()
    assert "22 of 233 models shown" in text_of(app)
    app.session_state["share filter tied"] = "untied"
    app.session_state["share filter year"] = (2018, 2026)
    app.run()
    untied = int(text_of(app).partition(" of 233")[0].split()[-1])
    app.session_state["share filter tied"] = "tied"
    app.run()
    tied = int(text_of(app).partition(" of 233")[0].split()[-1])
    assert tied + untied == 233 and tied == 138
    app.session_state["share filter V"] = (250_000, 300_000)
    app.run()
    assert int(text_of(app).partition(" of 233")[0].split()[-1]) < 40


def test_a_clicked_mark_tells_its_numbers(page):
    app = page()
    app.session_state["share chart"] = {"selection": {"pick": [{"repo_id": "EleutherAI/gpt-j-6b"}]}}
    app.run()
    said = text_of(app)
    assert "EleutherAI/gpt-j-6b, untied: 6,050,882,784 parameters" in said.replace("*", "")
    assert "tied it would hold 5,844,444,384" in said
    assert "2,498,560" in said  # why the model card says more


def test_where_parameters_go_adds_up_on_the_screen(page):
    app = page("Where parameters go")
    table = app.dataframe[-1].value
    assert list(table.index)[-1] == "all parameters"
    assert (table.iloc[:-1].sum() == table.iloc[-1]).all()
    assert table.loc["all parameters", "gpt2"] == 124_439_808
    assert table.loc["positions and types", "gpt2"] == 786_432
    assert table.loc["separate head W", "Qwen2.5-7B"] == 544_997_376
    assert "gemma-3-270m 62.6 %" in text_of(app)


def test_compared_models_come_out_of_the_link(page):
    app = page("Where parameters go", share_models="google/flan-t5-base")
    assert list(app.dataframe[-1].value.columns) == ["flan-t5-base"]


def test_the_calculator(page):
    app = page("Calculator")
    said = text_of(app)
    assert "50,000 × 768 = **38,400,000** parameters, **154 MB**" in said
    assert "**5.4** more layers" in said and "12·d²" in said
    assert "31.1 % | 47.5 %" in said and "a large model gains proportionally less" in said
    widget(app, "number_input", "V, rows of the table").set_value(32_000)
    widget(app, "number_input", "d, numbers in a row").set_value(1_024).run()
    assert "**32,768,000**" in text_of(app)
    app.session_state["calculator example"] = "50,000 × 4,096"
    widget(app, "number_input", "V, rows of the table").set_value(50_000)
    widget(app, "number_input", "d, numbers in a row").set_value(4_096).run()
    assert "**204,800,000**" in text_of(app)


def test_a_known_name_is_counted_without_building(page):
    app = page("Any model")
    widget(app, "text_input", NAME).set_value("openai-community/gpt2").run()
    said = text_of(app)
    assert "openai-community/gpt2: 124,439,808 parameters, 31.0 % in one table" in headline(app)
    assert "163,037,184" in said
    assert "| unique parameters | 124,439,808 |" in said
    assert "| numbers in the file | 137,022,720 |" in said
    assert "| used per forward pass | 163,037,184 |" in said
    assert "| 2·V·d operations | 77,194,752 |" in said


def test_a_pasted_configuration_is_counted(page):
    config = {
        **{"model_type": "llama", "vocab_size": 50, "hidden_size": 16, "intermediate_size": 32},
        **{"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2},
    }
    app = page("Any model")
    app.session_state["count way"] = "Paste"
    app.run()
    app.text_area[0].set_value(json.dumps(config | {"tie_word_embeddings": True})).run()
    said = text_of(app)
    assert "6,000 parameters, 13.3 % in one table" in headline(app)
    assert "| parameters | 6,000 | 6,800 |" in said
    assert "| share | 13.3 % | 23.5 % (E 11.8 % + W 11.8 %) |" in said
    assert "| memory in bfloat16 | 12 kB | 14 kB |" in said
    app.text_area[0].set_value(json.dumps(config)).run()
    assert "6,800 parameters, 23.5 % in two tables" in headline(app)
    assert "torch" in sys.modules


def test_an_uploaded_configuration_is_counted(page):
    app = page("Any model")
    app.session_state["count way"] = "Upload"
    app.run()
    raw = json.dumps({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}).encode()
    app.file_uploader[0].set_value(("config.json", raw, "application/json")).run()
    assert "GPT2LMHeadModel: 124,439,808 parameters" in headline(app)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "pasted config.json"),
        ('{"model_type": "no_such"}', "“no_such” is not in transformers"),
        ('{"model_type": "llama", "num_hidden_layers": 1000000}', "num_hidden_layers is 1,000,000"),
        ('{"model_type": "x", "auto_map": {"AutoModel": "m.py"}}', "never runs code"),
        ('{"model_type": "llama", "hidden_size": 7, "num_attention_heads": "<b>*"}', "says:"),
    ],
)
def test_what_cannot_be_counted_is_said_in_words_and_stays_typed(page, text, said):
    app = page("Any model")
    app.session_state["count way"] = "Paste"
    app.run()
    app.text_area[0].set_value(text).run()
    assert not app.exception
    assert said in text_of(app)
    assert app.text_area[0].value == text


def test_a_rerun_reads_a_named_configuration_no_second_time(page, monkeypatch, tiny_folder):
    read = []
    find = configs._find
    monkeypatch.setattr(configs, "_find", lambda name: read.append(name) or find(name))
    app = page("Any model")
    widget(app, "text_input", NAME).set_value(str(tiny_folder())).run()
    app.run()
    assert "parameters" in headline(app)
    assert len(read) == 1


def test_an_open_untied_model_is_drawn_as_two_tables(page, tiny_folder, monkeypatch):
    folder = str(tiny_folder(tied=False, name="two"))
    app = page(model=folder)
    drawn = []
    monkeypatch.setattr(embedding_share, "share_card", lambda *_, **__: drawn.append(_) or b"")
    monkeypatch.setattr(embedding_share, "_picture", embedding_share.card_of)
    model_pool().open(folder).wait(60)
    app.run()
    assert "counted in memory" in text_of(app)
    loaded = model_pool().get(folder)
    [(headline, _, _, tables)] = drawn
    assert headline.endswith("of two is two tables.")
    assert tables == pytest.approx([loaded.embedding.numel() / loaded.parameters] * 2)


def test_the_json_holds_what_the_command_prints(capsys):
    assert main(["share", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["models"]
    gemma = share_frame(tuple(row for row in catalogue() if row.family == "Gemma 3"))
    ours = json.loads(json.dumps(embedding_share._record(gemma)))["models"]
    assert len(ours) == 5
    assert ours == [row for row in printed if row["family"] == "Gemma 3"]


@pytest.mark.parametrize("name", ["EleutherAI/pythia-160m", "google/gemma-3-270m", "t5-small"])
def test_the_exported_python_counts_the_chosen_model(name, monkeypatch, capsys):
    from transformers import AutoConfig

    def published(repo_id):
        config = dict(find_row(repo_id).config)
        return AutoConfig.for_model(config.pop("model_type"), **config)

    monkeypatch.setattr(AutoConfig, "from_pretrained", published)
    row = find_row(name)
    exec(compile(embedding_share.python_code(row), "exported", "exec"), {})
    total, part = capsys.readouterr().out.split()
    counted = row if row.kind == "causal" else find_row("openai-community/gpt2")
    assert int(total) == counted.total
    assert float(part) == pytest.approx(counted.parts.share)


def test_a_path_that_is_not_there(page):
    app = page("Any model")
    widget(app, "text_input", NAME).set_value("/nowhere/at/all").run()
    assert "Nothing lies at" in text_of(app)


def test_the_table_holds_what_the_filters_let_through(page):
    app = page("Table")
    shown = app.dataframe[-1].value
    assert len(shown) == 233
    gemma = shown.set_index("repo_id").loc["google/gemma-3-270m"]
    assert round(gemma["percent"], 1) == 62.6
    widget(app, "multiselect", "Family").set_value(["Gemma 3"]).run()
    assert len(app.dataframe[-1].value) == 5


NAME = "Hub id, shelf name, model folder or path of a config.json"


def headline(app) -> str:
    return app.subheader[-1].value.replace("\\", "")
