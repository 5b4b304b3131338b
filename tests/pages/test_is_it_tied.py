import json
import re
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file
from transformers.models.llama import modeling_llama

from tests.hub.conftest import hub
from tests.pages.conftest import open_model, press, refused_opening, text_of
from tiedviz.ui.caches import hub_answers, model_pool

__all__ = ["hub"]  # a fixture


@pytest.fixture
def edited(tiny_folder):
    """A saved tiny model whose files are then changed by hand."""

    def build(*, tied=True, flag=None, head=None):
        folder = tiny_folder(tied=tied, name="checked")
        if flag is not None:
            config = json.loads((folder / "config.json").read_text())
            config["tie_word_embeddings"] = flag
            (folder / "config.json").write_text(json.dumps(config))
        if head is not None:
            path = folder / "model.safetensors"
            tensors = load_file(path)
            tensors["lm_head.weight"] = head(tensors["model.embed_tokens.weight"].clone())
            save_file(tensors, path, metadata={"format": "pt"})
        return folder

    return build


def banner_of(app):
    """The verdict at the head of the page."""
    boxes = [*app.success, *app.warning, *app.error, *app.info]
    said = [box.value.replace("\\", "") for box in boxes]
    [banner] = [text for text in said if re.match(r"\*\*[A-Z][a-z ]+\.\*\*", text)]
    return banner


@pytest.mark.parametrize(
    ("how", "word", "says"),
    [
        ({}, "Tied", "One table does both jobs"),
        ({"tied": False}, "Untied", "Two different matrices, as declared"),
        ({"head": lambda e: e}, "Twin", "The file stores the same matrix twice"),
        ({"head": lambda e: e + 1}, "Contradiction", "300 of 300 rows differ"),
        ({"flag": False}, "Broken", "no output matrix is stored"),
    ],
    ids=["tied", "untied", "twin", "contradiction", "broken"],
)
def test_the_files_alone_give_a_verdict_at_once(visit, edited, how, word, says):
    app = visit("is_it_tied", model=str(edited(**how)))
    assert app.title[0].value == "Is it tied?"
    banner = banner_of(app)
    assert banner.startswith(f"**{word}.**")
    assert says in banner
    assert "not heard" in text_of(app)
    assert f"by its files: {word.lower()}" in text_of(app)  # the sidebar agrees, at once


def test_the_four_figures_come_from_the_header(visit, edited):
    app = visit("is_it_tied", model=str(edited()))
    shown = {metric.label: metric.value for metric in app.metric}
    # 300 rows of 16, and two blocks of 16·16·4 + 16·32·3 + 2·16, and the last norm
    assert shown["parameters"] == "10.0k"
    assert shown["saved by tying"] == "4.8k"
    assert shown["saved in bf16"] == "9.6 kB"  # to the digit, as in the summary


def test_an_open_model_is_heard_twice_more(visit, edited):
    folder = edited()
    app = visit("is_it_tied", model=str(folder), tab="Evidence and other loaders")
    app = open_model(app, "checked")
    said = text_of(app)
    assert "not heard" not in said
    assert "one Parameter, at one place in memory" in said
    assert "h_L @ E.T; max |Δ|" in said
    [lines] = [code.value for code in app.code if "_tied_weights_keys" in code.value]
    assert "LlamaForCausalLM._tied_weights_keys = {'lm_head.weight'" in lines
    found = re.search(r"# transformers/models/llama/modeling_llama.py, line (\d+)$", lines)
    source = Path(modeling_llama.__file__).read_text().splitlines()
    assert source[int(found[1]) - 1].startswith("class LlamaForCausalLM(")


@pytest.mark.case(38)
def test_a_checkpoint_without_its_head_offers_a_repair_and_no_answer(visit, edited):
    """For case 38."""
    folder = edited(flag=False)
    app = visit("is_it_tied", model=str(folder))
    assert any("['tie_word_embeddings'] = True" in code.value for code in app.code)
    app = visit("next_token", model=str(folder), prompt="the cat")
    opening = refused_opening(app, "checked")
    assert "lm_head.weight" in opening.why
    assert "do not fit its config.json" in text_of(app.run())
    assert not app.dataframe


