import pytest
from playwright.sync_api import expect

from tiedviz.ui.walkthrough import STEPS

pytestmark = pytest.mark.browser


def test_a_learner_with_no_model_and_no_network_walks_through_on_a_phone(visitor, server):
    page = visitor.page
    page.set_viewport_size({"width": 480, "height": 900})
    visitor.goto("/walkthrough")
    for number, step in enumerate(STEPS, 1):
        heading = page.get_by_role("heading", name=f"{number}. {step.title}", exact=True)
        expect(heading).to_be_visible()
        visitor.settle()
        assert visitor.overhang() == 0, number
        if number < len(STEPS):
            onward = page.get_by_role("button", name=f"{number + 1}. {STEPS[number].title}")
            onward.scroll_into_view_if_needed()
            onward.click()
            expect(page).to_have_url(f"{server.base}/walkthrough?step={number + 1}")
    assert "libtorch" not in server.maps()
