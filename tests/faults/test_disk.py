"""A full disk, a cache that may not be written to, a cache that is taken away."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess

import pytest

from tests.hub.conftest import hub
from tests.tiny_gguf import write_gguf
from tiedviz.models.cache import made_once
from tiedviz.models.conversion import convert, converted_folder
from tiedviz.models.progress import Stage
from tiedviz.models.wheels import fetch
from tiedviz.words.refusals.opening import DiskFull, OpeningRefusal

__all__ = ["hub"]  # a fixture


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 kB where this user may mount one, else None."""
    at = tmp_path / "disk"
    at.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(at)]
    mounted = shutil.which("mount") and subprocess.run(command, capture_output=True).returncode == 0
    yield at if mounted else None
    if mounted:
        subprocess.run(["umount", str(at)], check=True)


def _no_large_file() -> None:
    """What a full disk does to whoever writes, for a process that may not mount one."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


@pytest.mark.case(64)
def test_a_disk_that_fills_up_on_the_way_is_said_to_be_full(tmp_path, small_disk):
    """For case 64: there was room when it was asked about, and somebody else took it."""
    if small_disk is not None:
        with pytest.raises(DiskFull) as refusal, made_once(small_disk / "entry") as folder:
            (folder / "x").write_bytes(bytes(1_000_000))
        assert list(small_disk.glob("entry*")) == [small_disk / "entry.lock"]
    else:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            with pytest.raises(DiskFull) as refusal, made_once(tmp_path / "entry") as folder:
                (folder / "x").write_bytes(bytes(1_000_000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert not (tmp_path / "entry").exists()
    assert "full" in refusal.value.what and "TIEDVIZ_CACHE" in refusal.value.remedy


@pytest.mark.case(64)
@pytest.mark.parametrize("noticed", ["before", "on the way"])
def test_case_64_a_hub_cache_on_a_full_disk(hub, tiny_folder, small_disk, monkeypatch, noticed):
    from tiedviz.models import hub_download
    from tiedviz.models.loading import load

    if small_disk is None:
        pytest.skip("needs a disk of 64 kB")
    hub.repositories["org/tiny"] = tiny_folder(hidden_size=64, intermediate_size=512)
    monkeypatch.setenv("HF_HOME", str(small_disk))
    if noticed == "on the way":
        monkeypatch.setattr(hub_download, "require_disk", lambda *_: None)
    with pytest.raises(OpeningRefusal) as refusal:
        load("org/tiny")
    assert isinstance(refusal.value, DiskFull) is (noticed == "on the way")
    assert ("does not fit on the disk" in refusal.value.what) is (noticed == "before")
    assert "disk" in str(refusal.value).lower()
    numbers = r"needs [\d.]+ [kM]B .*and \d\d kB are free"  # 64 kB, less what came before it
    assert re.search(numbers, refusal.value.why), refusal.value.why


def test_a_disk_that_fills_up_under_the_converter_is_said_to_be_full_with_both_numbers(
    tmp_path, small_disk, tiny_tokenizer, monkeypatch
):
    """The converter is another process, whose libraries wrap what the system said."""
    file = tmp_path / "tiny.gguf"
    write_gguf(file, tiny_tokenizer)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    monkeypatch.setenv("TIEDVIZ_CACHE", str((small_disk or tmp_path) / "cache"))
    if small_disk is not None:
        (small_disk / "filler").write_bytes(bytes(44_000))
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(DiskFull) as refusal:
            convert(file, title="Tiny", weights=16_000, memory=1, identity=None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert refusal.value.why.startswith("it needs 16 kB there and ")
    if small_disk is not None:
        assert re.search(r"and (1\d|2[01]) kB are free", refusal.value.why), refusal.value.why
    assert list(converted_folder(file).parent.glob("*.part*")) == []


def test_a_fetch_onto_a_full_disk_is_refused_and_works_once_there_is_room(
    published, tmp_path, small_disk
):
    shelf = published((small_disk or tmp_path) / "cache")
    if small_disk is not None:  # so little room that it is not even begun
        (small_disk / "filler").write_bytes(bytes(48_000))
        status, said = shelf.run("fetch")
        assert "refused OpeningRefusal" in said and "does not fit on the disk" in said
    else:
        status, said = shelf.run("fetch", preexec_fn=_no_large_file)
        assert "refused" in said and "too large" in said.lower()
    assert status == 0
    assert shelf.entries() == [] and shelf.left_over() == []
    elsewhere = published(tmp_path / "another disk")
    assert elsewhere.run("fetch", "Reading", "1")[1].splitlines()[-1] == "Reading"
    elsewhere.check()


def test_a_cache_of_somebody_else_is_refused_in_words(published, tmp_path, monkeypatch):
    """Readable, and not to be written to; nothing is closed to root, so a child is nobody."""
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(0o555)
    shelf = published(cache)
    for name, value in shelf.environment.items():
        monkeypatch.setenv(name, value)
    for folder in (tmp_path, *tmp_path.parents[:3]):  # pytest makes them for one user alone
        if folder.owner() == tmp_path.owner():
            folder.chmod(folder.stat().st_mode | 0o055)
    child = os.fork()
    if not child:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        _end_with_what_is_said_of(lambda: fetch(shelf.model))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == _CODES.index(
        "The cache folder cannot be written to"
    )
    assert list(cache.iterdir()) == []
    cache.chmod(0o755)


_CODES = ("nothing", "The cache folder cannot be written to")


def _end_with_what_is_said_of(work) -> None:
    """End this process with the code of what `work` raised; 99 for anything else."""
    said = "nothing"
    try:
        work()
    except BaseException as error:
        said = getattr(error, "what", "a fault")
    os._exit(_CODES.index(said) if said in _CODES else 99)


@pytest.mark.parametrize("stage", ["Fetching", "Checking"])
def test_a_cache_that_is_taken_away_on_the_way_ends_in_words_or_comes_again(
    published, tmp_path, monkeypatch, stage
):
    shelf = published(tmp_path / "cache")
    for name, value in shelf.environment.items():
        monkeypatch.setenv(name, value)
    taken = []

    def take_away(reached: Stage) -> None:
        if reached.name == stage and not taken:
            taken.append(stage)
            shutil.rmtree(shelf.cache)

    try:
        fetch(shelf.model, take_away)
    except OpeningRefusal as refusal:
        assert re.search("cannot be written to|could not be fetched", refusal.what)
    assert taken == [stage]
    assert fetch(shelf.model).is_file()  # the next time it comes
    assert shelf.left_over() == []
    shelf.check()
