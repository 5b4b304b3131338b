"""Every way the Hub can fail is told apart, in words of its own, within a few seconds."""

import time

import pytest

from tests.hub.standin import FAILURES
from tiedviz.models.loading import load
from tiedviz.words.refusals import hub as words
from tiedviz.words.refusals.opening import OpeningRefusal

SAID = {
    "org/private": "does not show .* to strangers",
    "org/missing": "The Hub has no model",
    "org/gated": "nobody is logged in",
    "org/gated-for-me": "this account is not on its list",
    "org/busy": "turns away requests",
    "org/broken": "the fault is on its side",
    "org/html": "the fault is on its side",
    "org/hangs": "did not answer within a few seconds",
}


@pytest.mark.case(10, 11)
@pytest.mark.parametrize(("repo", "said"), SAID.items())
def test_each_failure_has_its_own_words(hub, repo, said):  # case 10, case 11
    began = time.monotonic()
    with pytest.raises(words.HubRefusal, match=said) as refused:
        load(repo)
    assert repo in str(refused.value)
    # the page waits for it: not a speed, a promise (design: an unreachable Hub is known in 5 s)
    assert time.monotonic() - began < 8


@pytest.mark.case(10)
@pytest.mark.parametrize("repo", ["org/gated", "org/gated-for-me"])
def test_case_10_a_gate_is_called_a_gate_with_its_page_and_a_way_out(hub, repo):
    with pytest.raises(words.HubRefusal) as refused:
        load(repo)
    said = str(refused.value)
    assert "gated" in said and f"{hub.base}/{repo}" in said and "smollm2" in said
    assert ("HF_TOKEN" in said) is (repo == "org/gated")  # who is not on the list has a token


@pytest.mark.case(11)
def test_case_11_a_dead_proxy_is_unreachable(hub, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://hub.invalid")
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    began = time.monotonic()
    with pytest.raises(
        words.HubUnreachable, match="did not answer within a few seconds"
    ) as refused:
        load("org/any")
    assert "proxy" in refused.value.remedy
    assert time.monotonic() - began < 8  # the Hub's own client takes 25 s


def test_no_two_failures_are_worded_alike(hub):
    said = {}
    for repo in FAILURES:
        with pytest.raises(words.HubRefusal) as refused:
            load(repo)
        said[repo] = str(refused.value).replace(repo, "…")
    assert len(set(said.values())) == len(FAILURES)


@pytest.mark.case(11)
def test_a_dead_address_is_unreachable(hub, monkeypatch):  # case 11
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(
        words.HubUnreachable, match="did not answer within a few seconds"
    ) as refused:
        load("org/any")
    assert "http://127.0.0.1:9" in str(refused.value)


@pytest.mark.case(11)
def test_offline_asks_nobody(hub, monkeypatch):  # case 11
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(words.HubUnreachable, match="HF_HUB_OFFLINE is set"):
        load("org/any")
    assert hub.requests == []


def test_an_unknown_revision_is_named(hub, tiny_folder):
    hub.repositories["org/tiny"] = tiny_folder()
    with pytest.raises(words.HubRefusal, match="has no revision") as refused:
        load("org/tiny@v9")
    assert "v9" in str(refused.value)


def test_a_repository_without_weights_says_what_it_holds(hub, tmp_path):
    folder = tmp_path / "gguf-only"
    folder.mkdir()
    (folder / "model-q4.gguf").write_bytes(b"GGUF")
    hub.repositories["org/gguf"] = folder
    with pytest.raises(
        words.HubRefusal, match="holds no weights that can be opened here"
    ) as refused:
        load("org/gguf")
    assert "model-q4.gguf" in str(refused.value)


def test_weights_without_a_config_are_refused_and_nothing_else_is_opened(hub, tmp_path):
    folder = tmp_path / "no-config"
    folder.mkdir()
    (folder / "pytorch_model.bin").write_bytes(b"x" * 100)
    hub.repositories["org/no-config"] = folder
    with pytest.raises(
        words.HubRefusal, match="holds no weights that can be opened here"
    ) as refused:
        load("org/no-config")
    assert "lacks config.json" in str(refused.value)


def test_an_index_that_names_absent_shards_is_refused(hub, tmp_path):
    from tiedviz.words.refusals.file import FileRefusal

    folder = tmp_path / "half"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model-00001-of-00002.safetensors").write_bytes(b"x" * 100)
    (folder / "model.safetensors.index.json").write_text(
        '{"weight_map": {"a": "model-00001-of-00002.safetensors", '
        '"b": "model-00002-of-00002.safetensors"}}'
    )
    hub.repositories["org/half"] = folder
    with pytest.raises(FileRefusal, match="parts missing from the folder") as refused:
        load("org/half")
    assert "model-00002-of-00002.safetensors" in str(refused.value)


def test_a_revision_cannot_lead_out_of_the_cache(hub):
    from tiedviz.models.sources import find_source

    for text in ("a/b@/etc/passwd", "a/b@../../x", "a/b@x/../y"):
        with pytest.raises(OpeningRefusal, match=r"names no model|Nothing lies at"):
            find_source(text)
    assert find_source("a/b@refs/pr/1").revision == "refs/pr/1"


def test_a_failure_of_the_hub_is_asked_again(hub, tiny_folder, monkeypatch):
    from tiedviz.models import hub as hub_module

    monkeypatch.setattr(hub_module, "_FAILURE_KEPT", 0.0)
    asked = hub_module.HubAnswers()
    assert asked.about("org/late", None).exception(10) is not None
    hub.repositories["org/late"] = tiny_folder()
    assert asked.about("org/late", None).result(10).facts.V == 300


def test_what_is_remembered_is_bounded(monkeypatch):
    from tiedviz.models import hub as hub_module

    monkeypatch.setattr(hub_module, "_MOST_KEPT", 3)
    monkeypatch.setattr(hub_module, "_ask", lambda repo, revision, witness: repo)
    asked = hub_module.HubAnswers()
    for number in range(10):
        asked.about(f"a/{number}", None).result()
    held = [each for each in vars(asked).values() if isinstance(each, dict)]
    assert [len(each) for each in held] == [3]
