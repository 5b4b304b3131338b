"""The README says what there is: pages, commands, options, settings."""

import argparse
import ast
import re

import pytest

from tests.conftest import ROOT
from tiedviz.commands.line import _COMMANDS, _parser

README = (ROOT / "README.md").read_text()


def pages():
    """Titles in the router, read without running it."""
    tree = ast.parse((ROOT / "tiedviz/main.py").read_text())
    [table] = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "_PAGES"
    ]
    return list(ast.literal_eval(table))


def options(name):
    """The long options of a command."""
    subparsers = next(
        action
        for action in _parser([name])._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    actions = subparsers.choices[name]._actions
    return [text for action in actions for text in action.option_strings if text.startswith("--")]


@pytest.mark.parametrize(("stem", "title"), pages())
def test_every_page_has_a_file_and_a_row(stem, title):
    assert (ROOT / f"pages/{stem}.py").is_file()
    assert re.search(rf"^\| {re.escape(title)} \|", README, re.M)


@pytest.mark.parametrize(("stem", "title"), pages())
def test_every_page_has_a_picture_that_the_script_takes(stem, title):
    assert f"![{title}](docs/{stem}.png)" in README
    assert (ROOT / f"docs/{stem}.png").is_file()
    assert f'    "{stem}": ' in (ROOT / "docs/screenshots.py").read_text()


def test_every_page_file_is_in_the_router():
    assert {path.stem for path in (ROOT / "pages").glob("*.py")} == {stem for stem, _ in pages()}


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_has_a_row_that_names_its_options(name):
    row = next((line for line in README.splitlines() if line.startswith(f"| `{name}")), "")
    assert row, name
    for option in options(name):
        assert option in row or option in ("--json", "--help"), (name, option)


@pytest.mark.parametrize("name", _COMMANDS)
def test_a_row_names_no_option_that_its_command_does_not_have(name):
    [row] = [line for line in README.splitlines() if line.startswith(f"| `{name} ")]
    assert set(re.findall(r"--[a-z-]+", row)) <= set(options(name))


def test_every_folder_of_the_package_is_named():
    folders = {path.parent.name for path in (ROOT / "tiedviz").glob("*/__init__.py")}
    assert folders
    assert not {name for name in folders if f"| `tiedviz/{name}` |" not in README}


def test_every_benchmark_is_explained_and_runs_with_the_others():
    measured = {
        path.stem for path in (ROOT / "benchmarks").glob("*.py") if "def rows(" in path.read_text()
    }
    run = (ROOT / "benchmarks/__main__.py").read_text()
    assert measured
    explained = (ROOT / "docs/speed.md").read_text()
    assert not {name for name in measured if f"\n| `{name}` |" not in explained}
    assert not {name for name in measured if f'"{name}",' not in run}
    assert "(docs/speed.md)" in README


def test_every_setting_is_listed():
    used = set()
    for path in (ROOT / "tiedviz").rglob("*.py"):
        used |= set(re.findall(r"environ\.get\(\s*\"(TIEDVIZ_\w+|HF_\w+)\"", path.read_text()))
    assert used
    assert not {name for name in used if f"`{name}`" not in README}


def test_there_is_exactly_one_test_command_and_ci_runs_it():
    commands = [line for line in README.splitlines() if line.endswith("&& pytest")]
    assert len(commands) == 1
    assert "README.md" in (ROOT / ".ci/run").read_text()
