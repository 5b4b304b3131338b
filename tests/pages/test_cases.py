"""Troubles with the app itself; each number is that of its case."""

import gc
import json
import time
import urllib.request
import weakref

import pytest

from tests.pages.conftest import open_model, refused_opening, text_of
from tests.server import start_server
from tests.tiny_gguf import write_gguf
from tiedviz.ui.caches import model_pool


@pytest.mark.case(16)
def test_case_16_reruns_neither_load_nor_compute_again(visit, tiny_folder, monkeypatch):
    from tiedviz.models import loading

    loads = []
    load = loading.load
    monkeypatch.setattr(
        loading, "load", lambda *args, **more: loads.append(args) or load(*args, **more)
    )
    app = visit("next_token", model=str(tiny_folder(name="rerun")), prompt="the cat sat")
    app = open_model(app, "rerun")
    [source] = model_pool().names
    passes = []
    counting = model_pool().get(source).model.register_forward_pre_hook(lambda *_: passes.append(1))
    for value in (0.5, 2.0):
        app.get_by_key("temperature").set_value(value).run()
    assert passes == []  # a temperature changes no state
    app.text_input(key="prompt").set_value("the dog ran").run()
    changed = len(passes)
    app.run()
    app.text_input(key="prompt").set_value("the cat sat").run()
    counting.remove()
    assert len(loads) == 1 and changed == len(passes) == 1


@pytest.mark.case(17)
def test_case_17_of_four_models_in_turn_only_what_fits_stays_alive(visit, tiny_folder, monkeypatch):
    monkeypatch.setenv("TIEDVIZ_MODEL_MEMORY", "100000")  # two of some 40 kB each
    alive, names = [], []
    for number in range(4):
        folder = str(tiny_folder(name=f"turn{number}", seed=number))
        open_model(visit("home", model=folder), f"turn{number}")
        loaded = model_pool().get(folder)
        assert 2 * loaded.nbytes < model_pool().budget < 3 * loaded.nbytes
        names.append(folder)
        alive.append(weakref.ref(loaded.model))
        del loaded
        assert model_pool().names == names[-2:]
    for _ in range(50):  # the thread that opened the last may still be on its way out
        gc.collect()
        if sum(model() is not None for model in alive) <= 2:
            break
        time.sleep(0.1)
    assert [model() is not None for model in alive] == [False, False, True, True]


@pytest.mark.case(38)
@pytest.mark.parametrize("page", ["next_token", "layers", "gradients"])
def test_case_38_no_page_answers_with_a_head_that_is_random(visit, tiny_folder, page):
    folder = tiny_folder(name="headless")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": False}))
    app = visit(page, model=str(folder), prompt="the cat sat")
    assert "lm_head.weight" in refused_opening(app, "headless").why
    assert "do not fit its config.json" in text_of(app.run())
    assert not app.dataframe and not app.get("vega_lite_chart")


@pytest.mark.case(41)
def test_case_41_what_a_gguf_takes_in_float32_is_said_before_it_is_loaded(
    visit, tmp_path, tiny_tokenizer, empty_cache
):
    from tiedviz.files.facts import read_facts
    from tiedviz.models.sources import find_source
    from tiedviz.words.numbers import megabytes

    file = tmp_path / "small.gguf"
    write_gguf(file, tiny_tokenizer)
    needed = read_facts(file).float32_bytes
    assert needed == 4 * read_facts(file).parameters
    assert find_source(str(file)).cost().memory == needed
    app = visit("is_it_tied", model=str(file))
    assert model_pool().names == [] and not empty_cache.exists()
    assert f"{megabytes(needed)} memory" in text_of(app)
    assert any(box.value.startswith("**Tied") for box in app.success)  # from its tensor table


@pytest.mark.case(53)
def test_case_53_why_another_library_prints_other_numbers_stands_in_the_glossary(visit):
    said = text_of(visit("home"))
    assert "fold_ln, center_unembed" in said and "TransformerLens" in said


@pytest.mark.case(72)
def test_case_72_two_models_through_one_cache_give_two_answers(tied_model, untied_model):
    from tiedviz.models.prompt import encode
    from tiedviz.ui.caches import lens, scored_state

    one, other = (
        scored_state(model, encode(model, "the cat"), 1) for model in (tied_model, untied_model)
    )
    assert one.logits.tolist() != other.logits.tolist()
    assert scored_state(tied_model, encode(tied_model, "the cat"), 1) is one
    seen = [lens(m, encode(m, "the cat"), (0, 1), ()) for m in (tied_model, untied_model)]
    assert seen[0] is not seen[1]


@pytest.mark.case(73)
def test_case_73_the_server_starts_and_serves_without_a_line_of_traceback(tmp_path):
    log = tmp_path / "log"
    with log.open("wb") as out:
        server = start_server(log=out)
        page = urllib.request.urlopen(f"{server.base}/is_it_tied", timeout=10)
        server.stop()
    assert page.status == 200
    said = log.read_text()
    assert "Traceback" not in said and "Examining the path" not in said
