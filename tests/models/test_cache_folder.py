"""A cache entry comes into being whole, once, or not at all."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections import namedtuple
from pathlib import Path

import pytest

from tiedviz.models.cache import cache_root, entry, made_once, require_disk
from tiedviz.words.refusals.opening import OpeningRefusal

_Usage = namedtuple("_Usage", "total used free")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.endswith(".lock")}


def test_the_cache_lies_where_the_environment_says(monkeypatch):
    monkeypatch.setenv("TIEDVIZ_CACHE", "~/elsewhere")
    assert cache_root() == Path.home() / "elsewhere"
    assert entry("shelf", "x") == Path.home() / "elsewhere" / "shelf" / "x"


def test_without_a_word_from_the_environment_it_is_the_platforms_cache(monkeypatch):
    monkeypatch.delenv("TIEDVIZ_CACHE", raising=False)
    assert "tiedviz" in cache_root().name.lower()
    assert Path.home() in cache_root().parents


def test_asking_where_an_entry_lies_makes_no_folder(empty_cache):
    entry("shelf", "x")
    assert not empty_cache.exists()


def test_what_was_put_into_the_folder_is_there_when_the_block_has_ended(tmp_path):
    target = tmp_path / "a" / "entry"
    with made_once(target) as folder:
        (folder / "x").write_text("1")
        assert not target.exists()
    assert (target / "x").read_text() == "1"
    assert names(target.parent) == {"entry"}


def test_a_second_maker_is_told_that_it_is_there(tmp_path):
    with made_once(tmp_path / "entry"):
        pass
    with made_once(tmp_path / "entry") as folder:
        assert folder is None


def test_an_error_leaves_nothing_behind_and_goes_on(tmp_path):
    with pytest.raises(ZeroDivisionError), made_once(tmp_path / "entry") as folder:
        (folder / "half").write_text("1")
        raise ZeroDivisionError
    assert names(tmp_path) == set()


def test_after_an_error_it_can_be_tried_again(tmp_path):
    with pytest.raises(ZeroDivisionError), made_once(tmp_path / "entry"):
        raise ZeroDivisionError
    with made_once(tmp_path / "entry") as folder:
        assert folder is not None
    assert names(tmp_path) == {"entry"}


def test_what_a_killed_process_left_is_no_part_of_the_new_entry(tmp_path):
    (tmp_path / "entry.part" / "deep").mkdir(parents=True)
    (tmp_path / "entry.part" / "half").write_text("1")
    with made_once(tmp_path / "entry") as folder:
        assert list(folder.iterdir()) == []
    assert names(tmp_path) == {"entry"}


def test_of_eight_threads_one_makes_the_entry(tmp_path):
    made: list[Path] = []
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        with made_once(tmp_path / "entry") as folder:
            if folder is not None:
                made.append(folder)
                (folder / "x").write_text("1")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert (tmp_path / "entry" / "x").read_text() == "1"


_MAKER = """
import sys, time
from pathlib import Path
from tiedviz.models.cache import made_once
with made_once(Path(sys.argv[1])) as folder:
    if folder is not None:
        (folder / "x").write_text("1")
        time.sleep(0.5)
        print("made")
"""


def test_of_two_processes_one_makes_the_entry(tmp_path):
    command = [sys.executable, "-c", _MAKER, str(tmp_path / "entry")]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
        for _ in range(2)
    ]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert sorted(said) == ["", "made\n"]
    assert [process.returncode for process in running] == [0, 0]


def test_whoever_waits_for_another_can_stop_waiting(tmp_path):
    with made_once(tmp_path / "entry"):
        seen = []

        def wait() -> None:
            def give_up() -> None:
                seen.append("asked")
                raise TimeoutError

            with pytest.raises(TimeoutError), made_once(tmp_path / "entry", give_up):
                seen.append("in")

        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()
    assert seen == ["asked"]


def test_a_file_where_the_cache_should_be_is_refused(tmp_path):
    (tmp_path / "cache").write_text("not a folder")
    with (
        pytest.raises(OpeningRefusal, match="The cache folder cannot be written to"),
        made_once(tmp_path / "cache" / "shelf" / "entry"),
    ):
        pytest.fail("nothing can be made there")


def test_a_file_where_the_entry_should_be_is_refused(tmp_path):
    (tmp_path / "entry").write_text("not a folder")
    with (
        pytest.raises(OpeningRefusal, match="The cache folder cannot be written to"),
        made_once(tmp_path / "entry") as folder,
    ):
        (folder / "x").write_text("1")
    assert (tmp_path / "entry").read_text() == "not a folder"
    assert names(tmp_path) == {"entry"}


def test_what_goes_wrong_while_it_is_filled_is_not_blamed_on_the_cache(tmp_path):
    with pytest.raises(FileNotFoundError), made_once(tmp_path / "entry") as folder:
        (folder / "no" / "such").read_text()


def test_enough_room_on_the_disk_is_no_refusal(empty_cache):
    require_disk("tiny", 1)
    assert not empty_cache.exists()


@pytest.mark.case(64)
def test_too_little_room_on_the_disk_is_refused_with_both_numbers(empty_cache, monkeypatch):
    """For case 64."""
    asked = []

    def usage(path):
        asked.append(Path(path))
        return _Usage(10, 0, 5_000_000)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    with pytest.raises(OpeningRefusal, match="does not fit on the disk") as refusal:
        require_disk("tiny", 93_000_000)
    assert "93 MB" in refusal.value.why and "5 MB" in refusal.value.why
    assert asked == [empty_cache.parent]  # the nearest folder that exists


def test_the_folder_of_the_test_really_is_on_a_disk(tmp_path):
    assert shutil.disk_usage(tmp_path).free > 0
