"""Turning a `.gguf` file into safetensors and tokenizer.json, once, in a process of its own.

Reading a `.gguf` file through transformers takes tens of seconds and several times the model's
memory, for every opening; the converted folder opens in one or two seconds. The work is done in a
child process so that its memory is given back, and its numbers are exact: the quantised blocks are
expanded to float32, which holds them without loss.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from tiedviz.models.cache.child import follow
from tiedviz.models.cache.folder import entry, made_once, require_disk
from tiedviz.models.machine import require_memory
from tiedviz.models.progress import Report, Step, silent
from tiedviz.words.refusals.opening import ConversionFailed, DiskFull

# Part of every entry's name: raise it when the converter writes something else than before.
_FORMAT = 2

_STAGES = {
    "stage read": "Reading",
    "stage write": "Writing",
    "stage tokenizer": "Converting the tokenizer",
}


def converted_folder(file: Path, identity: str | None = None) -> Path:
    """Where the converted copy of a `.gguf` file lies, made or not.

    Args:
        file: the `.gguf` file.
        identity: a hash of its content where one is known; else its path, size and time stand
            for it, so that a file that was replaced is converted again.
    """
    if identity is None:
        facts = file.stat()
        stamp = f"{file.resolve()}\0{facts.st_size}\0{facts.st_mtime_ns}"
        identity = hashlib.sha256(stamp.encode()).hexdigest()
    return entry("converted", f"{file.stem}-{identity[:12]}-{_FORMAT}")


def convert(
    file: Path,
    *,
    title: str,
    weights: int,
    memory: int,
    identity: str | None,
    report: Report = silent,
) -> Path:
    """The folder that holds `file` as safetensors and tokenizer.json, made if it is not there yet.

    Args:
        file: the `.gguf` file.
        title: what the model is called in messages.
        weights: bytes that the float32 weights will take on disk.
        memory: bytes that the child process will need at its peak.
        identity: see `converted_folder`.
        report: told how far the work has come; may raise to stop it.

    Raises:
        TooLittleMemory, TooLittleDisk, CacheNotWritable: before anything is started.
        DiskFull: the disk ran full on the way; nothing is kept.
        ConversionFailed: the child gave up; nothing is kept.
    """
    target = converted_folder(file, identity)
    if target.is_dir():
        return target
    require_memory(title, memory)
    require_disk(title, weights)
    waiting = Step("Waiting for another process that converts it")
    with made_once(target, lambda: report(waiting), needed=weights) as folder:
        if folder is not None:
            _run_child(file, folder, report)
    return target


def _run_child(file: Path, folder: Path, report: Report) -> None:
    converter = ["tiedviz.models.cache.conversion_child", str(file), str(folder)]
    follower = _Followed(report)
    ended = follow(converter, follower.line, follower.beat, environment=_OFFLINE)
    if ended.status:
        if full := _said(ended.last_lines, "full "):
            raise DiskFull(full)
        raise ConversionFailed(file.name, _said(ended.last_lines, "failed "))


# The child asks no Hub, and says at once what it has to say.
_OFFLINE = {"HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}


class _Followed:
    """The child's stage lines ("stage read") and its progress bar ("12/272"), as steps."""

    def __init__(self, report: Report) -> None:
        self._report: Callable[[Step], None] = report
        self._step = Step("Starting the converter")
        self.beat()

    def line(self, line: str) -> None:
        if stage := _STAGES.get(line):
            self._step = Step(stage)
            self.beat()
        elif bar := re.search(r"(\d+)/(\d+) \[", line):
            self._step = Step("Converting", int(bar[1]), int(bar[2]), "tensors")
            self.beat()

    def beat(self) -> None:
        self._report(self._step)


def _said(lines: tuple[str, ...], kind: str) -> str:
    """The child's own one-line reason of this kind; empty where it gave none, killed perhaps."""
    said = next((line for line in reversed(lines) if line.startswith(kind)), "")
    return said.removeprefix(kind).strip().rstrip(".")
