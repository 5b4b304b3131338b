import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.real]


def test_run_shows_both_sides_and_a_new_text_dims_them(visitor, smollm2, tmp_path):
    visitor.page.set_viewport_size({"width": 480, "height": 900})
    visitor.goto("/gradients?model=smollm2&prompt=The+opposite+of+hot+is+cold.")
    visitor.page.get_by_role("button", name="Open SmolLM2 135M Instruct").last.click()
    button = visitor.page.get_by_role("button", name="Run", exact=True)
    button.click(timeout=300_000)
    expect(visitor.page.get_by_text("max |Δ|")).to_be_visible(timeout=300_000)
    visitor.settle()
    expect(visitor.page.get_by_text("output all 49,152")).to_be_visible()
    expect(button).to_be_disabled()
    assert visitor.overhang() == 0
    visitor.page.screenshot(path=tmp_path / "gradients.png", full_page=True)
    visitor.page.get_by_role("textbox", name="Prompt").fill("The opposite of hot")
    old = visitor.page.locator(".st-key-gradients-of-another-text")
    expect(old).to_have_css("opacity", "0.45", timeout=60_000)
    expect(visitor.page.get_by_text("Computed for “The opposite of hot is cold.”")).to_be_visible()
    expect(button).to_be_enabled()
