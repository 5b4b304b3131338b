"""The app as a visitor drives it, without a browser: always entered through tiedviz/main.py."""

from __future__ import annotations

import json

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.conftest import ROOT
from tiedviz.words.refusals import Refusal


@pytest.fixture
def visit():
    """Open a page: `visit("next_token", model=..., prompt=...)`. Caches start empty."""
    st.cache_data.clear()
    st.cache_resource.clear()

    def open_page(page: str | None = None, **parameters: str) -> AppTest:
        app = AppTest.from_file(ROOT / "tiedviz/main.py", default_timeout=120)
        for key, value in parameters.items():
            app.query_params[key] = value
        app.run()
        if page is not None:
            app.switch_page(f"../pages/{page}.py")
            for key, value in parameters.items():
                app.query_params[key] = value
            app.run()
        assert not app.exception, app.exception
        return app

    return open_page


@pytest.fixture(autouse=True)
def smollm2_opened_once(monkeypatch):
    """Each visit finds nothing open, and opens SmolLM2 through the app; only its load is shared."""
    from tiedviz.models import loading

    real_load = loading.load

    def load(source, **options):
        if source != "smollm2":
            return real_load(source, **options)
        if source not in _OPENED:
            _OPENED[source] = real_load(source, **options)
        return _OPENED[source]

    monkeypatch.setattr(loading, "load", load)


_OPENED = {}


@pytest.fixture(autouse=True)
def charts_are_checked(monkeypatch):
    """Every chart that a page draws in these tests is held against Vega-Lite's schema."""
    from altair.utils.schemapi import enable_debug_mode

    from tiedviz.ui import drawing

    enable_debug_mode()
    monkeypatch.setattr(drawing, "unchecked", lambda chart: chart)


def press(app: AppTest, label: str) -> AppTest:
    """Press the last button with this label (the page's own stands after the sidebar's)."""
    [*_, button] = [button for button in app.button if button.label == label]
    button.click().run()
    assert not app.exception, app.exception
    return app


def open_model(app: AppTest, title: str) -> AppTest:
    """Press the Open button, wait for the background, and draw the page again."""
    from tiedviz.ui.caches import model_pool

    if not any(button.label == f"Open {title}" for button in app.button):
        return app  # somebody has opened it already
    press(app, f"Open {title}")
    source = app.selectbox(key="model").value
    opening = model_pool().opening(source)
    if opening is not None:
        assert opening.wait(300)
        assert opening.refusal is None, opening.refusal
    app.run()
    assert not app.exception, app.exception
    return app


def refused_opening(app: AppTest, title: str) -> Refusal:
    """Press Open, and wait for the refusal."""
    from tiedviz.ui.caches import model_pool

    press(app, f"Open {title}")
    opening = model_pool().opening(app.selectbox(key="model").value)
    assert opening.wait(300) and opening.refusal is not None
    return opening.refusal


def text_of(app: AppTest) -> str:
    """Everything the page says, in one string, Markdown escapes taken out."""
    parts = [*app.title, *app.subheader, *app.markdown, *app.caption, *app.error, *app.warning]
    return "\n".join(str(part.value) for part in parts).replace("\\", "")


def chart_data(app: AppTest, index: int = 0):
    """The data frame behind the n-th Altair chart, and its specification."""
    import pyarrow as pa

    chart = app.get("vega_lite_chart")[index].proto
    table = pa.ipc.open_stream(chart.datasets[0].data.data).read_all().to_pandas()
    return table, json.loads(chart.spec)
