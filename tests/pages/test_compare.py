"""Compare: models opened one after another, answers that stay when their models go."""

import json

import pytest

from tests.hub.conftest import hub
from tests.hub.released import published_like, released_gpt2
from tests.pages.conftest import chart_data, press, text_of

__all__ = ["hub"]  # a fixture

PROMPT = "the cat sat"


@pytest.fixture(scope="module")
def tied(tiny_folder):
    return tiny_folder(tied=True, name="first")


@pytest.fixture(scope="module")
def untied(tiny_folder):
    return tiny_folder(tied=False, name="second", seed=3, hidden_size=32)


def start(visit, one, *others, prompt=PROMPT):
    return visit("compare", model=str(one), prompt=prompt, **{"with": [str(o) for o in others]})


def open_all(app):
    """Press the button, and draw the page until nothing is on its way any more."""
    from tiedviz.ui.caches import model_pool

    [*_, button] = [b for b in app.button if b.key == "open to compare"]
    button.click().run()
    for _ in range(8):
        assert not app.exception, app.exception
        under_way = [o for o in model_pool()._openings.values() if not o.finished]
        if not under_way and not any(b.label == "Cancel" for b in app.button):
            return app
        for opening in under_way:
            assert opening.wait(120)
        app.run()
    raise AssertionError("it never ended")


def by_hand(folder, prompt=PROMPT):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = AutoTokenizer.from_pretrained(folder)(prompt, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        return torch.softmax(model(ids).logits[0, -1].double(), 0).numpy()


def test_before_anyone_acts_there_are_facts_and_one_button(visit, tied, untied):
    from tiedviz.ui.caches import model_pool

    app = start(visit, tied, untied)
    assert app.title[0].value == "Compare"
    said = text_of(app)
    assert "One table" in said and "Two tables" in said
    assert "Not asked yet" in said and "Agreement" not in said
    assert sum(button.label.startswith("Open first and second") for button in app.button) == 1
    assert model_pool().names == []


def test_the_numbers_are_the_librarys_own(visit, tied, untied):
    app = open_all(start(visit, tied, untied))
    assert not app.exception and not app.error
    frame, _ = chart_data(app, 2)
    for letter, folder in (("A", tied), ("B", untied)):
        own = by_hand(folder)
        shown = frame[frame["letter"] == letter].sort_values("probability", ascending=False)
        assert shown["probability"].iloc[0] == pytest.approx(own.max(), abs=1e-6)
    from scipy.spatial.distance import jensenshannon

    p, q = by_hand(tied)[2:], by_hand(untied)[2:]  # rows 0 and 1 are marks
    bits = jensenshannon(p, q, base=2) ** 2
    assert f"{bits:.3f} bits" in text_of(app)
    assert "Tied" in text_of(app) and "Untied" in text_of(app)


def test_it_works_though_the_second_lets_the_first_go(visit, tied, untied, monkeypatch):
    from tiedviz.ui.caches import model_pool

    app = start(visit, tied, untied)
    sizes = [(folder / "model.safetensors").stat().st_size for folder in (tied, untied)]
    monkeypatch.setattr(model_pool(), "budget", max(sizes) + 2000)
    app = open_all(app)
    assert model_pool().names == [str(untied)]
    said = text_of(app)
    assert "Not open any more" in said and "bits" in said
    assert "let go before" not in said  # it wrote its text while it was in
    press(app, "Measure (opens what was let go)")
    for _ in range(6):
        for opening in list(model_pool()._openings.values()):
            opening.wait(60)
        app.run()
    assert "nearest neighbours" in text_of(app)


def test_a_model_that_fails_leaves_the_other_standing(visit, tied, tmp_path):
    app = open_all(start(visit, tied, tmp_path / "nowhere"))
    said = text_of(app)
    assert "Nothing lies at" in said
    assert "What comes next" in [each.value for each in app.subheader]
    assert "nothing to agree with yet" in said


def test_one_that_fails_while_it_is_opened_says_so_in_its_column(visit, tied, tmp_path):
    import shutil

    torn = shutil.copytree(tied, tmp_path / "torn")
    weights = torn / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-500])
    app = open_all(start(visit, tied, torn))
    assert len(app.error) == 1
    said = text_of(app)
    assert "What comes next" in said and "nothing to agree with yet" in said
    assert any(button.label == "Open torn" for button in app.button)  # it may be mended


