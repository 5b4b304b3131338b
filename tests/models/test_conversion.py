"""A `.gguf` file becomes a folder, in a process of its own, or nothing at all."""

from __future__ import annotations

import pytest

from tests.tiny_gguf import write_gguf
from tiedviz.models import conversion, memory
from tiedviz.models.conversion import convert, converted_folder
from tiedviz.words.refusals.opening import OpeningRefusal


class Stopped(Exception):
    """Somebody pressed Cancel."""


@pytest.fixture
def garbage(tmp_path, empty_cache):
    file = tmp_path / "garbage.gguf"
    file.write_bytes(b"this is no model at all" * 10)
    return file


def ask(file, **changes):
    settings = {"title": "Tiny", "weights": 1, "memory": 1, "identity": None}
    return convert(file, **settings | changes)


def files_in(cache) -> list[str]:
    return [str(path) for path in cache.rglob("*") if path.suffix != ".lock" and path.is_file()]


def test_a_file_that_is_no_model_is_refused_in_the_librarys_words_and_nothing_is_kept(
    garbage, empty_cache
):
    with pytest.raises(OpeningRefusal, match="could not be converted") as refusal:
        ask(garbage)
    assert refusal.value.what.startswith("garbage.gguf")
    assert "without a word" not in refusal.value.why
    assert files_in(empty_cache) == []
    assert not converted_folder(garbage).exists()


def test_whoever_stops_it_finds_nothing_left(garbage, empty_cache):
    def stop(stage):
        raise Stopped

    with pytest.raises(Stopped):
        ask(garbage, report=stop)
    assert files_in(empty_cache) == []


def test_too_little_memory_is_refused_with_both_numbers_before_anything_starts(
    garbage, empty_cache, monkeypatch
):
    monkeypatch.setattr(memory, "available_memory", lambda: 700_000_000)
    stages = []
    with pytest.raises(OpeningRefusal, match="does not fit in memory") as refusal:
        ask(garbage, memory=600_000_000, report=stages.append)
    assert "1.00 GB" in refusal.value.why and "700 MB" in refusal.value.why
    assert stages == [] and not empty_cache.exists()


def test_what_is_converted_already_is_not_converted_again(garbage, monkeypatch):
    target = converted_folder(garbage)
    target.mkdir(parents=True)
    monkeypatch.setattr(memory, "available_memory", lambda: 0)
    assert ask(garbage) == target


def test_a_file_that_was_replaced_is_another_entry(garbage):
    before = converted_folder(garbage)
    garbage.write_bytes(b"something else")
    assert converted_folder(garbage) != before


def test_a_known_hash_names_the_entry_wherever_the_file_lies(tmp_path, empty_cache):
    one, other = tmp_path / "a" / "x.gguf", tmp_path / "b" / "x.gguf"
    assert converted_folder(one, "f" * 64) == converted_folder(other, "f" * 64)
    assert converted_folder(one, "f" * 64) != converted_folder(one, "e" * 64)


def test_the_converters_lines_become_steps():
    stages = []
    followed = conversion._Followed(stages.append)
    for line in (
        "stage read",
        "Loading: 40%|####  | 12/272 [00:01<00:20]",
        "stage x",
        "stage write",
    ):
        followed.line(line)
    assert [stage.name for stage in stages] == [
        "Starting the converter",
        "Reading",
        "Converting",
        "Writing",
    ]
    assert (stages[2].done, stages[2].total) == (12, 272)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("stage read", "failed the file is short.", ""), "the file is short"),
        (("failed at once", "a warning printed at the very end"), "at once"),
        (("stage read",), ""),
        ((), ""),
    ],
)
def test_the_reason_is_the_line_in_which_the_converter_gives_one(lines, said):
    assert conversion._said(lines, "failed ") == said


def test_a_converter_that_was_killed_is_said_to_have_been():
    assert (
        "killed"
        in OpeningRefusal.conversion_failed(
            "x.gguf", conversion._said(("stage read",), "failed ")
        ).why
    )


def test_a_small_llama_as_gguf_opens_as_the_numbers_it_was_written_with(
    tmp_path, empty_cache, tiny_tokenizer
):
    file = tmp_path / "small.gguf"
    embedding = write_gguf(file, tiny_tokenizer)
    stages = []
    folder = ask(file, report=stages.append)
    assert {stage.name for stage in stages} >= {"Reading", "Writing", "Converting the tokenizer"}
    import torch
    from safetensors.torch import load_file

    stored = load_file(folder / "model.safetensors")
    assert torch.equal(stored["model.embed_tokens.weight"], torch.from_numpy(embedding))
    assert "lm_head.weight" not in stored
    assert sorted(path.name for path in empty_cache.glob("converted/*") if path.is_dir()) == [
        folder.name
    ]
