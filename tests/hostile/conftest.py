"""A model whose tokens are made to be taken for something else, and its pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.conftest import ROOT
from tests.tiny_models import randomise

# HTML, Markdown, LaTeX, Streamlit's own marks, and letters that turn the line round.
HOSTILE = (
    *("<b>x</b>", "<script>alert(1)</script>", "<img/src=x>", "&lt;", "*a*", "**b**", "_c_", "~d~"),
    *("`e`", "$x^2$", "$$y$$", "[l](u)", "![i](https://example.org/i.png)", ":red[x]", ":smile:"),
    *(":material/home:", "#h", "|", "\\", "--", "->", "\u202eabc", "\u200f", "\u2066z", "\u0007"),
    *("https://example.org", "www.example.org", "1.", "\u0301", "\ufeff", "{x}", "%s", "'\""),
)


@pytest.fixture(scope="session")
def hostile_folder(tmp_path_factory) -> Path:
    """A tiny tied Llama with these words for tokens, which spaces separate."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    from tiedviz.models.building import building

    words = {word: id for id, word in enumerate(("<unk>", "the", *HOSTILE))}
    tokenizer = Tokenizer(WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    with building():
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(words),
                hidden_size=16,
                intermediate_size=32,
                num_hidden_layers=2,
                num_attention_heads=2,
                num_key_value_heads=2,
                tie_word_embeddings=True,
            )
        )
    randomise(model)
    folder = tmp_path_factory.mktemp("hostile") / "tokens"
    model.save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>").save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def open_hostile(hostile_folder) -> str:
    """Its name, with the model open for all tests of a file."""
    from tiedviz.ui.caches import model_pool

    st.cache_data.clear()
    st.cache_resource.clear()
    opening = model_pool().open(str(hostile_folder))
    assert opening.wait(120) and opening.refusal is None
    return str(hostile_folder)


def page(name: str, **parameters: str) -> AppTest:
    """The page behind a link, on a session of its own; what is open stays open."""
    app = AppTest.from_file(ROOT / "tiedviz/main.py", default_timeout=60)
    # the page first, then its link: a switch forgets the link
    app.switch_page(f"../pages/{name}.py")
    for key, value in parameters.items():
        app.query_params[key] = value
    return app.run()


# Parts of the page that print what they hold as it stands: boxes, code, tables, charts, links.
_PLAIN = ("text_input", "text_area", "code", "selectbox", "multiselect", "dataframe")
_PLAIN += ("vega_lite_chart", "download_button", "table", "json")


def rendered(app: AppTest) -> list[tuple[str, str]]:
    """(kind, text) of everything on the page that is rendered as Markdown or HTML."""
    return list(_walk(app._tree))


def _walk(node) -> Iterator[tuple[str, str]]:
    if getattr(node, "proto", None) is not None and node.type not in _PLAIN:
        yield from ((node.type, text) for text in _strings(node.proto))
    for child in getattr(node, "children", {}).values():
        yield from _walk(child)


def _strings(proto) -> Iterator[str]:
    for field, value in proto.ListFields():
        for each in value if isinstance(value, (list, tuple)) or _repeated(field) else [value]:
            if isinstance(each, str) and field.name not in ("id", "default", "query_param_key"):
                yield each
            elif hasattr(each, "ListFields"):
                yield from _strings(each)


def _repeated(field) -> bool:
    return bool(field.is_repeated)
