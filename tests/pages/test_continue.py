"""Continue, on the page Next token."""

import json

import pytest
import torch

from tests.hub.released import published_like
from tests.pages.conftest import open_model, press, text_of

PROMPT = "the cat sat"


@pytest.fixture(scope="module")
def folder(tiny_folder):
    return tiny_folder(tied=True, name="goes on")


@pytest.fixture
def page(visit, folder):
    return open_model(visit("next_token", model=str(folder), prompt=PROMPT), "goes on")


def table(app):
    [*_, last] = app.dataframe
    return last.value


def generated(folder, most):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    given = AutoTokenizer.from_pretrained(folder)(PROMPT, return_tensors="pt")
    out = model.generate(
        input_ids=given["input_ids"], do_sample=False, max_new_tokens=most, pad_token_id=1
    )
    return out[0, given["input_ids"].shape[1] :].tolist()


def test_nothing_is_written_before_it_is_asked_for(page):
    assert "What the model would write" in text_of(page)
    assert len(page.dataframe) == 1


def test_greedy_writes_what_the_library_writes(page, folder):
    page.number_input(key="continue most").set_value(6).run()
    press(page, "Continue the prompt")
    assert table(page)["id"].tolist() == generated(folder, 6)
    assert "temperature 1" in text_of(page)
    assert not any(button.label == "Stop" for button in page.button)


def test_sampled_shows_both_probabilities_and_the_command_says_how(page):
    page.segmented_control(key="continue how").set_value("sampled").run()
    page.number_input(key="continue temperature").set_value(2.0).run()
    page.number_input(key="continue seed").set_value(7).run()
    press(page, "Continue the prompt")
    first = table(page)
    assert (first["probability"] != first["drawn with"]).any()
    said = " ".join(code.value for code in page.code)
    assert "--continue 12 --temperature 2 --top-p 1 --seed 7" in said
    page.number_input(key="continue seed").set_value(8).run()
    press(page, "Continue the prompt")
    assert table(page)["id"].tolist() != first["id"].tolist()


def test_what_was_written_can_be_put_behind_the_prompt(page):
    page.number_input(key="continue most").set_value(3).run()
    press(page, "Continue the prompt")
    press(page, "Append to the prompt")
    assert page.text_input(key="prompt").value.startswith(PROMPT)
    assert len(page.text_input(key="prompt").value) > len(PROMPT)


def test_a_stopped_run_keeps_what_is_written_and_goes_on_from_there(page, folder):
    """A run that stops half way, as Streamlit stops one: by an exception where it draws."""
    from tiedviz.compute.continuation import GREEDY
    from tiedviz.models.prompt import encode
    from tiedviz.ui.caches import model_pool
    from tiedviz.ui.continuing import continuation_so_far, write_on

    loaded = model_pool().get(str(folder))
    prompt = encode(loaded, "the dog ran")

    class Superseded(Exception):
        pass

    def stop(found):
        if len(found.tokens) == 2:
            raise Superseded

    with pytest.raises(Superseded):
        write_on(loaded, prompt, GREEDY, 5, stop)
    assert len(continuation_so_far(loaded.key, prompt, GREEDY, 5).tokens) == 2
    assert loaded.lock.acquire(blocking=False)
    loaded.lock.release()
    shown = []
    whole = write_on(loaded, prompt, GREEDY, 5, shown.append)
    assert [len(each.tokens) for each in shown] == [3, 4, 5]
    assert whole.ids == shown[-1].ids


def test_a_masked_model_is_told_why_not(visit, tmp_path):
    folder = published_like("bert", tmp_path / "bert")
    app = open_model(visit("next_token", model=str(folder), prompt="the cat <mask>"), "bert")
    assert "fills gaps" in text_of(app)
    assert not any(button.label == "Continue the prompt" for button in app.button)


def test_a_decoder_writes_on_and_the_answer_grows(visit, tmp_path):
    folder = published_like("t5", tmp_path / "t5")
    app = open_model(visit("next_token", model=str(folder), prompt="the cat sat"), "t5")
    app.number_input(key="continue most").set_value(3).run()
    press(app, "Continue the prompt")
    assert len(table(app)) >= 1
    if any(b.label == "Append to the answer" and not b.disabled for b in app.button):
        press(app, "Append to the answer")
        assert app.text_input(key="decoder").value


def test_the_command_writes_the_same(page, folder, capfdbinary):
    from tiedviz.commands.line import main

    page.number_input(key="continue most").set_value(4).run()
    press(page, "Continue the prompt")
    capfdbinary.readouterr()
    status = main(["inspect", str(folder), "--prompt", PROMPT, "--continue", "4", "--json"])
    out = json.loads(capfdbinary.readouterr().out)
    assert status == 0
    shown = table(page)
    tokens = out["continuation"]["tokens"]
    assert [token["id"] for token in tokens] == shown["id"].tolist()
    assert [token["probability"] for token in tokens] == pytest.approx(
        shown["probability"].tolist(), abs=1e-6
    )
    wrong = ["inspect", str(folder), "--prompt", PROMPT, "--continue", "4", "--top-p", "0"]
    assert main(wrong) == 2
