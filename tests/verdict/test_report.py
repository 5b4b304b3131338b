"""The report that people paste into issues."""

import pytest

from tests.verdict.conftest import DELETE
from tiedviz.verdict.audit import Audit
from tiedviz.verdict.record import audit_record
from tiedviz.verdict.report import markdown_report, short_name


def report_on(saved, name="/home/somebody/models/mine"):
    return markdown_report(audit_record(Audit(*saved.hear(), model=name)))


def test_a_report_says_all_that_was_heard(checkpoint):
    report = report_on(checkpoint(True).add_head(lambda e: e + 1))
    assert report.startswith("### mine: contradiction\n")
    assert "(50 of 50 rows differ)" in report
    assert "| declared | tied | config.json: tie_word_embeddings |" in report
    assert "| stored | two copies |" in report and "| measured | not heard |" in report
    assert "* Advice: Loaders disagree" in report
    assert "`tie_weights()` and `resize_token_embeddings()`" in report
    assert "* Not heard: loaded, measured" in report
    assert "* 6,800 parameters, counted from headers" in report
    assert "`python -m tiedviz audit mine`" in report


def test_a_report_shows_nobody_the_folders_of_a_machine(checkpoint):
    report = report_on(checkpoint(True))
    assert "somebody" not in report


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        ("org/name", "org/name"),
        ("org/name@main", "org/name@main"),
        ("smollm2", "smollm2"),
        ("/a/b/model.gguf", "model.gguf"),
        ("~/b", "b"),
        ("./b/", "b"),
        ("C:\\x\\b", "b"),
        ("/", "/"),
    ],
)
def test_the_name_of_a_model(model, shown):
    assert short_name(model) == shown


def test_each_cause_is_said_once(checkpoint):
    report = report_on(checkpoint(True).flag(DELETE))
    assert report.count("tied by hand") == 1
    assert "* Or: The flag was set to false" in report


HOSTILE = "wte <img src=x> *a* `b` [c](d) | e\nf\u202e#1.weight"


def test_a_strangers_names_make_no_markdown(checkpoint):
    def rename(tensors):
        tensors[HOSTILE] = tensors.pop("model.embed_tokens.weight")

    saved = checkpoint(True).edit(rename)
    report = report_on(saved, HOSTILE)
    [row] = [line for line in report.splitlines() if line.startswith("| stored |")]
    assert row.replace("\\|", "").count("|") == 4
    for mark in ("<img", " *a*", "[c]", "\u202e"):
        assert mark not in report.replace("\\" + mark.strip()[0], "")
    assert "audit" not in report  # no command could be pasted with such a name