def test_the_same_model_twice_agrees_entirely(visit, tied):
    app = open_all(start(visit, tied, tied))
    said = text_of(app)
    assert "10 of 10" in said and "0.000 bits" in said
    assert "do not part" in said


def test_four_models_have_six_sentences(visit, tied, untied, tiny_folder):
    others = [untied, tiny_folder(name="third", seed=5), tiny_folder(name="fourth", seed=6)]
    app = open_all(start(visit, tied, *others))
    assert text_of(app).count("Jensen–Shannon divergence **") == 6


def test_a_causal_and_a_masked_model_meet_at_the_mask(visit, tied, tmp_path):
    bert = published_like("bert", tmp_path / "bert")
    app = open_all(start(visit, tied, bert, prompt="the cat [MASK]"))
    said = text_of(app)
    assert "It reads what stands before" in said and "bits" in said
    assert "continues nothing" in said
    app.text_input(key="prompt").set_value("the cat sat").run()
    assert "has none" in text_of(app) and not app.exception


def test_another_prompt_is_answered_at_once_while_both_are_open(visit, tied, untied):
    app = open_all(start(visit, tied, untied))
    app.text_input(key="prompt").set_value("the dog ran").run()
    frame, _ = chart_data(app, 2)
    assert frame["probability"].max() == pytest.approx(
        max(by_hand(tied, "the dog ran").max(), by_hand(untied, "the dog ran").max()), abs=1e-6
    )


def test_geometry_is_measured_on_demand(visit, tied, untied):
    app = open_all(start(visit, tied, untied))
    press(app, "Measure")
    assert "nearest neighbours by cosine" in text_of(app)
    table = list(app.dataframe)[-1].value
    import torch
    from safetensors.torch import load_file

    E = load_file(tied / "model.safetensors")["model.embed_tokens.weight"][2:]
    assert table["‖e‖, mean"].iloc[0] == pytest.approx(float(torch.linalg.norm(E, dim=1).mean()))


def test_the_link_and_the_command_name_all_models(visit, tied, untied, capfdbinary):
    from tiedviz.commands.line import main

    app = open_all(start(visit, tied, untied))
    link = next(code.value for code in app.code if "compare?" in code.value)
    assert "with=" in link and "model=" in link
    assert any("tiedviz compare" in code.value for code in app.code)
    capfdbinary.readouterr()
    assert main(["compare", str(tied), str(untied), "--prompt", PROMPT, "--json"]) == 0
    record = json.loads(capfdbinary.readouterr().out)
    bits = record["agreement"][0]["js_divergence_bits"]
    assert f"{bits:.3f} bits" in text_of(app)


def test_nothing_that_is_typed_gives_a_traceback(visit, tied):
    app = start(visit, tied, "..//..", "no such model", "EleutherAI/pythia-160m")
    assert not app.exception
    assert "names no model" in text_of(app)
    assert "published config, not read from a file" in text_of(app)


