"""Take the README's pictures again: `python docs/screenshots.py`.

Needs Chromium, SmolLM2 and Gemma 3 270M. Every page is opened on SmolLM2 in a server of its own, at
1280 pixels, and saved beside this file.
"""

import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
PORT = 8765
BASE = f"http://127.0.0.1:{PORT}"
MODEL = "model=smollm2"  # GPT-2 would come first where the Hub answers
PROMPT = f"{MODEL}&prompt=The+capital+of+France+is"
PAGES = {
    "home": f"?{MODEL}",
    "walkthrough": f"walkthrough?{MODEL}&step=5",
    "is_it_tied": f"is_it_tied?{MODEL}",
    "next_token": f"next_token?{PROMPT}",
    "layers": f"layers?{PROMPT}",
    "token_map": f"token_map?{PROMPT}",
    "gradients": f"gradients?{PROMPT}",
    "compare": f"compare?{PROMPT}&with=gemma-3-270m",
    "embedding_share": f"embedding_share?{MODEL}",
}
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]


def main() -> None:
    """Start the app, take a picture of each page, stop the app."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(PORT)]
    server = subprocess.Popen(command, cwd=HERE.parent)
    try:
        _wait_for_the_server()
        with sync_playwright() as playwright:
            path = shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            page = browser.new_page(viewport={"width": 1280, "height": 860})
            _open_models(page)
            for name, link in PAGES.items():
                _settle(page, link)
                if name == "gradients":
                    page.get_by_role("button", name="Run").first.click()
                    page.get_by_text("Computed in").wait_for(timeout=120_000)
                page.wait_for_timeout(4_000)  # what is drawn by the browser itself
                page.screenshot(path=HERE / f"{name}.png")
            browser.close()
    finally:
        server.terminate()
        server.wait(20)


def _wait_for_the_server() -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{BASE}/_stcore/health", timeout=1)
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the app did not start")


def _open_models(page: Page) -> None:
    for name, title in (("gemma-3-270m", "Gemma 3 270M"), ("smollm2", "SmolLM2 135M Instruct")):
        _settle(page, f"next_token?model={name}")
        page.get_by_role("button", name=f"Open {title}").last.click()
        page.get_by_text("live, float32").first.wait_for(timeout=300_000)


def _settle(page: Page, link: str) -> None:
    page.goto(f"{BASE}/{link}")
    page.wait_for_timeout(500)
    idle = '[data-testid="stApp"][data-test-script-state="notRunning"]'
    page.locator(idle).wait_for(timeout=120_000)


if __name__ == "__main__":
    main()
