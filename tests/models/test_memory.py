"""How much memory is free, in a container and outside."""

from __future__ import annotations

import psutil
import pytest

from tiedviz.models import memory
from tiedviz.models.memory import HEADROOM, available_memory, memory_budget, require_memory
from tiedviz.words.refusals.opening import OpeningRefusal


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


def test_the_older_kind_of_container_counts_too(tmp_path, monkeypatch):
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/memory.limit_in_bytes").write_text("1000000\n")
    (tmp_path / "memory/memory.usage_in_bytes").write_text("900000\n")
    (tmp_path / "memory/memory.stat").write_text("inactive_file 1\ntotal_inactive_file 50000\n")
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    assert available_memory() == 150_000 and memory.total_memory() == 1_000_000


def test_a_container_without_a_limit_of_the_older_kind_says_a_number_beyond_any(container):
    container(str(2**63 - 4096), 5, 0)
    assert memory.total_memory() == psutil.virtual_memory().total


@pytest.mark.parametrize("limit", [4_000_000, 4_000_000_000])
def test_the_budget_is_a_part_of_what_the_container_may_use(container, monkeypatch, limit):
    monkeypatch.delenv("TIEDVIZ_MODEL_MEMORY", raising=False)
    host = psutil.virtual_memory()._replace(total=32_000_000_000, available=30_000_000_000)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: host)
    container(str(limit), 1_000_000, 0)
    assert memory_budget() == int(0.6 * limit)
    assert available_memory() == limit - 1_000_000  # the same source as the free memory


def test_without_a_container_the_budget_is_a_part_of_the_machine(tmp_path, monkeypatch):
    monkeypatch.delenv("TIEDVIZ_MODEL_MEMORY", raising=False)
    monkeypatch.setattr(memory, "_CGROUP", tmp_path / "none")
    assert memory_budget() == int(0.6 * psutil.virtual_memory().total)


def test_what_fits_is_not_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: HEADROOM + 100)
    require_memory("Tiny", 100)


def test_one_byte_more_is_refused_with_both_numbers(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: HEADROOM + 100_000_000)
    with pytest.raises(OpeningRefusal, match="does not fit in memory") as refusal:
        require_memory("Tiny", 100_000_001)
    assert refusal.value.what.startswith("Tiny")
    assert "500 MB" in refusal.value.why


def test_the_refusal_names_what_is_needed_and_what_is_free(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2_000_000)
    with pytest.raises(OpeningRefusal, match=r"needs 900 MB and 2 MB are free"):
        require_memory("Tiny", 500_000_000)


def test_the_budget_can_be_set_from_outside(monkeypatch):
    monkeypatch.setenv("TIEDVIZ_MODEL_MEMORY", "2e9")
    assert memory_budget() == 2_000_000_000


def test_without_a_word_it_is_a_part_of_the_machine(monkeypatch):
    monkeypatch.delenv("TIEDVIZ_MODEL_MEMORY", raising=False)
    assert 0 < memory_budget() < psutil.virtual_memory().total


@pytest.mark.parametrize("chosen", ["lots", "8 GB", "nan", "inf"])
def test_a_budget_that_is_no_number_is_refused_in_words(monkeypatch, chosen):
    monkeypatch.setenv("TIEDVIZ_MODEL_MEMORY", chosen)
    with pytest.raises(OpeningRefusal, match=chosen):
        memory_budget()
