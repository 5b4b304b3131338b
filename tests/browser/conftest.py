"""A real server and a real Chromium."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.server import start_server

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Streamlit asks for these under a deep link's own path first, and finds them under / afterwards.
PROBES = ("/_stcore/health", "/_stcore/host-config")


@pytest.fixture
def server():
    """A server that nobody has visited yet."""
    running = start_server()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def chromium():
    """Debian's Chromium; without one these tests are skipped, except where CI demands them."""
    path = shutil.which("chromium")
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("CI must have Chromium: apt-get install chromium")
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Visit:
    """One visitor's page, and what it asked of the network and said in its console."""

    page: Page
    base: str
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def goto(self, path: str) -> None:
        """Open a link of the app and wait until it is drawn."""
        self.page.goto(self.base + path)
        self.settle()

    def settle(self) -> None:
        """Wait until the script has run and no exception is shown."""
        self.page.wait_for_timeout(400)
        idle = '[data-testid="stApp"][data-test-script-state="notRunning"]'
        self.page.locator(idle).wait_for(timeout=120_000)
        assert self.page.locator('[data-testid="stException"]').count() == 0

    def overhang(self) -> int:
        """Pixels by which the page is wider than the window, a pixel of rounding apart.

        Streamlit's main part scrolls by itself: the document never gets wider, whatever is in it.
        Charts and tables follow a window that has just become narrower, which takes a moment.
        """
        for _ in range(30):
            over = self.page.evaluate(_OVERHANG)
            if not over:
                break
            self.page.wait_for_timeout(100)
        return over


_OVERHANG = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  const over = [document.documentElement.scrollWidth - window.innerWidth,
                main.scrollWidth - main.clientWidth];
  return Math.max(0, ...over.map((pixels) => pixels - 1));
}"""


@pytest.fixture
def visitor(chromium, server):
    """A fresh browser profile; at the end nothing outside was asked for and no error was logged."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    visit = Visit(context.new_page(), server.base)
    ours = (server.base, server.base.replace("http", "ws"), "data:", "blob:")

    def answered(response) -> None:
        if response.status >= 400 and not response.url.endswith(PROBES):
            visit.errors.append(f"{response.status} {response.url}")

    def said(message) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            visit.errors.append(message.text)

    visit.page.on(
        "request",
        lambda request: None if request.url.startswith(ours) else visit.outside.append(request.url),
    )
    visit.page.on("response", answered)
    visit.page.on("console", said)
    yield visit
    context.close()
    assert visit.outside == []
    assert visit.errors == []


def open_smollm2(visitor: Visit) -> None:
    """Press the page's Open button and wait until the page shows its proof."""
    visitor.page.get_by_role("button", name="Open SmolLM2 135M Instruct").last.click()
    expect(visitor.page.get_by_text("max |Δ|")).to_be_visible(timeout=300_000)
    visitor.settle()
