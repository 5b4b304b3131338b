import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import open_smollm2

pytestmark = [pytest.mark.browser, pytest.mark.real]

PARIS = "/layers?model=smollm2&prompt=The+capital+of+France+is"


def test_a_clicked_cell_becomes_the_one_under_inspection(visitor, smollm2, tmp_path):
    visitor.goto(PARIS + "&layer=15")
    open_smollm2(visitor)
    heading = visitor.page.get_by_role("heading", name=re.compile("position"))
    expect(heading.last).to_have_text("Layer 15, position 4 (␣is)")
    # the text lies over its rectangle and takes the click; both stand for the cell
    cells = visitor.page.locator(".st-key-lens-cells .mark-text text")
    cells.nth(5 * 14 + 2).click()
    expect(heading.last).to_have_text("Layer 14, position 2 (␣of)", timeout=30_000)
    assert "layer=14" in visitor.page.url and "pos=2" in visitor.page.url
    visitor.page.reload()
    expect(heading.last).to_have_text("Layer 14, position 2 (␣of)", timeout=60_000)
    visitor.page.screenshot(path=tmp_path / "layers.png", full_page=True)


def test_it_fits_a_phone(visitor, smollm2):
    visitor.page.set_viewport_size({"width": 480, "height": 900})
    visitor.goto(PARIS)
    open_smollm2(visitor)
    assert visitor.overhang() == 0
