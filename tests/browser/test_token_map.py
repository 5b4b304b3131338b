import re
from io import BytesIO

import pytest
from PIL import Image
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.real]

HOT = "/token_map?model=smollm2&prompt=The+opposite+of+hot+is"


def opened(visitor):
    """The map of SmolLM2, drawn. Returns its canvas."""
    visitor.page.get_by_role("button", name="Open SmolLM2 135M Instruct").last.click()
    canvas = visitor.page.locator(".st-key-token-map canvas")
    expect(canvas).to_have_attribute("data-drawn", "49152", timeout=300_000)
    visitor.settle()
    canvas.scroll_into_view_if_needed()
    return canvas


def place_of(canvas, loaded, row):
    """Where a row is on the canvas, from coordinates that are computed here."""
    from tiedviz.compute.token_map import MapView, map_rows, project

    projection = project(loaded.embedding, map_rows(loaded.embedding), MapView.UNIT)
    x, y = projection.coordinates[row, :2].tolist()
    x0, x1, y0, y1 = map(float, canvas.get_attribute("data-view").split(","))
    box = canvas.bounding_box()
    return (x - x0) / (x1 - x0) * box["width"], (y1 - y) / (y1 - y0) * box["height"]


def pinch(page, canvas):
    """Two fingers about the middle, 100 pixels apart, go 200 apart and 30 to the right."""
    box = canvas.bounding_box()
    left, top = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = page.context.new_cdp_session(page)

    def send(kind, *across):
        points = [{"x": left + each, "y": top, "id": at} for at, each in enumerate(across)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    send("touchStart", -50)
    send("touchStart", -50, 50)
    for step in range(1, 11):
        send("touchMove", -50 - 5 * step + 3 * step, 50 + 5 * step + 3 * step)
    send("touchEnd", 130)
    send("touchEnd")


def test_all_tokens_are_drawn_and_a_known_place_names_its_token(visitor, smollm2, tmp_path):
    visitor.goto(HOT)
    canvas = opened(visitor)
    shot = tmp_path / "map.png"
    canvas.screenshot(path=shot)
    pixels = Image.open(BytesIO(shot.read_bytes())).convert("RGB").getdata()
    coloured = sum(max(pixel) - min(pixel) > 30 for pixel in pixels)
    assert coloured > 0.01 * len(pixels)

    row = smollm2.tokenizer.convert_tokens_to_ids("Ġstrugg")  # the longest row, clear of the crowd
    left, top = place_of(canvas, smollm2, row)
    canvas.hover(position={"x": left, "y": top})
    expect(visitor.page.locator(".st-key-token-map .tip b")).to_have_text("␣strugg")
    canvas.click(position={"x": left, "y": top})
    expect(visitor.page.get_by_text(re.compile(rf"#{row}, word start"))).to_be_visible(
        timeout=30_000
    )
    assert f"token={row}" in visitor.page.url


def test_search_marks_tokens_and_wheel_and_keys_move_the_map(visitor, smollm2):
    visitor.goto(HOT)
    canvas = opened(visitor)
    visitor.page.get_by_label("Search tokens by text or id").fill("␣king")
    status = visitor.page.locator(".st-key-token-map .status")
    expect(status).to_contain_text("tokens found")
    expect(visitor.page.locator(".st-key-token-map .results button").first).to_contain_text("␣king")
    before = canvas.get_attribute("data-view")
    canvas.hover()
    visitor.page.mouse.wheel(0, -400)
    expect(canvas).not_to_have_attribute("data-view", before)
    zoomed = canvas.get_attribute("data-view")
    canvas.press("ArrowRight")
    expect(canvas).not_to_have_attribute("data-view", zoomed)
    canvas.press("0")
    expect(canvas).to_have_attribute("data-view", before)
    pinch(visitor.page, canvas)
    x0, x1, y0, y1 = map(float, before.split(","))
    expect(canvas).not_to_have_attribute("data-view", before)
    a0, a1, b0, b1 = map(float, canvas.get_attribute("data-view").split(","))
    # twice as far apart: twice as near
    assert (a1 - a0) / (x1 - x0) == pytest.approx(0.5, rel=0.02)
    assert (b1 - b0) / (y1 - y0) == pytest.approx(0.5, rel=0.02)
    # the place between the fingers went 30 pixels to the right with them
    box = canvas.bounding_box()
    middle = x0 + 0.5 * (x1 - x0)
    assert (middle - a0) / (a1 - a0) * box["width"] == pytest.approx(box["width"] / 2 + 30, abs=3)
    assert "token=" not in visitor.page.url  # lifting a finger picks nothing
    assert visitor.overhang() == 0
