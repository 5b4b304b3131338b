"""From `streamlit run` to the first page in a browser that stands ready, against an empty app."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.served import FLAGS, chromium, served
from benchmarks.timing import Row, seconds

_BOUND = 1.5


def rows() -> Iterator[Row]:
    """Needs Chromium and Playwright. The work is done in other processes: wall time alone."""
    path = chromium()
    if path is None:
        yield Row("first paint", "no Chromium", "", True)
        return
    from playwright.sync_api import Browser, sync_playwright

    def paint(browser: Browser, script: Path | str) -> None:
        with served(script) as address:
            page = browser.new_page()
            page.goto(address)
            page.locator("h1").first.wait_for()
            page.close()

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        empty = Path(folder) / "empty.py"
        empty.write_text("import streamlit as st\nst.title('Nothing')\n")
        (mine, _), (bare, _) = seconds(
            lambda: paint(browser, "app.py"), lambda: paint(browser, empty)
        )
        browser.close()
    ratio = mine / bare
    measured = f"{mine:.3f} s / {bare:.3f} s = {ratio:.2f} wall"
    yield Row("first paint, over an empty app's", measured, f"<= {_BOUND:g}", ratio <= _BOUND)
