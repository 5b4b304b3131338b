"""The lines that are shown for a repair do what they say, when somebody runs them."""

import json

import pytest

from tests.verdict.conftest import DELETE
from tiedviz.words.repairs import repair_for


def run(code, folder):
    fixed = folder.parent / "fixed"
    exec(code.replace("FOLDER", str(folder)).replace("FIXED", str(fixed)), {})
    return fixed


@pytest.mark.parametrize(
    ("spoil", "before", "after"),
    [
        (lambda saved: saved.flag(False), "broken", "tied"),
        (lambda saved: saved.flag(DELETE), "broken", "tied"),
        (lambda saved: saved.add_head(lambda e: e + 1), "contradiction", "untied"),
    ],
)
def test_setting_the_flag_mends_it(checkpoint, spoil, before, after):
    saved = checkpoint(True)
    spoil(saved)
    assert saved.verdict().word == before
    declared, _ = saved.hear()
    run(repair_for(before, declared.path, tied=declared.tied), saved.folder)
    assert saved.verdict().word == after


@pytest.mark.parametrize("text_config", [{}, {"hidden_size": 16}, None])
def test_a_flag_inside_a_part_is_written_there_even_where_the_part_lacks(tmp_path, text_config):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({} if text_config is None else {"text_config": text_config}))
    run(repair_for("broken", "text_config.tie_word_embeddings"), tmp_path)
    part = json.loads(path.read_text())["text_config"]
    assert part == (text_config or {}) | {"tie_word_embeddings": True}


@pytest.mark.parametrize("tie", [True, False])
def test_a_second_copy_goes_and_the_flag_says_so(checkpoint, tiny_tokenizer, tie):
    saved = checkpoint(True).add_head(lambda e: e).flag(tie)
    tiny_tokenizer.save_pretrained(saved.folder)
    declared, _ = saved.hear()
    fixed = run(repair_for("twin", declared.path, tied=declared.tied), saved.folder)
    saved.folder = fixed
    assert saved.verdict().word == "tied"
    assert saved.hear()[1].head is None


@pytest.mark.parametrize("path", ["tie_word_embeddings", "text_config.tie_word_embeddings", ""])
@pytest.mark.parametrize("word", ["twin", "near_twin", "contradiction", "broken"])
@pytest.mark.parametrize("tied", [True, False, None])
def test_no_line_does_nothing(word, path, tied):
    code = repair_for(word, path, tied=tied)
    compile(code, "shown", "exec")
    assert "[]" not in code and "['']" not in code
    assert bool(code) is (bool(path) or (word == "twin" and tied is True))


@pytest.mark.parametrize("word", ["tied", "untied", "no_head", "cannot_tell"])
def test_what_is_whole_needs_no_repair(word):
    assert repair_for(word, "tie_word_embeddings", tied=True) == ""
