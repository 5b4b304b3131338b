import pytest

from tiedviz.files import config
from tiedviz.files.config import parse_object, read_object
from tiedviz.words.refusals.file import BrokenJson, FileRefusal


def test_an_object_comes_back():
    assert parse_object(b'{"a": [1, 2]}', "x.json") == {"a": [1, 2]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b'{\n  "a": 1,\n  "b" 2\n}', "line 3, column 7: Expecting ':' delimiter"),
        (b'{"a": 1,}', "line 1, column 9"),
        (b"[1, 2]", "an object in {} was expected, not a list"),
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (b'{\n"a": "\xff"}', "line 2, column 7: it is not UTF-8"),
        (b"null", "not a NoneType"),
    ],
)
def test_broken_json_is_refused_with_its_place(text, says):
    with pytest.raises(BrokenJson) as refusal:
        parse_object(text, "config.json")
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b'{"a":' + b"[" * 10_000,
        b'{"a": ' + b"9" * 10_000 + b"}",
    ],
)
def test_json_made_to_break_a_parser_is_refused(text):
    with pytest.raises(FileRefusal, match="not one that a model needs"):
        parse_object(text, "config.json")


def test_text_that_would_take_far_more_memory_than_bytes_is_refused_unparsed(monkeypatch):
    monkeypatch.setattr(config, "MAX_PARTS", 1000)
    monkeypatch.setattr(config.json, "loads", lambda _: pytest.fail("it was parsed"))
    with pytest.raises(FileRefusal, match="1,000 parts"):
        parse_object(b'{"a":[' + b"[]," * 1000 + b"0]}", "x.json")


def test_a_file_over_its_limit_is_not_read(build):
    path = build.file("x.json", b"{}" + b" " * 100)
    assert read_object(path, 200) == {}
    with pytest.raises(FileRefusal, match="102 bytes, and no more than 100"):
        read_object(path, 100)


@pytest.mark.parametrize(
    ("content", "refusal"),
    [
        (b"", "the download did not finish"),
        (b"version https://git-lfs.github.com/spec/v1\nsize 7\n", "Git LFS pointer"),
        (b"<!doctype html>", "this is a web page"),
    ],
)
def test_a_file_that_is_something_else_is_named(build, content, refusal):
    with pytest.raises(FileRefusal, match=refusal):
        read_object(build.file("config.json", content), 1000)
