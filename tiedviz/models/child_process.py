"""Running another process and following what it prints, without ever hanging on it."""

from __future__ import annotations

import os
import queue
import runpy
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

# How often the caller gets to look up (and to stop) while the child prints nothing, in seconds.
_BEAT = 0.3
# How many of them to wait for the last lines of a child that has ended.
_LAST_BEATS = 3


@dataclass(frozen=True)
class Ended:
    """How a child process ended: its exit status and the last lines it printed."""

    status: int
    last_lines: tuple[str, ...]


def follow(
    module: list[str],
    each_line: Callable[[str], None],
    beat: Callable[[], None],
    environment: dict[str, str] | None = None,
) -> Ended:
    """Run a Python module in a process of its own to its end, both its streams as one.

    Args:
        module: its name, and its arguments.
        each_line: called with each line; a carriage return ends a line too, so progress bars count.
        beat: called a few times a second while nothing is printed.
        environment: what the child's environment has beside this process's own.

    If `each_line` or `beat` raises, the child is killed before the error goes on. If this process
    ends, even killed, the child ends with it: see `main`.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "tiedviz.models.child_process", *module],
        stdin=subprocess.PIPE,  # the tether: held open, never written to
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "PYTHONPATH": _path(), **(environment or {})},
    )
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(process, lines), daemon=True).start()
    last: deque[str] = deque(maxlen=50)
    try:
        for line in _until_end(process, lines, beat):
            last.append(line)
            each_line(line)
        return Ended(process.wait(), tuple(last))
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()


def _path() -> str:
    """Where the child finds this package, wherever this process was started."""
    here = str(Path(__file__).resolve().parents[2])
    return os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))


def _read(process: subprocess.Popen[str], lines: queue.SimpleQueue[str | None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line.rstrip("\n"))
    lines.put(None)


def _until_end(
    process: subprocess.Popen[str],
    lines: queue.SimpleQueue[str | None],
    beat: Callable[[], None],
) -> Iterator[str]:
    """The lines until the child has ended, even where a child of its own keeps the pipe open."""
    silent_since_end = 0
    while silent_since_end < _LAST_BEATS:
        try:
            line = lines.get(timeout=_BEAT)
        except queue.Empty:
            silent_since_end += process.poll() is not None
            beat()
            continue
        if line is None:
            return
        yield line


def main(module: str, *arguments: str) -> None:
    """Run `module` as `python -m` would, until it or the parent ends.

    Standard input is a pipe that the parent holds open and never writes to. When the parent has
    ended, also where it was killed, the system closes it; a thread sees that and ends this process.
    """
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
