"""How much memory is free, in a container and outside."""

from __future__ import annotations

import psutil
import pytest

from tiedviz.models import memory
from tiedviz.models.memory import HEADROOM, available_memory, require_memory
from tiedviz.words.refusals.opening import TooLittleMemory


@pytest.fixture
def container(tmp_path, monkeypatch):
    """The three files by which a container says how much it may use."""

    def write(limit: str, used: int, cached: int) -> None:
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        (tmp_path / "memory.current").write_text(f"{used}\n")
        (tmp_path / "memory.stat").write_text(f"anon 5\ninactive_file {cached}\nslab 3\n")
        monkeypatch.setattr(memory, "_CGROUP", tmp_path)

    return write


def test_outside_a_container_it_is_what_the_machine_has(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_CGROUP", tmp_path / "none")
    assert 0 < available_memory() <= psutil.virtual_memory().total


def test_in_a_container_the_limit_counts_and_cached_files_are_given_back(container):
    container("1000000", 900_000, 50_000)
    assert available_memory() == 150_000


def test_a_container_that_is_full_has_nothing_left_and_not_less(container):
    container("1000", 5000, 0)
    assert available_memory() == 0


def test_a_container_without_a_limit_is_like_none(container):
    container("max", 5, 0)
    assert available_memory() > 1_000_000


def test_a_limit_that_cannot_be_read_is_like_none(container):
    container("a great deal", 5, 0)
    assert available_memory() > 1_000_000


def test_what_fits_is_not_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: HEADROOM + 100)
    require_memory("Tiny", 100)


def test_one_byte_more_is_refused_with_both_numbers(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: HEADROOM + 100_000_000)
    with pytest.raises(TooLittleMemory) as refusal:
        require_memory("Tiny", 100_000_001)
    assert refusal.value.what.startswith("Tiny")
    assert "500 MB" in refusal.value.why


def test_the_refusal_names_what_is_needed_and_what_is_free(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2_000_000)
    with pytest.raises(TooLittleMemory, match=r"needs 900 MB and 2 MB are free"):
        require_memory("Tiny", 500_000_000)
