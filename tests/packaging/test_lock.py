"""What is installed is locked: one exact version of each package, as the ranges allow."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
APP = PROJECT["dependencies"] + EXTRAS["app"]
DEV = [line for line in EXTRAS["dev"] if not line.startswith("tiedviz")]


def locked(name: str) -> dict[str, list[tuple[Requirement, str]]]:
    """Package → its lines (one for each marker) and who needs it."""
    found: dict[str, list[tuple[Requirement, str]]] = {}
    for line in (ROOT / name).read_text().splitlines():
        if not line.startswith("#"):
            text, _, via = line.partition("# via ")
            requirement = Requirement(text)
            found.setdefault(canonicalize_name(requirement.name), []).append((requirement, via))
    return found


LOCKS = [("requirements.txt", APP), ("requirements-dev.txt", APP + DEV)]


@pytest.mark.parametrize(("name", "ranges"), LOCKS)
def test_the_lock_and_the_ranges_agree(name, ranges):
    lock = locked(name)
    for text in ranges:
        wanted = Requirement(text)
        lines = lock.get(canonicalize_name(wanted.name), [])
        assert lines, f"{text} is not in {name}: run .ci/lock"
        for line, via in lines:
            [pin] = line.specifier
            assert pin.version in wanted.specifier, f"{line} is not {text}: run .ci/lock"
            assert "tiedviz" in via, f"{name} does not know that we ask for {wanted.name}"
    asked = {canonicalize_name(Requirement(text).name) for text in ranges}
    ours = {package for package, lines in lock.items() if any("tiedviz" in via for _, via in lines)}
    assert ours == asked, "run .ci/lock"


@pytest.mark.parametrize(("name", "ranges"), LOCKS)
def test_each_line_is_one_exact_version_with_who_needs_it(name, ranges):
    for lines in locked(name).values():
        for line, via in lines:
            assert [pin.operator for pin in line.specifier] == ["=="] and via, line
            assert not re.match(r"nvidia|cuda|triton", line.name)


def test_the_app_is_locked_alike_in_both_files():
    dev = locked("requirements-dev.txt")
    for package, lines in locked("requirements.txt").items():
        assert [str(line) for line, _ in dev[package]] == [str(line) for line, _ in lines]


def test_readme_and_project_name_the_same_pythons():
    first, after = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["requires-python"]).groups()
    assert f"Python 3.{first} to 3.{int(after) - 1}" in (ROOT / "README.md").read_text()
