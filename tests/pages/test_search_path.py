"""A run of the page must not move sys.path under a thread that imports."""

import subprocess
import sys

from streamlit.runtime.scriptrunner.exec_code import modified_sys_path

from tests.conftest import ROOT

MAIN = str(ROOT / "tiedviz" / "main.py")


def test_a_run_leaves_the_search_path_where_it_was(visit):
    visit()
    before = list(sys.path)
    with modified_sys_path(MAIN):
        assert sys.path == before


def test_the_server_starts_with_the_folder_in_its_place():
    code = (
        "import sys, app\n"
        "from streamlit.runtime.scriptrunner.exec_code import modified_sys_path\n"
        "before = list(sys.path)\n"
        f"with modified_sys_path({MAIN!r}):\n"
        "    assert sys.path == before\n"
        "assert sys.path.index('') < len(sys.path) - 1\n"  # last: it hides no other module
        f"assert sys.path[-1] == {str(ROOT / 'tiedviz')!r}\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
