"""What `audit --no-load` brings in: a verdict from headers waits for no heavy library."""

import os
import subprocess
import sys

from tests.conftest import ROOT

ALWAYS = {"site", "sitecustomize", "usercustomize", "org"}  # org is Jython's, asked for by copy
HEAVY = "torch transformers numpy streamlit huggingface_hub pandas safetensors gguf sklearn"


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


AUDIT = ("audit", "--no-load", "--json")


def test_no_load_imports_nothing_but_the_standard_library(checkpoint, write_gguf):
    import numpy

    models = [checkpoint(True).folder, write_gguf(numpy.ones((50, 32), numpy.float32))]
    tops = {name.partition(".")[0] for name in imported("-m", "tiedviz", *AUDIT, *models)}
    assert not tops & set(HEAVY.split())
    foreign = tops - set(sys.stdlib_module_names) - {"tiedviz"}
    assert {name for name in foreign if not name.startswith("_")} <= ALWAYS
