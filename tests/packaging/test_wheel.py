"""The wheel, installed without any dependency into an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from importlib.metadata import requires
from pathlib import Path

import numpy
import pytest
from packaging.requirements import Requirement

from tests.conftest import ROOT
from tests.hub.standin import StandInHub
from tests.packaging.test_lock import PROJECT


def run(command, cwd, **environment):
    """The command outside the checkout, with none of this process's own places to import from."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run(
        [*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=300,
        env=clean | environment,
    )  # fmt: skip


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", ROOT, "--no-deps", "--no-build-isolation"]
    built = run([*command, "--no-index", "-w", folder], folder)
    assert built.returncode == 0, built.stderr[-2000:]
    [path] = folder.glob("tiedviz-*.whl")
    return path


@pytest.fixture(scope="module")
def tiedviz(wheel, tmp_path_factory):
    """Run the installed command, somewhere else: `tiedviz("audit", …)`."""
    folder = tmp_path_factory.mktemp("light")
    made = run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], folder)
    assert made.returncode == 0, made.stderr
    scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", scripts / "python", "install"]
    installed = run([*pip, "--no-deps", "--no-index", wheel], folder)
    assert installed.returncode == 0, installed.stderr[-2000:]
    return lambda *words: run(
        [scripts / "tiedviz", *words], folder, TIEDVIZ_CACHE=str(folder / "cache")
    )


def test_it_holds_all_that_the_app_reads(wheel):
    held = set(zipfile.ZipFile(wheel).namelist())
    listed = subprocess.run(
        ["git", "ls-files", "tiedviz", "pages"], cwd=ROOT, capture_output=True, text=True
    )
    for name in listed.stdout.split():
        if (ROOT / name).is_file():
            assert (f"tiedviz/dashboard/{name}" if name.startswith("pages/") else name) in held
    assert {"tiedviz/dashboard/app.py", "tiedviz/dashboard/.streamlit/config.toml"} <= held
    tops = {name.partition("/")[0] for name in held}
    assert {name for name in tops if not name.endswith(".dist-info")} == {"tiedviz"}


def test_the_command_audits_a_folder_outside_the_checkout(tiedviz, tiny_folder):
    ended = tiedviz("audit", tiny_folder(), "--no-load", "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["verdict"] == "tied"


def test_the_catalogue_is_counted(tiedviz):
    ended = tiedviz("share", "--json")
    assert ended.returncode == 0, ended.stderr
    assert len(json.loads(ended.stdout)["models"]) == 233
    one = tiedviz("share", "openai-community/gpt2", "--json")
    assert one.returncode == 0, one.stderr
    assert json.loads(one.stdout)["parameters"]["total"] == 124_439_808


@pytest.mark.parametrize(
    "words",
    [
        ("app",),
        ("audit", "FOLDER"),
        ("inspect", "FOLDER", "--prompt", "x"),
        ("lens", "FOLDER", "--prompt", "x"),
        ("gradients", "FOLDER", "--text", "x y"),
        ("map", "FOLDER", "--out", "x.csv"),
        ("neighbors", "FOLDER", "id:3"),
        ("compare", "FOLDER", "FOLDER", "--prompt", "x"),
        ("share", "FOLDER"),
        ("fetch", "smollm2"),
    ],
    ids=lambda words: words[0],
)
def test_everything_else_says_in_one_line_what_is_missing(tiedviz, tiny_folder, words):
    folder = str(tiny_folder())
    ended = tiedviz(*[folder if word == "FOLDER" else word for word in words])
    assert ended.returncode == 2 and not ended.stdout
    [line] = ended.stderr.splitlines()
    assert "is not installed" in line and "pip install 'tiedviz[app]'" in line
    assert ("--no-load" in line) == (words[0] == "audit")


def test_two_stored_copies_are_compared_or_it_says_what_that_needs(tiedviz, tiny_folder, tmp_path):
    """Equal bytes are seen without numpy, other numbers are not; the light core has it."""
    import torch
    from safetensors.torch import load_file, save_file

    folder = tiny_folder(tied=True, name="copies")
    tensors = load_file(folder / "model.safetensors")
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].clone()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    assert json.loads(tiedviz("audit", folder, "--no-load", "--json").stdout)["verdict"] == "twin"
    tensors["lm_head.weight"] = tensors["lm_head.weight"] + torch.ones(16)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    ended = tiedviz("audit", folder, "--no-load", "--json")
    assert ended.returncode == 2
    [line] = ended.stderr.splitlines()
    assert "numpy is not installed" in line


# The light core as it is installed: its own packages, and none of the app's.
BLOCKED = """
import runpy, sys
for name in {names}:
    sys.modules[name] = None
sys.argv = ["tiedviz", *sys.argv[1:]]
runpy.run_module("tiedviz", run_name="__main__")
"""
IMPORTED_AS = {"scikit-learn": "sklearn", "pillow": "PIL", "pip": "pip"}


def light(*words, **environment):
    wanted = [Requirement(text).name for text in PROJECT["optional-dependencies"]["app"]]
    comes_along = {Requirement(text).name for text in requires("huggingface_hub") or ()}
    names = [name for name in wanted if name not in comes_along]
    script = BLOCKED.format(names=[IMPORTED_AS.get(name, name) for name in names])
    return run([sys.executable, "-c", script, *words], ROOT, **environment)


@pytest.mark.parametrize("tied", [True, False])
def test_the_light_core_audits_folders_whose_copies_must_be_compared(tiny_folder, tied):
    ended = light("audit", tiny_folder(tied=tied), "--no-load", "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["verdict"] == ("tied" if tied else "untied")


def test_the_light_core_compares_gguf_copies(write_gguf):
    table = numpy.random.default_rng(0).standard_normal((50, 32)).astype(numpy.float32)
    ended = light("audit", write_gguf(table, table + 1), "--no-load", "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["stored"]["comparison"]["differing_rows"] == 50


def test_the_light_core_audits_a_repository_on_the_hub(tiny_folder, tmp_path):
    hub = StandInHub({"org/tiny": tiny_folder()})
    places = {"HF_ENDPOINT": hub.base, "HF_HOME": str(tmp_path / "hf")}
    ended = light("audit", "org/tiny", "--no-load", "--json", **places)
    hub.close()
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["verdict"] == "tied"
