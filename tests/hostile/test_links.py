"""Whatever a link or a prompt holds, a page answers in words, in bounded time."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from tests.conftest import ROOT
from tests.hostile.conftest import HOSTILE, page

PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
PARAMETERS = ("model", "prompt", "bos", "pos", "layer", "token", "watch", "step", "tab", "decoder")
PARAMETERS += ("share_models",)
NASTY = (
    *("", " ", "\0", "-1", "0", "1e9", "9" * 400, "NaN", "None", "true", "[]", "{}", "id:"),
    *("id:-1", "id:99999999999999999999", "../../etc/passwd", "/etc/passwd", "~root", "//", "."),
    *("~nosuchuser", "file:///etc/passwd", "https://example.org/x", "a/b/c/d", "a" * 5000, "@"),
    *("%00", "%s%n", "a@b", "x.gguf", "/dev/zero", "add", "omit", "smollm2\n", "SmolLM2"),
    *("\u0661", "½", "²", "\ud7ff"),
    *HOSTILE,
)
text = some.sampled_from(NASTY) | some.text(max_size=30)
links = some.dictionaries(some.sampled_from(PARAMETERS), text, min_size=1, max_size=4)
quick = settings(
    max_examples=8,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.parametrize("name", PAGES)
def test_any_link_is_answered_without_a_traceback(open_hostile, name):
    @quick
    @given(links, some.booleans())
    def visited(link, with_model):
        if with_model:  # most of what a link says matters only where a model is open
            link = link | {"model": open_hostile}
        app = page(name, **link)
        assert not app.exception, (link, app.exception)
        assert app.title

    visited()


@pytest.mark.parametrize(
    ("name", "parameter"),
    [*(("next_token", each) for each in ("pos", "token", "bos")), ("layers", "layer")],
)
def test_what_is_no_number_here_is_left_aside(open_hostile, name, parameter):
    for value in ("-1", "2", "999", "1e9", "9" * 400, "NaN", "", "\0", "\u0661", "²", "<b>"):
        app = page(name, model=open_hostile, prompt="the the", **{parameter: value})
        assert not app.exception, (value, app.exception)
        assert app.dataframe and not app.error, value


def test_what_is_no_token_to_watch_is_refused_in_words(open_hostile):
    for start in range(0, len(NASTY), 5):
        values = list(NASTY[start : start + 5])
        app = page("layers", model=open_hostile, prompt="the the", watch=values)
        assert not app.exception, (values, app.exception)
        assert app.dataframe, values


LONG = {
    "one word": "a" * 100_000,
    "many words": "the " * 25_000,
    "turned letters": "\u202e" * 100_000,
    "control characters": "\x01\x1f\x7f" * 33_000,
    "open brackets": "[(" * 50_000,
    "emoji of many parts": "👩‍🚀" * 20_000,
    "combining marks": "e" + "\u0301" * 99_999,
}


@pytest.mark.parametrize(
    ("name", "kind"), [*(("next_token", kind) for kind in LONG), ("layers", "many words")]
)
def test_a_hundred_thousand_characters_take_bounded_time_and_memory(open_hostile, name, kind):
    began = time.monotonic()
    tracemalloc.start()
    app = page(name, model=open_hostile, prompt=LONG[kind])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert not app.exception, app.exception
    assert app.title
    assert time.monotonic() - began < 30  # a promise that it ends, on a machine with other work
    assert peak < 300_000_000


@quick
@given(some.text(some.characters(codec="utf-8"), max_size=200))
def test_any_prompt_is_answered_without_a_traceback(open_hostile, typed):
    app = page("next_token", model=open_hostile, prompt="the")
    app.text_input(key="prompt").set_value(typed).run()
    assert not app.exception, (typed, app.exception)
