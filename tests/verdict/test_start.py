"""What `audit --no-load` brings in: a verdict from headers takes as long as its imports."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.verdict.conftest import DELETE

ALWAYS = {"site", "sitecustomize", "usercustomize", "org"}  # org is Jython's, asked for by copy
HEAVY = "torch transformers numpy streamlit huggingface_hub pandas safetensors gguf sklearn"

# The standard library's share for a folder of safetensors: what `python -m`, argparse, json and
# typing bring, and nothing else. Names that begin with an underscore are free.
LIBRARY = {
    *("argparse", "collections", "contextlib", "copyreg", "enum", "errno", "functools", "gc"),
    *("gettext", "importlib", "itertools", "json", "keyword", "locale", "math", "operator", "re"),
    *("reprlib", "runpy", "types", "typing", "warnings"),
}
OURS = 45  # modules of tiedviz; 39 when this was written

# Runs the command as `python -m tiedviz` does, and ends with its status.
WATCHED = """
import builtins, gc, runpy
compile_really = builtins.compile

def compile_no_text(source, *rest, **named):  # what is imported comes as bytes
    assert not isinstance(source, str), f"compiled on the way: {source!r}"
    return compile_really(source, *rest, **named)

builtins.compile = compile_no_text
try:
    runpy.run_module("tiedviz", run_name="__main__", alter_sys=True)
except SystemExit:
    CHECK
    raise
"""


def run(*arguments):
    ended = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert ended.returncode in (0, 1) and "Traceback" not in ended.stderr, ended.stderr
    return ended


def imported(*arguments):
    """Every module that an interpreter imports for these arguments."""
    lines = run("-X", "importtime", *arguments).stderr.splitlines()
    names = {line.rsplit("|", 1)[1].strip() for line in lines if line.startswith("import time:")}
    return names - {"imported package"}


def watched(*arguments, check="pass"):
    run("-c", WATCHED.replace("CHECK", check), *arguments)


AUDIT = ("audit", "--no-load", "--json")


def test_no_load_imports_nothing_but_the_standard_library(checkpoint, write_gguf):
    import numpy

    models = [checkpoint(True).folder, write_gguf(numpy.ones((50, 32), numpy.float32))]
    tops = {name.partition(".")[0] for name in imported("-m", "tiedviz", *AUDIT, *models)}
    assert not tops & set(HEAVY.split())
    assert not tops & {"dataclasses", "inspect", "logging"}  # they take as long as the verdict
    foreign = tops - set(sys.stdlib_module_names) - {"tiedviz"}
    assert {name for name in foreign if not name.startswith("_")} <= ALWAYS


@pytest.mark.parametrize("flag", [True, DELETE], ids=["flag written", "flag absent"])
def test_a_folder_of_safetensors_takes_few_modules(checkpoint, flag):
    folder = checkpoint(True).flag(flag).folder
    names = imported("-m", "tiedviz", *AUDIT, folder) - imported("-c", "pass")
    ours = {name for name in names if name.partition(".")[0] == "tiedviz"}
    library = {name.partition(".")[0] for name in names - ours}
    assert {name for name in library if not name.startswith("_")} <= LIBRARY
    assert len(ours) <= OURS, sorted(ours)


@pytest.mark.parametrize("flag", [True, False, DELETE], ids=["true", "false", "absent"])
def test_no_annotation_is_compiled_on_the_way(checkpoint, flag):
    """As typing does for each field of a named tuple whose annotations are strings."""
    watched(*AUDIT, checkpoint(True).flag(flag).folder)


def test_the_collector_rests_for_headers_and_runs_for_models(checkpoint):
    watched(*AUDIT, checkpoint(True).folder, check="assert gc.get_freeze_count() > 1000")
    watched("share", "--json", check="assert gc.isenabled() and not gc.get_freeze_count()")
