"""Run all of them and print one table."""

import importlib
import sys

_PARTS = (
    "lens",
    "next_token",
    "gradients",
    "token_map",
    "map_in_browser",
    "pages",
    "first_paint",
    "headers",
    "models",
)


def main() -> None:
    """Print a row as soon as it is measured; name parts to run only those."""
    for part in sys.argv[1:] or _PARTS:
        for row in importlib.import_module(f"benchmarks.{part}").rows():
            mark = "ok " if row.holds else "OVER"
            print(f"{mark:<5}{row.what:<72}{row.measured}   {row.bound}", flush=True)


main()
