import re

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.real]


def test_two_models_are_opened_one_after_another_and_a_reload_keeps_the_pair(
    visitor, smollm2, gemma, tmp_path
):
    visitor.goto("/compare?model=smollm2&with=gemma-3-270m")
    page = visitor.page
    page.get_by_role("button", name=re.compile("Open SmolLM2 135M Instruct and Gemma")).click()
    sentence = page.get_by_text(re.compile("share .* likeliest texts"))
    expect(sentence).to_be_visible(timeout=300_000)
    visitor.settle()
    expect(sentence).to_contain_text("the likeliest among them")
    page.screenshot(path=tmp_path / "compare.png", full_page=True)
    page.set_viewport_size({"width": 480, "height": 900})
    assert visitor.overhang() == 0
    page.reload()
    expect(sentence).to_be_visible(timeout=60_000)
