"""The map's JavaScript: read by node, unit-tested by its own runner, and linted."""

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from tests.conftest import ROOT
from tiedviz.compute.token_map import MapRows
from tiedviz.compute.token_map.rows import NamedRows
from tiedviz.ui.token_map.picture import _MODULES, bundle, names_payload, points_payload
from tiedviz.words.token_kinds import TokenKind

CANVAS = ROOT / "tiedviz" / "ui" / "token_map" / "canvas"
TESTS = ROOT / "tests" / "javascript"
NODE, LINTER = shutil.which("node"), shutil.which("oxlint")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def run(*command, given=None):
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_every_module_is_part_of_the_map():
    assert {path.stem for path in CANVAS.glob("*.mjs")} == set(_MODULES)


@needs_node
@pytest.mark.parametrize("names", [_MODULES, ("payloads",)], ids=["map", "payloads"])
def test_what_streamlit_is_given_is_one_module_with_one_component(names, tmp_path):
    module = tmp_path / "bundle.mjs"
    module.write_text(bundle(*names))
    run(NODE, "--check", str(module))
    assert "import " not in "".join(module.read_text().splitlines()[:3])
    script = "import(process.argv[1]).then((found) => console.log(typeof found.default))"
    assert run(NODE, "-e", script, str(module)).strip() == "function"


@needs_node
def test_the_unit_tests_pass():
    said = run(NODE, "--test", *map(str, sorted(TESTS.glob("*.test.mjs"))))
    assert "# fail 0" in said or "ℹ fail 0" in said


@needs_node
def test_the_browser_reads_the_bytes_that_python_packs():
    texts = ["␣king", "你好", "😀", "x" * 500]
    kinds = pd.Categorical.from_codes([0, 6, 4, 1], categories=[kind.value for kind in TokenKind])
    tokens = pd.DataFrame({"id": range(4), "text": texts, "kind": kinds})
    every = np.ones(4, bool)
    norms = np.array([1.5, 2.0, 0.25, 3.0], np.float32)
    names = names_payload("m", NamedRows(tokens, MapRows(norms, every, every)))
    points = points_payload("p", np.array([[1, 2], [3, 4], [5, 6], [np.nan, 8]], np.float32))
    script = f"""
      import {{ holdPayload, nameOf, payloads }} from {json.dumps(str(CANVAS / "payloads.mjs"))};
      for (const hex of {json.dumps([names.hex(), points.hex()])}) {{
        holdPayload(new Uint8Array(Buffer.from(hex, "hex")));
      }}
      const [names, points] = [...payloads.values()];
      console.log(JSON.stringify({{
        texts: [0, 1, 2, 3].map((row) => nameOf(names, row)),
        norms: [...names.norms], kinds: [...names.kinds], x: [...points.x], y: [...points.y],
      }}));
    """
    found = json.loads(run(NODE, "--input-type=module", "-e", script))
    assert found["texts"][:3] == texts[:3] and len(found["texts"][3]) == 120
    assert found["norms"] == norms.tolist() and found["kinds"] == [0, 6, 4, 1]
    assert found["x"] == [1, 3, 5, None] and found["y"] == [2, 4, 6, 8]


@pytest.mark.skipif(LINTER is None, reason="oxlint is not installed (pip install oxlint)")
def test_the_linter_finds_nothing():
    run(
        LINTER, "--deny-warnings", "-c", str(TESTS / "oxlintrc.json"), "tests/javascript",
        str(CANVAS.relative_to(ROOT)),
    )  # fmt: skip
