"""Following another process: every line, no hanging, and no survivor."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from tests.conftest import ROOT
from tiedviz.models.child_process import Ended, follow

# A child that is not let go of sleeps for an hour; that is a failure, not a long test.
pytestmark = pytest.mark.timeout(30)


def nothing(*_: object) -> None:
    """Neither line nor beat is of interest."""


def python(code: str) -> list[str]:
    return ["tests.models.said", code]


def test_every_line_comes_in_order_from_both_streams():
    lines: list[str] = []
    code = "import sys; print('a'); sys.stdout.flush(); print('b', file=sys.stderr); print('')"
    ended = follow(python(code), lines.append, nothing)
    assert lines == ["a", "b", ""]
    assert ended == Ended(0, ("a", "b", ""))


def test_the_exit_status_is_handed_on():
    assert follow(python("import sys; sys.exit(7)"), nothing, nothing).status == 7


def test_a_carriage_return_ends_a_line_so_that_a_progress_bar_is_seen():
    lines: list[str] = []
    code = "import sys; sys.stdout.write('1/3\\r2/3\\r3/3\\n')"
    follow(python(code), lines.append, nothing)
    assert lines == ["1/3", "2/3", "3/3"]


def test_a_last_line_without_an_end_is_a_line():
    lines: list[str] = []
    follow(python("import sys; sys.stdout.write('half')"), lines.append, nothing)
    assert lines == ["half"]


def test_bytes_that_are_no_text_do_not_stop_it():
    lines: list[str] = []
    code = "import sys; sys.stdout.buffer.write(b'\\xff\\xfe ok\\n')"
    follow(python(code), lines.append, nothing)
    assert len(lines) == 1 and lines[0].endswith(" ok")


def test_the_last_fifty_lines_are_kept():
    ended = follow(python("for i in range(80): print(i)"), nothing, nothing)
    assert ended.last_lines == tuple(str(i) for i in range(30, 80))


def test_a_silent_child_still_lets_the_caller_look_up():
    beats: list[float] = []
    follow(python("import time; time.sleep(1.2)"), nothing, lambda: beats.append(time.monotonic()))
    assert len(beats) >= 2


def test_the_child_gets_the_environment_it_was_given():
    lines: list[str] = []
    code = "import os; print(os.environ.get('TIEDVIZ_TEST'))"
    environment = {**os.environ, "TIEDVIZ_TEST": "here"}
    follow(python(code), lines.append, nothing, environment)
    follow(python(code), lines.append, nothing)
    assert lines == ["here", "None"]


def test_it_cannot_wait_for_something_to_be_typed():
    assert (
        follow(python("import sys; sys.exit(len(sys.stdin.read()))"), nothing, nothing).status == 0
    )


@pytest.mark.parametrize("ended", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_ends_with_whoever_started_it_however_that_ended(ended):
    with subprocess.Popen(
        [sys.executable, "-m", "tests.models.follows"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        child = psutil.Process(int(parent.stdout.readline()))
        parent.send_signal(ended)
        parent.wait(10)
        try:
            child.wait(10)  # raises where it is still there
        finally:
            if child.is_running():
                child.kill()


_SAYS_ITS_ID = "import os, time; print(os.getpid(), flush=True); time.sleep(3600)"


def test_a_caller_that_stops_on_a_line_takes_the_child_with_it():
    seen: list[int] = []

    def stop(line: str) -> None:
        seen.append(int(line))
        raise KeyError("stopped")

    with pytest.raises(KeyError, match="stopped"):
        follow(python(_SAYS_ITS_ID), stop, nothing)
    assert not psutil.pid_exists(seen[0])


def test_a_caller_that_stops_on_a_beat_takes_the_child_with_it():
    seen: list[int] = []

    def stop() -> None:
        if seen:
            raise KeyError("stopped")

    with pytest.raises(KeyError, match="stopped"):
        follow(python(_SAYS_ITS_ID), lambda line: seen.append(int(line)), stop)
    assert not psutil.pid_exists(seen[0])


def test_a_grandchild_that_holds_the_pipe_open_does_not_hold_the_caller():
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])\n"
        "print(child.pid, flush=True)\n"
    )
    lines: list[str] = []
    ended = follow(python(code), lines.append, nothing)
    grandchild = psutil.Process(int(lines[0]))
    assert grandchild.status() != psutil.STATUS_ZOMBIE
    assert ended.status == 0
    grandchild.kill()
