"""The layers, as the design draws them: imports point one way; the first paint needs no torch."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from tests.conftest import ROOT

# each layer may import those before it, and itself; a comparison of models quotes their verdicts
LAYERS = ["words", "files", "models", "compute", "verdict", "compute.compare", "charts", "ui"]
# a chart is drawn from a frame alone
MAY_NOT = {"charts": {"files", "models", "compute", "verdict", "compute.compare"}}
LIBRARIES = {
    "words": {"torch", "transformers", "streamlit", "altair", "numpy", "pandas", "sklearn"},
    "files": {"transformers", "streamlit", "altair", "pandas", "sklearn", "huggingface_hub"},
    "models": {"streamlit", "altair"},
    "compute": {"streamlit", "altair"},
    "verdict": {"streamlit", "altair"},
    "compute.compare": {"streamlit", "altair"},
    "charts": {"streamlit", "torch", "transformers"},
    "commands": {"streamlit"},
}
MODULES = sorted((ROOT / "tiedviz").rglob("*.py"))


def imported(path):
    """Every module named in an import statement of the file, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def layer_of(path):
    folders = path.relative_to(ROOT / "tiedviz").parts[:-1]
    return layer_named(".".join(("tiedviz", *folders))) if folders else None


def layer_named(module):
    _, first, *rest = module.split(".")
    return f"{first}.{rest[0]}" if rest and f"{first}.{rest[0]}" in LAYERS else first


def allowed(layer):
    if layer == "commands":
        return {*LAYERS, "commands"} - {"ui", "charts"}
    return set(LAYERS[: LAYERS.index(layer) + 1]) - MAY_NOT.get(layer, set())


def wrong_imports(path):
    """What the module imports and its layer must not: ours from above it, or a banned library."""
    layer, names = layer_of(path), list(imported(path))
    if layer is None:
        return set()
    ours = {layer_named(name) for name in names if name.startswith("tiedviz.")}
    theirs = {name.split(".")[0] for name in names} & LIBRARIES.get(layer, set())
    return {f"tiedviz.{name}" for name in ours - allowed(layer)} | theirs


def test_imports_point_one_way():
    wrong = {str(path.relative_to(ROOT)): wrong_imports(path) for path in MODULES}
    assert {module: sorted(names) for module, names in wrong.items() if names} == {}


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("*.py")), ids=lambda path: path.stem)
def test_a_page_is_short_and_reads_from_top_to_bottom(path):
    assert len(path.read_text().splitlines()) <= 60
    tree = ast.parse(path.read_text())
    assert not any(isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Try)) for node in tree.body)
    assert not any(name.startswith("pages") for name in imported(path))


def test_no_module_is_called_utils():
    assert not [path for path in MODULES if path.stem in ("utils", "helpers", "common", "misc")]


def test_the_first_paint_of_every_page_needs_no_torch(tmp_path):
    script = f"""
import sys
from streamlit.testing.v1 import AppTest
app = AppTest.from_file({str(ROOT / "tiedviz/main.py")!r}, default_timeout=60).run()
for page in {[str(path) for path in (ROOT / "pages").glob("*.py")]!r}:
    app.switch_page("../pages/" + page.rsplit("/", 1)[1]).run()
    assert app.title, page
    assert not app.exception, (page, app.exception)
heavy = [name for name in ("torch", "transformers", "sklearn") if name in sys.modules]
assert not heavy, heavy
"""
    environment = {"TIEDVIZ_CACHE": str(tmp_path), "PYTHONPATH": str(ROOT), "PATH": ""}
    ended = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr[-2000:]


def test_load_is_the_one_way_to_open_a_model_and_comes_in_late(tied_model):
    script = "import sys, tiedviz.models; assert 'torch' not in sys.modules; tiedviz.models.load"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT).returncode == 0
    import tiedviz.models

    assert tiedviz.models.load(tied_model.source).tied
