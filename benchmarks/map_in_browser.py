"""The map of Gemma 3 270M in headless Chromium without a GPU: drawing, dragging, bytes, reruns."""

import statistics
from collections.abc import Iterator

from benchmarks.served import FLAGS, chromium, served
from benchmarks.timing import Row
from tiedviz.models.sources import find_source

_LINK = "/token_map?model=gemma-3-270m"
_INTERVALS = """() => new Promise((done) => {
  const gaps = []; let last = performance.now(); const end = last + 2500;
  const tick = (now) => { gaps.push(now - last); last = now;
    if (now < end) requestAnimationFrame(tick); else done(gaps); };
  requestAnimationFrame(tick);
})"""


def rows() -> Iterator[Row]:
    """Needs Chromium, Playwright, and the model in the cache."""
    path = chromium()
    if path is None or find_source("gemma-3-270m").files_here() is None:
        yield Row("the map in Chromium", "no Chromium, or no model in the cache", "", True)
        return
    with served("app.py") as address:
        yield from _measured(path, address)


def _measured(path: str, base: str) -> Iterator[Row]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        received: list[int] = []
        page.on("websocket", lambda socket: socket.on(
            "framereceived", lambda frame: received.append(len(frame))
        ))  # fmt: skip
        page.goto(base + _LINK)
        page.get_by_role("button", name="Open ").last.click()
        canvas = page.locator(".st-key-token-map canvas[data-drawn='262144']")
        canvas.wait_for(timeout=300_000)
        page.locator('[data-testid="stMetric"]').nth(3).wait_for(timeout=300_000)
        first = float(canvas.get_attribute("data-first"))
        yield Row(
            "map of 262,144 tokens drawn after data", f"{first:.0f} ms", "<= 1 s", first <= 1000
        )
        size = sum(received)
        yield Row("all bytes to the browser", f"{size / 1e6:.1f} MB", "<= 12 MB", size <= 12e6)
        received.clear()
        page.get_by_text("Spectrum", exact=True).click()
        page.get_by_text("hold half of the variance").wait_for()
        again = sum(received)
        yield Row("bytes of a rerun", f"{again / 1e6:.2f} MB", "no points", again < 1e6)
        yield _dragging(page, canvas)
        browser.close()


def _dragging(page, canvas) -> Row:
    """The time between frames while the map is dragged to and fro."""
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.evaluate(f"window.gaps = ({_INTERVALS})()")
    page.mouse.move(*middle)
    page.mouse.down()
    for step in range(120):
        page.mouse.move(middle[0] + 60 * ((step % 20) / 20), middle[1] + 3 * (step % 10))
    page.mouse.up()
    gaps = page.evaluate("window.gaps")
    worst = statistics.quantiles(gaps[2:], n=20)[-1]
    return Row(
        "dragging the map, time between frames, p95", f"{worst:.0f} ms", "<= 40 ms", worst <= 40
    )