@pytest.mark.parametrize(
    "page", ["next_token", "layers", "token_map", "gradients", "compare", "is_it_tied"]
)
def test_a_model_with_missing_weights_gets_the_reason_and_no_chart(visit, edited, page):
    name = "model.layers.1.mlp.up_proj.weight"
    folder = edited()
    file = folder / "model.safetensors"
    tensors = load_file(file)
    del tensors[name]
    save_file(tensors, file, {"format": "pt"})
    app = visit("is_it_tied", model=str(folder))
    assert banner_of(app).startswith("**Tied.**")  # headers do not know what a class is made of
    refused_opening(app, "checked")
    app = visit(page, model=str(folder))
    assert name in text_of(app)
    if page != "compare":  # which shows what the headers count, as before an opening
        assert not app.get("vega_lite_chart")
    if page == "is_it_tied":
        assert banner_of(app).startswith("**Broken.** The files do not fit config.json")
        assert name in banner_of(app)


def test_one_changed_row_is_shown_to_move_both_ends(visit, edited):
    app = open_model(visit("is_it_tied", model=str(edited()), tab="Prove it"), "checked")
    app.text_input(key="prove token").set_value("id:200").run()
    [button] = [button for button in app.button if button.label.startswith("Change its row")]
    button.click().run()
    moved = app.dataframe[0].value
    assert moved["input vector moved by"].item() > 0
    assert moved["logit moved by"].item() != 0
    assert any("both ends moved" in box.value for box in app.success)


def test_breaking_a_model_changes_the_verdict(visit, edited):
    app = visit("is_it_tied", model=str(edited()), tab="Break one")
    words = {}
    for how in ("whole", "flag", "resize", "by hand", "twice", "merge"):
        app.get_by_key("break").set_value(how).run()
        boxes = [*app.success, *app.warning, *app.error, *app.info]
        shown = sorted(box.value.split(".")[0].strip("*") for box in boxes)
        shown.remove("Tied")  # the page's own banner
        [words[how]] = shown
    assert words == {
        "whole": "Tied",
        "flag": "Broken",
        "resize": "Tied",
        "by hand": "Broken",
        "twice": "Twin",
        "merge": "Contradiction",
    }


def test_two_heads_give_two_answers_side_by_side(visit, edited):
    app = open_model(
        visit("is_it_tied", model=str(edited(tied=False)), tab="Try both heads"), "checked"
    )
    through_w, through_e = (frame.value["id"].tolist() for frame in app.dataframe)
    assert through_w != through_e


def test_how_alike_two_matrices_are_is_counted_on_demand(visit, edited):
    import torch

    folder = edited(tied=False)
    app = open_model(visit("is_it_tied", model=str(folder)), "checked")
    press(app, "Compare E and W row by row")
    tensors = load_file(folder / "model.safetensors")
    both = tensors["model.embed_tokens.weight"], tensors["lm_head.weight"]
    row = torch.nn.functional.cosine_similarity(*both).mean()
    u, _, v = torch.linalg.svd(both[0].T @ both[1])
    turned = torch.nn.functional.cosine_similarity(both[0] @ u @ v, both[1]).mean()
    shown = {metric.label: metric.value for metric in app.metric}
    assert float(shown["mean row cosine"]) == pytest.approx(float(row), abs=6e-4)
    assert float(shown["cosine after rotation"]) == pytest.approx(float(turned), abs=0.02)
    assert " % ± " in shown["neighbours shared"]
    assert not any(button.label.startswith("Compare E and W") for button in app.button)


def test_rows_that_moved_since_the_base_are_counted_and_named(visit, edited):
    base, folder = edited(), edited()
    path = folder / "model.safetensors"
    tensors = load_file(path)
    app = open_model(visit("is_it_tied", model=str(folder), tab="Against the base"), "checked")
    app.get_by_key("base").set_value(str(base)).run()
    app = press(app, "Open checked")
    opening = model_pool().opening(str(base))
    assert opening is None or opening.wait(60)
    app.run()
    assert any("a trained head may have been lost" in box.value for box in app.warning)
    tensors["model.embed_tokens.weight"][[7, 9]] += 1
    save_file(tensors, path, metadata={"format": "pt"})
    model_pool().forget(str(folder))
    app = open_model(app.run(), "checked")
    shown = {metric.label: metric.value for metric in app.metric}
    assert (shown["rows changed"], shown["rows unchanged"]) == ("2", "298")
    assert sorted(app.dataframe[0].value["row"].tolist()) == [7, 9]
    assert not any("may have been lost" in box.value for box in app.warning)


@pytest.mark.parametrize("tied", [True, False])
def test_the_exported_python_says_what_the_page_says(visit, edited, capsys, tied):
    app = open_model(visit("is_it_tied", model=str(edited(tied=tied))), "checked")
    [code] = [code.value for code in app.code if "get_output_embeddings" in code.value]
    exec(compile(code, "exported", "exec"), {})
    said = capsys.readouterr().out.splitlines()
    words = ("one Parameter", "one place in memory", "same numbers")
    assert said == [f"{each}: {tied}" for each in words]


