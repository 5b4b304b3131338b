"""Each page with SmolLM2 open: wide and narrow, light and dark, and after a reload."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import open_smollm2
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.real]

PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
WITH_PROMPT = ("next_token", "layers", "compare")
PROMPT = "The opposite of cold is"
LINK = PROMPT.replace(" ", "+")

# Texts whose contrast with what lies behind them is under 3, the least that WCAG allows anything.
# Left out: what stands on a mark of a chart, or above its slider, since its ground is no ancestor;
# and the colours Streamlit gives to code.
FAINT = """() => {
    const part = value => (value /= 255) <= 0.03928 ? value / 12.92
                                                    : ((value + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    const colour = text => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
    const over = (top, below) => {
        const a = top[3] ?? 1;
        return [0, 1, 2].map(i => a * top[i] + (1 - a) * below[i]);
    };
    const behind = element => {
        const layers = [];
        for (let at = element; at; at = at.parentElement) {
            const found = colour(getComputedStyle(at).backgroundColor);
            layers.push(found);
            if ((found[3] ?? 1) === 1) break;
        }
        return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
    };
    const faint = [];
    const walker = document.createTreeWalker(document.querySelector('[data-testid=stApp]'),
                                             NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        const text = walker.currentNode.data.trim();
        const left_out = element.closest(
            '[data-testid=stIconMaterial], [disabled], .mark-text, .token, '
            + '[data-testid=stSliderThumbValue]');
        if (!text || left_out || !element.checkVisibility({checkOpacity: true})) continue;
        const style = getComputedStyle(element);
        const ground = behind(element);
        const ink = element.closest('svg') ? colour(style.fill) : colour(style.color);
        const [a, b] = [light(over(ink, ground)), light(ground)];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 3) faint.push(`${text.slice(0, 40)}: ${contrast.toFixed(2)}`);
    }
    return faint;
}"""

# Charts of Vega-Lite that have no mark on them.
EMPTY = """() => [...document.querySelectorAll('[data-testid=stVegaLiteChart]')]
    .filter(chart => chart.checkVisibility()
                     && !chart.querySelector('[class*=mark-] path, [class*=mark-] image, canvas'))
    .map(chart => chart.outerHTML.slice(0, 200))"""


def wrong(visitor) -> list[str]:
    """What does not look right, once charts had the time to be drawn and to follow the window."""
    until = time.monotonic() + 20
    while True:
        found = [f"faint: {text}" for text in visitor.page.evaluate(FAINT)]
        found += [f"empty: {chart}" for chart in visitor.page.evaluate(EMPTY)]
        if (over := visitor.overhang()) > 0:
            found.append(f"{over} px too wide")
        if not found or time.monotonic() > until:
            return found
        visitor.page.wait_for_timeout(300)


def test_every_page_wide_and_narrow_light_and_dark(visitor, smollm2):
    page = visitor.page
    visitor.goto(f"/next_token?prompt={LINK}")
    open_smollm2(visitor)
    looked = {}
    for stem in PAGES:
        page.set_viewport_size({"width": 1280, "height": 800})
        page.emulate_media(color_scheme="light")
        visitor.goto(f"/{'' if stem == 'home' else stem}?prompt={LINK}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        for width in (1280, 480):
            page.set_viewport_size({"width": width, "height": 900})
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                visitor.settle()
                looked[f"{stem} at {width}, {scheme}"] = wrong(visitor)
        if stem in WITH_PROMPT:
            page.reload()
            visitor.settle()
            expect(page.get_by_label(re.compile("^Prompt"))).to_have_value(PROMPT)
    assert {where: found for where, found in looked.items() if found} == {}
