"""The verdict from headers alone, beyond the start of the interpreter."""

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.timing import Row, seconds
from tiedviz.models.known import files_here
from tiedviz.models.sources import find_source


def rows() -> Iterator[Row]:
    """`audit --no-load` of each shelf model that is here."""
    for name in ("smollm2", "gemma-3-270m"):
        if files_here(find_source(name)) is None:
            continue
        command = [sys.executable, "-m", "tiedviz", "audit", name, "--no-load"]
        (mine, _), (bare, _) = seconds(
            lambda command=command: subprocess.run(command, capture_output=True, check=False),
            lambda: subprocess.run([sys.executable, "-c", "pass"], check=True),
        )
        more = mine - bare
        yield Row(f"audit --no-load {name}", f"{more * 1e3:.0f} ms more", "<= 200 ms", more <= 0.2)
