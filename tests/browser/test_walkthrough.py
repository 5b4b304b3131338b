import pytest
from playwright.sync_api import expect

from tiedviz.words.walkthrough import STEPS

pytestmark = pytest.mark.browser

MAIN = "document.querySelector('[data-testid=stMain]')"


def test_a_learner_with_no_model_and_no_network_walks_through_on_a_phone(visitor, server):
    page = visitor.page
    page.set_viewport_size({"width": 480, "height": 900})
    visitor.goto("/walkthrough")
    for number, step in enumerate(STEPS, 1):
        heading = page.get_by_role("heading", name=f"{number}. {step.title}", exact=True)
        expect(heading).to_be_visible()
        visitor.settle()
        wider = page.evaluate(
            f"Math.max(document.documentElement.scrollWidth - innerWidth,"
            f"{MAIN}.scrollWidth - {MAIN}.clientWidth)"
        )
        assert wider <= 1, number
        if number < len(STEPS):
            onward = page.get_by_role("button", name=f"{number + 1}. {STEPS[number].title}")
            onward.scroll_into_view_if_needed()
            onward.click()
            expect(page).to_have_url(f"{server.base}/walkthrough?step={number + 1}")
            page.wait_for_function(f"{MAIN}.scrollTop === 0")
    assert "libtorch" not in server.maps()


def test_a_number_typed_into_the_toy_changes_the_winner(visitor):
    page = visitor.page
    visitor.goto("/walkthrough?step=6")
    expect(page.get_by_text("Next word: ran")).to_be_visible()
    state = page.locator(".stDataFrame").nth(1)
    state.scroll_into_view_if_needed()
    visitor.settle()
    box = state.locator("canvas").first.bounding_box()
    # the last of four columns, the only row under the head
    page.mouse.dblclick(box["x"] + box["width"] - 40, box["y"] + box["height"] - 18)
    page.keyboard.press("Control+A")
    page.keyboard.type("0.9")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Next word: the")).to_be_visible()
    page.get_by_role("button", name="7. The table learns twice").click()
    visitor.settle()
    page.get_by_role("button", name="Reset").click()
    page.get_by_role("button", name="Back", exact=True).click()
    expect(page.get_by_text("Next word: ran")).to_be_visible()
