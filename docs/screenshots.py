"""Take the README's pictures again: `python -m docs.screenshots`.

Needs Chromium, SmolLM2 and Gemma 3 270M. Every page is opened on SmolLM2 in a server of its own, at
1280 pixels, and saved beside this file.
"""

from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.served import FLAGS, chromium, served

HERE = Path(__file__).parent
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


def main() -> None:
    """Start the app, take a picture of each page, stop the app."""
    with served("app.py") as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 860}, base_url=base)
        _open_models(page)
        for name, link in PAGES.items():
            _settle(page, link)
            if name == "gradients":
                page.get_by_role("button", name="Run").first.click()
                page.get_by_text("Computed in").wait_for(timeout=120_000)
            page.wait_for_timeout(4_000)  # what is drawn by the browser itself
            page.screenshot(path=HERE / f"{name}.png")
        browser.close()


def _open_models(page: Page) -> None:
    for name, title in (("gemma-3-270m", "Gemma 3 270M"), ("smollm2", "SmolLM2 135M Instruct")):
        _settle(page, f"next_token?model={name}")
        page.get_by_role("button", name=f"Open {title}").last.click()
        page.get_by_text("live, float32").first.wait_for(timeout=300_000)


def _settle(page: Page, link: str) -> None:
    page.goto(f"/{link}")
    page.wait_for_timeout(500)
    idle = '[data-testid="stApp"][data-test-script-state="notRunning"]'
    page.locator(idle).wait_for(timeout=120_000)


if __name__ == "__main__":
    main()
