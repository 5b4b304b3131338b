import json
import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

PAGE = "/embedding_share"
MARKS = ".st-key-share-chart .stVegaLiteChart"


def drawn(visitor):
    chart = visitor.page.locator(MARKS).locator("canvas, svg.marks").first
    expect(chart).to_be_visible(timeout=20_000)
    return chart


def test_the_chart_is_drawn_ringed_and_answers_the_pointer(visitor, server):
    visitor.goto(f"{PAGE}?model=gemma-3-270m")
    drawn(visitor)
    assert "libtorch" not in server.maps()
    chart = visitor.page.locator(MARKS)
    expect(chart.get_by_text("Gemma 3 270M", exact=True)).to_be_visible()
    for family in ("Pythia", "Qwen2.5", "GPT-2"):
        expect(chart.get_by_text(family, exact=True).first).to_be_visible()
    expect(visitor.page.get_by_text("Ringed: Gemma 3 270M, 268,098,176")).to_be_visible()

    mark = chart.locator("path[aria-label*='pythia-14m']").last
    mark.hover()
    expect(visitor.page.locator("#vg-tooltip-element")).to_contain_text("EleutherAI/pythia-14m")
    mark.click()
    expect(visitor.page.get_by_text("14,067,712 parameters")).to_be_visible()


def test_a_tab_is_in_the_link_and_the_link_leads_to_it(visitor):
    visitor.goto(PAGE)
    visitor.page.get_by_role("tab", name="Where parameters go").click()
    visitor.settle()
    assert "view=Where+parameters+go" in visitor.page.url
    bars = visitor.page.locator(".stVegaLiteChart .mark-rect path")
    expect(bars.first).to_be_visible()
    assert bars.first.bounding_box()["height"] > 8

    visitor.goto(f"{PAGE}?view=Calculator")
    expect(visitor.page.get_by_text("38,400,000").first).to_be_visible()
    visitor.page.get_by_text("50,000 × 4,096").click()
    expect(visitor.page.get_by_text("204,800,000").first).to_be_visible()


def test_a_configuration_is_pasted_and_counted(visitor):
    visitor.goto(f"{PAGE}?view=Any+model")
    visitor.page.get_by_role("radio", name="Paste").click()
    box = visitor.page.get_by_role("textbox", name="The text of a config.json")
    box.fill(json.dumps({"model_type": "gpt2"}))
    visitor.page.get_by_role("button", name="Count", exact=True).click()
    headline = visitor.page.get_by_role("heading", name=re.compile("124,439,808 parameters"))
    expect(headline).to_be_visible(timeout=60_000)
    expect(visitor.page.get_by_text("163,037,184").first).to_be_visible()


@pytest.mark.parametrize("view", ["Chart", "Where+parameters+go", "Calculator", "Table"])
def test_it_fits_a_phone(visitor, view):
    visitor.page.set_viewport_size({"width": 480, "height": 900})
    visitor.goto(f"{PAGE}?view={view}")
    visitor.page.wait_for_timeout(800)
    assert visitor.overhang() == 0