def test_an_answer_begun_is_read_by_the_models_that_write_one(visit, tied, tmp_path):
    t5 = published_like("t5", tmp_path / "t5")
    app = start(visit, tied, t5)
    assert not [box for box in app.text_input if box.key == "decoder"]  # nobody knows its kind yet
    app = open_all(app)
    assert "Read by B alone" in text_of(app)
    before, _ = chart_data(app, 2)
    app.text_input(key="decoder").set_value("the dog").run()
    after, _ = chart_data(app, 2)
    import torch
    from transformers import AutoTokenizer, T5ForConditionalGeneration

    tokenizer = AutoTokenizer.from_pretrained(t5)
    ids, dog = (tokenizer(text, return_tensors="pt")["input_ids"] for text in (PROMPT, "the dog"))
    with torch.inference_mode():
        written = torch.cat([torch.tensor([[0]]), dog], 1)
        logits = T5ForConditionalGeneration.from_pretrained(t5)(
            ids, decoder_input_ids=written
        ).logits[0, -1]
    own = torch.softmax(logits.double(), 0)
    of = {letter: frame["probability"].max() for letter, frame in after.groupby("letter")}
    assert of["B"] == pytest.approx(float(own.max()), abs=1e-6)
    assert of["A"] == before[before["letter"] == "A"]["probability"].max()  # not asked anew
    [command] = [code.value for code in app.code if code.value.startswith("python -m tiedviz")]
    assert "--decoder 'the dog'" in command
    assert "decoder=the+dog" in next(code.value for code in app.code if "compare?" in code.value)
    assert f"decoder_input_ids=torch.tensor([{written[0].tolist()}])" in "".join(
        code.value for code in app.code
    )


def test_the_command_reads_an_answer_begun_too(tied, tmp_path, capfdbinary):
    from tiedviz.commands.line import main

    t5 = published_like("t5", tmp_path / "t5")
    told = []
    for more in ([], ["--decoder", "the dog"]):
        assert main(["compare", str(tied), str(t5), "--prompt", PROMPT, "--json", *more]) == 0
        told.append(json.loads(capfdbinary.readouterr().out)["models"])
    assert told[0][0] == told[1][0]
    assert told[0][1]["top"] != told[1][1]["top"]


def test_the_box_shows_titles_and_the_link_keeps_names(visit):
    app = start(visit, "smollm2", "gemma-3-270m", "google-bert/bert-base-uncased")
    box = app.multiselect(key="with")
    assert box.value == ["gemma-3-270m", "google-bert/bert-base-uncased"]
    assert "Gemma 3 270M" in box.options and "gemma-3-270m" not in box.options
    assert app.query_params["with"] == ["gemma-3-270m", "google-bert/bert-base-uncased"]
    box.set_value(["smollm2"]).run()
    assert app.query_params["with"] == "smollm2"
    app.multiselect(key="with").set_value(["gemma-3-270m"]).run()
    assert "with" not in app.query_params  # as everybody begins
    assert app.multiselect(key="with").value == ["gemma-3-270m"]
    app.query_params["with"] = ["SmolLM2 135M Instruct"]  # a link of an earlier version
    app.run()
    assert app.multiselect(key="with").value == ["smollm2"]


def test_two_folders_of_one_name_are_told_apart(visit, tied, tmp_path):
    other = tmp_path / "first"
    other.mkdir()
    app = start(visit, "smollm2", tied, other)
    assert {f"first ({tied})", f"first ({other})"} < set(app.multiselect(key="with").options)


def test_gpt2_and_pythia_the_pair_that_stands_there_are_opened_from_the_hub(visit, hub, tmp_path):
    from transformers import AutoTokenizer

    gpt2, pythia = "openai-community/gpt2", "EleutherAI/pythia-160m"
    hub.repositories |= {
        gpt2: released_gpt2(tmp_path / "gpt2"),
        pythia: published_like("pythia", tmp_path / "pythia"),
    }
    app = visit("compare", model=gpt2, prompt=PROMPT)
    assert app.multiselect(key="with").value == [pythia]
    assert "published config, not read from a file" in text_of(app)
    app = open_all(app)
    said = text_of(app)
    assert not app.error and "Tied" in said and "Untied" in said and "bits" in said
    frame, _ = chart_data(app, 2)
    for letter, repo in (("A", gpt2), ("B", pythia)):
        own = by_hand(hub.repositories[repo])
        own[AutoTokenizer.from_pretrained(hub.repositories[repo]).all_special_ids] = 0  # no texts
        shown = frame[frame["letter"] == letter]
        assert shown["probability"].max() == pytest.approx(own.max(), abs=1e-6)
