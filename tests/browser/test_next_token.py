import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import open_smollm2

pytestmark = [pytest.mark.browser, pytest.mark.real]

PARIS = "/next_token?prompt=The+capital+of+France+is"


def test_a_cold_deep_link_asks_types_and_answers(visitor, server, smollm2):
    """The first request this server ever gets is the link of an inner page."""
    visitor.goto(PARIS)
    expect(visitor.page.get_by_role("heading", name="Next token")).to_be_visible()
    expect(visitor.page.get_by_label("Prompt")).to_have_value("The capital of France is")
    assert "libtorch" not in server.maps()

    open_smollm2(visitor)
    headline = visitor.page.get_by_role("heading", name=re.compile("→"))
    expect(headline).to_have_text("The capital of France is → ␣Paris 77.3 %")

    visitor.page.get_by_label("Prompt").fill("The opposite of hot is")
    expect(headline).to_have_text("The opposite of hot is → ␣cold 68.4 %", timeout=30_000)
    assert "prompt=The+opposite" in visitor.page.url or "prompt" not in visitor.page.url


def test_home_is_drawn_without_torch_and_the_prompt_survives_a_change_of_page(
    visitor, server, smollm2
):
    visitor.goto("/")
    expect(visitor.page.get_by_text("28,311,552 numbers")).to_be_visible()
    assert "libtorch" not in server.maps()

    visitor.page.get_by_role("link", name="Next token").click()
    visitor.settle()
    visitor.page.get_by_label("Prompt").fill("Roses are red, violets are")
    visitor.settle()
    visitor.page.get_by_role("link", name="Home").click()
    visitor.settle()
    visitor.page.get_by_role("link", name="Next token").click()
    visitor.settle()
    expect(visitor.page.get_by_label("Prompt")).to_have_value("Roses are red, violets are")


def test_what_is_typed_while_the_model_opens_is_answered(visitor, smollm2):
    visitor.goto(PARIS)
    visitor.page.get_by_role("button", name="Open SmolLM2 135M Instruct").last.click()
    visitor.page.get_by_label("Prompt").fill("The capital of Spain is")
    headline = visitor.page.get_by_role("heading", name=re.compile("→"))
    expect(headline).to_have_text("The capital of Spain is → ␣Madrid 37.7 %", timeout=300_000)
    # the superseded runs did not begin a second opening
    expect(visitor.page.get_by_text("Open models: 538 MB")).to_be_visible()


def test_clicking_a_bar_and_a_candidate(visitor, smollm2):
    visitor.goto(PARIS)
    open_smollm2(visitor)
    marks = visitor.page.locator(".st-key-candidate-bars .mark-rect path")
    marks.nth(1).click()
    expect(
        visitor.page.get_by_role("heading", name="The logit of ␣the, taken apart")
    ).to_be_visible()
    visitor.page.get_by_role("button", name="␣Paris", exact=True).click()
    expect(visitor.page.get_by_label("Prompt")).to_have_value("The capital of France is Paris")


def test_it_fits_a_phone(visitor, smollm2):
    visitor.page.set_viewport_size({"width": 480, "height": 900})
    visitor.goto(PARIS)
    open_smollm2(visitor)
    assert visitor.overhang() == 0
