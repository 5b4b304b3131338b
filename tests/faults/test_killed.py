"""Killed at any point, started again: nothing half-made is used, nothing whole is lost."""

from __future__ import annotations

import signal
import socket
import time

import pytest

# In the order in which an opening passes them: each run goes on from what the last one left.
POINTS = [
    ("fetch", "Fetching", "1"),
    ("fetch", "Checking", "1"),
    ("fetch", "Starting the converter", "1"),
    ("fetch", "Reading", "1"),
    ("fetch", "Converting", "1"),
    ("fetch", "Writing", "1"),
    ("fetch", "Converting the tokenizer", "1"),
    ("open", "Loading the tokenizer", "1"),
    ("open", "Loading", "1"),
    ("open", "at the end", "1"),
]


def test_killed_at_every_step_and_started_again(shelf):
    whole = set()
    for how, stage, number in POINTS:
        status, said = shelf.run(how, stage, number)
        assert status == -signal.SIGKILL, f"{stage} was not reached: {said}"
        shelf.check()
        assert whole <= set(shelf.entries()), f"lost at {stage}"
        whole = set(shelf.entries())
    status, said = shelf.run("open")
    assert status == 0 and "done" in said, said
    assert len(shelf.entries()) == 2  # the file and the converted folder
    assert shelf.left_over() == []
    shelf.check()


def test_a_converter_whose_parent_was_killed_ends_and_writes_nothing(shelf):
    """It would write on into a folder that the next converter takes for its own."""
    assert shelf.run("fetch", "Reading", "1")[0] == -signal.SIGKILL
    [unfinished] = shelf.left_over()
    until = time.monotonic() + 60
    while shelf.children("conversion_child"):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert list((shelf.cache / "converted" / unfinished).iterdir()) == []
    status, said = shelf.run("fetch")
    assert status == 0, said
    assert shelf.left_over() == []
    shelf.check()


@pytest.mark.parametrize("ended", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_pip_whose_parent_has_ended_ends_and_leaves_nothing_that_looks_whole(shelf, ended):
    """It would go on to fetch hundreds of megabytes that nobody waits for."""
    with socket.create_server(("127.0.0.1", 0)) as silent:  # an index that takes calls, and is mute
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        shelf.environment["PIP_FIND_LINKS"] = address
        process = shelf.start("fetch")
        silent.settimeout(60)
        call, _ = silent.accept()
        with call:
            assert len(shelf.children("pip")) == 1
            process.send_signal(ended)
            process.wait(10)
            until = time.monotonic() + 5
            while shelf.children("pip"):
                assert time.monotonic() < until
                time.sleep(0.1)
    assert shelf.entries() == []


def test_two_processes_at_once_make_one_entry(shelf):
    both = [shelf.start("fetch") for _ in range(2)]
    said = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert len({each.splitlines()[-1] for each in said}) == 1  # the same folder
    assert sum("Checking" in each.splitlines() for each in said) == 1  # one fetched,
    assert sum("Writing" in each.splitlines() for each in said) == 1  # one converted
    assert len(shelf.entries()) == 2
    shelf.check()