def test_all_four_are_heard_by_one_button(visit, edited):
    folder = str(edited())
    app = press(visit("is_it_tied", model=folder), "Hear all four")
    opening = model_pool().opening(folder)
    assert opening is None or opening.wait(60)
    app.run()
    assert "not heard" not in text_of(app)
    assert not [button for button in app.button if button.label == "Hear all four"]


def everything_in(loaded):
    """Each number of a model, where it lies, and whether it may be trained: to the last bit."""
    model = loaded.model
    named = [*model.named_parameters(remove_duplicate=False), *model.named_buffers()]
    return {
        name: (tensor.detach().numpy().tobytes(), tensor.data_ptr(), tensor.requires_grad)
        for name, tensor in named
    }


def act(app, tab, edited):
    """What can be done in one tab."""
    if tab == "Prove it":
        app.text_input(key="prove token").set_value("id:200").run()
        press(app, "Change its row in a copy and run again")
    elif tab == "Break one":
        for how in ("flag", "resize", "by hand", "twice", "merge"):
            app.get_by_key("break").set_value(how).run()
    elif tab == "Against the base":
        base = str(edited())
        app.get_by_key("base").set_value(base).run()
        press(app, "Open checked")
        assert (opening := model_pool().opening(base)) is None or opening.wait(60)
        app.run()
        assert any(metric.label == "rows changed" for metric in app.metric)
    elif tab == "Many":
        press(app, "Hear their files")
    elif tab == "Verdict" and any(b.label.startswith("Compare E") for b in app.button):
        press(app, "Compare E and W row by row")


@pytest.mark.parametrize("tied", [True, False])
def test_nothing_on_the_page_changes_the_loaded_model(visit, edited, tied):
    folder = str(edited(tied=tied))
    app = open_model(visit("is_it_tied", model=folder), "checked")
    loaded = model_pool().get(folder)
    before = everything_in(loaded)
    files = {path: path.read_bytes() for path in Path(folder).iterdir()}
    for tab in [tab.label for tab in app.tabs]:
        app.session_state["tab"] = tab
        app.run()
        act(app, tab, edited)
        assert not app.exception, tab
        assert model_pool().get(folder) is loaded
        assert everything_in(loaded) == before, tab
        assert (loaded.scoring_matrix is loaded.embedding) is tied
    assert {path: path.read_bytes() for path in Path(folder).iterdir()} == files


@pytest.mark.case(35)
def test_a_pasted_error_is_explained(visit, edited):
    """For case 35 as it is typed in."""
    app = visit("is_it_tied", model=str(edited()), tab="Paste an error")
    message = (
        "Some tensors share memory, this will lead to duplicate memory on disk: "
        "[{'model.embed_tokens.weight', 'lm_head.weight'}]"
    )
    app.text_area(key="pasted error").set_value(message).run()
    assert any("proof of tying" in box.value for box in app.success)
    assert "lm_head.weight = model.embed_tokens.weight" in [code.value for code in app.code]
    app.text_area(key="pasted error").set_value("CUDA out of memory").run()
    assert any("says nothing about tying" in box.value for box in app.info)


def test_many_models_make_one_table(visit, edited):
    names = [str(edited()), str(edited(tied=False)), "/nowhere/at/all"]
    app = visit("is_it_tied", model=names[0], tab="Many")
    app.get_by_key("many").set_value("\n".join(names)).run()
    [button] = [button for button in app.button if button.label == "Hear their files"]
    button.click().run()
    assert app.dataframe[0].value["verdict"].tolist() == ["tied", "untied", "not heard"]
    assert [b.label for b in app.get("download_button")][-2:] == ["CSV", "JSON, one model a line"]


def test_two_copies_on_the_hub_are_compared_on_demand(visit, edited, hub):
    folder = edited(head=lambda e: e + 1)
    hub.repositories["org/two"] = folder
    hub_answers().about("org/two", None).result(20)
    app = visit("is_it_tied", model="org/two")
    [banner] = [box.value for box in app.info if box.value.startswith("**")]
    assert banner.startswith("**Cannot tell.**")
    [button] = [button for button in app.button if "(fetches 38 kB)" in button.label]
    hub.cut_after = 1000
    button.click().run()
    assert "was cut" in text_of(app)
    [banner] = [box.value for box in app.info if box.value.startswith("**")]
    assert banner.startswith("**Cannot tell.**")
    hub.cut_after = None
    press(app, "Compare the two copies (fetches 38 kB)")
    assert any("Contradiction" in box.value and "300 of 300" in box.value for box in app.error)
    assert not [button for button in app.button if "Compare the two" in button.label]


