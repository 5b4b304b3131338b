"""The models users name first, opened by their Hub ids in a browser, from a stand-in Hub."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.hub.released import published_like, released_gpt2
from tests.hub.standin import StandInHub
from tests.server import start_server

pytestmark = pytest.mark.browser

PUBLISHED = {
    "EleutherAI/pythia-160m": "pythia",
    "facebook/opt-125m": "opt",
    "google-t5/t5-small": "t5",
    "google-bert/bert-base-uncased": "bert",
}


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    repositories = {repo: published_like(kind, folder / kind) for repo, kind in PUBLISHED.items()}
    repositories["openai-community/gpt2"] = released_gpt2(folder / "gpt2")
    standin = StandInHub(repositories)
    yield standin
    standin.close()


@pytest.fixture(scope="module")
def server(hub, tmp_path_factory):
    home = tmp_path_factory.mktemp("hf")
    running = start_server(HF_ENDPOINT=hub.base, HF_HOME=str(home))
    yield running
    running.stop()


def answer(visitor, repo, prompt):
    """Open `repo` by its name and wait for the answer to `prompt`; returns the headline."""
    page = visitor.page
    visitor.goto("/next_token?" + urlencode({"model": repo, "prompt": prompt}))
    # the facts come from the header over the network, before anything is downloaded
    expect(page.get_by_text("read from the headers on the Hub", exact=False)).to_be_visible()
    page.get_by_role("button", name=f"Open {repo}").last.click()
    headline = page.get_by_role("heading", name=re.compile("→"))
    expect(headline).to_be_visible(timeout=120_000)
    expect(page.get_by_text("max |Δ|")).to_be_visible()
    return headline


def test_gpt2_opens_by_its_name_and_answers(visitor):
    headline = answer(visitor, "openai-community/gpt2", "the cat sat")
    expect(headline).to_contain_text("the cat sat →")
    expect(visitor.page.get_by_text("one matrix in memory")).to_be_visible()


@pytest.mark.parametrize("repo", PUBLISHED)
def test_the_other_families_open_by_their_names_and_answer(visitor, repo):
    gap = " <mask>" if PUBLISHED[repo] == "bert" else ""
    answer(visitor, repo, f"the cat sat{gap}")
    tied = "two matrices" if PUBLISHED[repo] == "pythia" else "one matrix"
    expect(visitor.page.get_by_text(f"{tied} in memory")).to_be_visible()


@pytest.mark.real
def test_smollm2_as_a_repository_of_safetensors(visitor, hub, smollm2):
    hub.repositories["HuggingFaceTB/SmolLM2-135M-Instruct"] = smollm2.folder
    headline = answer(visitor, "HuggingFaceTB/SmolLM2-135M-Instruct", "The capital of France is")
    expect(headline).to_have_text("The capital of France is → ␣Paris 77.3 %")


def test_a_gated_model_is_refused_in_words_and_the_prompt_stays(visitor):
    page = visitor.page
    visitor.goto("/next_token?model=org%2Fgated&prompt=keep+me")
    expect(page.get_by_text("is gated").first).to_be_visible(timeout=20_000)
    expect(page.get_by_label("Prompt")).to_have_value("keep me")
