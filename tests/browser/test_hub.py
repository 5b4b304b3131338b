"""The models users name first, opened by their Hub ids in a browser, from a stand-in for the Hub."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import start_server
from tests.hub.released import released_gpt2
from tests.hub.standin import StandInHub

pytestmark = pytest.mark.browser


@pytest.fixture
def hub(tmp_path):
    standin = StandInHub({"openai-community/gpt2": released_gpt2(tmp_path / "gpt2")})
    yield standin
    standin.close()


@pytest.fixture
def server(hub, tmp_path):
    running = start_server(HF_ENDPOINT=hub.base, HF_HOME=str(tmp_path / "hf"))
    yield running
    running.process.terminate()
    running.process.wait(20)


def test_gpt2_opens_by_its_name_and_answers(visitor):
    page = visitor.page
    visitor.goto("/next_token?model=openai-community%2Fgpt2&prompt=the+cat+sat")
    # the facts come from the header over the network, before anything is downloaded
    expect(page.get_by_text("read from the headers on the Hub", exact=False)).to_be_visible()
    page.get_by_role("button", name="Open openai-community/gpt2").last.click()
    expect(page.get_by_role("heading", name=re.compile("the cat sat →"))).to_be_visible(
        timeout=120_000
    )
    expect(page.get_by_text("max |Δ|")).to_be_visible()
    expect(page.get_by_text("one matrix in memory")).to_be_visible()


def test_a_gated_model_is_refused_in_words_and_the_prompt_stays(visitor):
    page = visitor.page
    visitor.goto("/next_token?model=org%2Fgated&prompt=keep+me")
    expect(page.get_by_text("is gated").first).to_be_visible(timeout=20_000)
    expect(page.get_by_label("Prompt")).to_have_value("keep me")
