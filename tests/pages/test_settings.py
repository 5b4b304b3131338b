"""What whoever runs the app set, and set wrongly."""

import pytest


@pytest.mark.parametrize("page", [None, "next_token", "walkthrough"])
def test_a_memory_budget_that_is_no_number_is_said_on_every_page(visit, monkeypatch, page):
    """It once ended the run without a word, and left the page blank."""
    monkeypatch.setenv("TIEDVIZ_MODEL_MEMORY", "lots")
    app = visit(page)
    [error] = app.main.error
    assert "TIEDVIZ" in error.value and "lots" in error.value
