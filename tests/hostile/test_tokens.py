"""Tokens that are HTML, Markdown, LaTeX or right-to-left are shown as what they are."""

from __future__ import annotations

import re

import pytest

from tests.hostile.conftest import HOSTILE, page, rendered
from tests.pages.conftest import chart_data, text_of

# Letters that turn the line round, hide, or ring a bell: nowhere, not even in a table or chart.
INVISIBLE = "\u202e\u200f\u2066\u0007\ufeff"
PUNCTUATED = [word for word in HOSTILE if len(word) > 1 and not set(word) & set(INVISIBLE)]
BATCHES = [HOSTILE[start : start + 11] for start in range(0, len(HOSTILE), 11)]


def unescaped(text: str) -> str:
    """The text with every mark that a backslash makes harmless taken out, joiners as well."""
    return re.sub(r"\\[!-/:-@\[-`{-~]", "", text).replace("\u2060", "")


@pytest.mark.parametrize("name", ["next_token", "layers", "is_it_tied", "home", "embedding_share"])
@pytest.mark.parametrize("batch", range(len(BATCHES)))
def test_no_page_takes_a_token_for_anything_but_text(open_hostile, name, batch):
    prompt = " ".join(BATCHES[batch])
    watch = BATCHES[batch][0]
    app = page(name, model=open_hostile, prompt=prompt, watch=watch, pos="1")
    assert not app.exception, app.exception
    texts = rendered(app)
    assert len(texts) > 10
    for kind, text in texts:
        harmless = unescaped(text)
        found = [word for word in PUNCTUATED if word in harmless]
        # our own words and formats hold one of these here and there, and nothing else
        assert set(found) <= {"--", "->", "1.", "%s"}, (kind, text)
        assert not set(text) & set(INVISIBLE), (kind, text)


def test_the_tokens_were_there_to_be_taken(open_hostile):
    """Else the test above would pass on an empty page."""
    app = page("next_token", model=open_hostile, prompt="<b>x</b> $x^2$ *a*")
    said = text_of(app)
    assert "<b>x</b>" in said and "$x^2$" in said and "*a*" in said
    shown = set(app.dataframe[0].value["text"])
    assert len(shown) == 10 and any(set(word) & set("<*$[:|`&_~#") for word in shown)
    app = page("layers", model=open_hostile, prompt="<b>x</b> $x^2$", watch="*a*")
    assert "position 1 ($x^2$)" in text_of(app)
    assert not app.error


@pytest.mark.parametrize("name", ["next_token", "layers"])
def test_tables_and_charts_hold_no_letter_that_turns_the_line(open_hostile, name):
    for batch in BATCHES:
        app = page(name, model=open_hostile, prompt=" ".join(batch))
        frames = [each.value for each in app.dataframe] + [chart_data(app)[0]]
        for frame in frames:
            # the piece is for the export and stands in no column that is drawn
            for column in frame.select_dtypes(exclude="number").columns.difference(["piece"]):
                assert not set("".join(map(str, frame[column]))) & set(INVISIBLE), column


def test_a_turned_token_is_named(open_hostile):
    app = page("next_token", model=open_hostile, prompt="the \u202eabc")
    assert "U+202Eabc" in text_of(app)
