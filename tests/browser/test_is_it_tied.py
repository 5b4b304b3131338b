import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.real]


def test_the_verdict_is_there_before_anything_is_opened_and_all_four_are_heard_on_demand(
    visitor, server, smollm2
):
    page = visitor.page
    visitor.goto("/is_it_tied?model=smollm2")
    expect(page.get_by_text("One table does both jobs.")).to_be_visible()
    expect(page.get_by_text("not heard").first).to_be_visible()
    assert "libtorch" not in server.maps()
    page.get_by_role("button", name="Hear all four").click()
    expect(page.get_by_text("one Parameter, at one place in memory")).to_be_visible(timeout=300_000)
    expect(page.get_by_text("h_L @ E.T; max |Δ|")).to_be_visible()

    page.get_by_role("tab", name="Prove it").click()
    page.get_by_role("button", name="Change its row").click()
    expect(page.get_by_text("both ends moved")).to_be_visible(timeout=60_000)
    assert "tab=Prove" in page.url


def test_breaking_a_tiny_model_changes_the_verdict_in_front_of_you(visitor, smollm2):
    page = visitor.page
    visitor.goto("/is_it_tied?model=smollm2&tab=Break+one")
    page.get_by_text("Merge a LoRA on the head").click()
    expect(page.get_by_text("Declared one table, the files hold two")).to_be_visible(timeout=60_000)
    page.get_by_text("Tie by hand and save").click()
    expect(page.get_by_text("Broken.")).to_be_visible(timeout=60_000)
