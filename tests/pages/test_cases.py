"""Troubles with the app itself; each number is that of its case."""

import subprocess
import sys
import time
import urllib.request

from tests.conftest import ROOT
from tests.pages.conftest import open_model
from tiedviz.ui.caches import residents


def test_case_16_reruns_neither_load_nor_compute_again(visit, tiny_folder, monkeypatch):
    from tiedviz.models import loading

    loads = []
    load = loading.load
    monkeypatch.setattr(
        loading, "load", lambda *args, **more: loads.append(args) or load(*args, **more)
    )
    app = visit("next_token", model=str(tiny_folder(name="rerun")), prompt="the cat sat")
    app = open_model(app, "rerun")
    [source] = residents().names
    passes = []
    counting = residents().get(source).model.register_forward_pre_hook(lambda *_: passes.append(1))
    for value in (0.5, 2.0):
        app.get_by_key("temperature").set_value(value).run()
    assert passes == []  # a temperature changes no state
    app.text_input(key="prompt").set_value("the dog ran").run()
    changed = len(passes)
    app.run()
    app.text_input(key="prompt").set_value("the cat sat").run()
    counting.remove()
    assert len(loads) == 1 and changed == len(passes) == 1


def test_case_72_two_models_through_one_cache_give_two_answers(tied_model, untied_model):
    from tiedviz.models.prompt import encode
    from tiedviz.ui.caches import lens, reading

    one, other = (
        reading(model, encode(model, "the cat"), 1) for model in (tied_model, untied_model)
    )
    assert one.logits.tolist() != other.logits.tolist()
    assert reading(tied_model, encode(tied_model, "the cat"), 1) is one
    seen = [lens(m, encode(m, "the cat"), (0, 1), ()) for m in (tied_model, untied_model)]
    assert seen[0] is not seen[1]


def test_case_73_the_server_starts_and_serves_without_a_line_of_traceback(tmp_path):
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path / "log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
            cwd=ROOT, stdout=out, stderr=out,
        )  # fmt: skip
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1)
                break
            except OSError:
                assert server.poll() is None, log.read_text()
                time.sleep(0.1)
        page = urllib.request.urlopen(f"http://127.0.0.1:{port}/is_it_tied", timeout=10)
        assert page.status == 200
    finally:
        server.terminate()
        server.wait(20)
    said = log.read_text()
    assert "Traceback" not in said and "Examining the path" not in said
