"""Running a Python module as a process that ends with the one that started it.

    python -m tiedviz.models.cache.tethered MODULE ARGUMENT …

Standard input is a pipe that the parent holds open and never writes to. When the parent has ended,
also where it was killed, the system closes it; a thread sees that and ends this process.
"""

from __future__ import annotations

import os
import runpy
import sys
import threading


def main(module: str, *arguments: str) -> None:
    """Run `module` as `python -m` would, until it or the parent ends."""
    tether = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # the module itself has nothing to read there
    os.close(nothing)
    threading.Thread(target=_end_with_parent, args=(tether,), daemon=True).start()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_with_parent(tether: int) -> None:
    """Nobody waits for this work any more, and nobody else would end it."""
    while os.read(tether, 64):
        pass
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