@pytest.mark.case(42)
def test_rows_added_by_a_resize_are_named(visit, tiny_folder):  # case 42
    from transformers import AutoModelForCausalLM

    from tiedviz.models.building import building

    folder = tiny_folder(tied=True, name="resized")
    with building():
        model = AutoModelForCausalLM.from_pretrained(folder)
        model.resize_token_embeddings(303)
    model.save_pretrained(folder)
    app = open_model(visit("is_it_tied", model=str(folder)), "resized")
    assert any(box.value.startswith("**Tied") for box in app.success)
    [note] = [box.value for box in app.info if "freshly added" in box.value]
    note = note.replace("\\", "")
    assert note.startswith("Rows 300, 301 and 302 look freshly added and untrained")
    app = open_model(visit("is_it_tied", model=str(tiny_folder(name="trained"))), "trained")
    assert not any("freshly added" in box.value for box in app.info)


def test_the_report_can_be_pasted_into_an_issue(visit, edited):
    app = visit("is_it_tied", model=str(edited(head=lambda e: e + 1)))
    [report] = [code.value for code in app.code if code.value.startswith("### ")]
    assert report.startswith("### checked: contradiction\n")
    assert "| stored | two copies |" in report
    assert any("python -m tiedviz audit" in code.value for code in app.code)


def test_the_report_is_copied_or_kept_in_two_forms(visit, edited, capsys):
    """Beside Hear all four; the JSON is what the command line prints."""
    from tiedviz.commands.line import main

    folder = str(edited(head=lambda e: e + 1))
    app = visit("is_it_tied", model=folder)
    buttons = [(button.label, button.key) for button in app.get("download_button")]
    assert ("Markdown", "verdict.md from report") in buttons
    assert ("JSON", "verdict.json from report") in buttons
    app.get_by_key("report form").set_value("JSON").run()
    [shown] = [code.value for code in app.code if code.value.startswith("{")]
    assert main(["audit", folder, "--no-load", "--json"]) == 1
    assert json.loads(shown) == json.loads(capsys.readouterr().out)


def test_the_tabs_are_those_of_the_design_in_its_order(visit, edited):
    app = visit("is_it_tied", model=str(edited()))
    assert [tab.label for tab in app.tabs] == [
        *("Verdict", "Evidence and other loaders", "Against the base", "Prove it", "Break one"),
        *("Try both heads", "Many", "Paste an error"),
    ]


def test_what_it_costs_stands_with_the_verdict(visit, edited):
    app = visit("is_it_tied", model=str(edited(head=lambda e: e)))
    table = app.dataframe[0].value.set_index("part")
    assert table.loc["E", "parameters"] == "4,800"
    assert table.loc["a W of its own would add", "float32"] == "19.2 kB"
    assert "A second copy takes 19.2 kB of the file for nothing" in text_of(app)
    assert "scoring one position takes 9,600 operations" in text_of(app)
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["wasted in the file"] == "19.2 kB"


@pytest.mark.parametrize("opened", [False, True])
def test_the_evidence_is_shown_whole(visit, edited, opened):
    app = visit(
        "is_it_tied",
        model=str(edited(head=lambda e: e + 1)),
        tab="Evidence and other loaders",
    )
    app = open_model(app, "checked") if opened else app
    flags, tables, compared = (frame.value for frame in app.dataframe[:3])
    assert flags.to_dict("records") == [{"path": "tie_word_embeddings", "value": "true"}]
    assert tables["role"].tolist() == ["E", "W"]
    assert tables["shape"].tolist() == ["300×16", "300×16"]
    assert compared["differing rows"].tolist() == ["300"]
    assert "vLLM may drop the stored head" in text_of(app)
    if opened:
        answers = app.dataframe[3].value.set_index("asked")["answer"]
        assert answers["one Parameter"] == "no" and answers["same numbers"] == "no"
        assert "h_L @ W.T" in [code.value for code in app.code]
    else:
        assert text_of(app).count("Not heard: open the model") == 2


def test_calls_are_code_and_names_stay_text():
    from tiedviz.ui.is_it_tied.evidence import prose

    assert prose("never call `tie_weights()`.").replace("\\", "") == "never call `tie_weights()`."
    assert "`tie_weights()`" in prose("never call `tie_weights()`.")
    assert "\\*" in prose("`*a*`") and "\\`" in prose("`*a*`")
