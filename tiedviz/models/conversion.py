"""Turning a `.gguf` file into safetensors and tokenizer.json, once, in a process of its own.

Reading a `.gguf` file through transformers takes tens of seconds and several times the model's
memory, for every opening; the converted folder opens in one or two seconds. The work is done in a
child process so that its memory is given back, and its numbers are exact: the quantised blocks are
expanded to float32, which holds them without loss.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable
from pathlib import Path

from tiedviz.models.cache import FULL, entry, made_once, require_disk
from tiedviz.models.child_process import follow
from tiedviz.models.memory import require_memory
from tiedviz.models.progress import Report, Stage, silent
from tiedviz.words.refusals.opening import DiskFull, OpeningRefusal

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
        OpeningRefusal: before anything is started.
        DiskFull: the disk ran full on the way; nothing is kept.
        OpeningRefusal: the child gave up; nothing is kept.
    """
    target = converted_folder(file, identity)
    if target.is_dir():
        return target
    require_memory(title, memory)
    require_disk(title, weights)
    waiting = Stage("Waiting for another process that converts it")
    with made_once(target, lambda: report(waiting), needed=weights) as folder:
        if folder is not None:
            _run_child(file, folder, report)
    return target


def _run_child(file: Path, folder: Path, report: Report) -> None:
    converter = ["tiedviz.models.conversion", str(file), str(folder)]
    follower = _Followed(report)
    ended = follow(converter, follower.line, follower.beat, environment=_OFFLINE)
    if ended.status:
        if full := _said(ended.last_lines, "full "):
            raise DiskFull(full)
        raise OpeningRefusal.conversion_failed(file.name, _said(ended.last_lines, "failed "))


# The child asks no Hub, and says at once what it has to say.
_OFFLINE = {"HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}


class _Followed:
    """The child's stage lines ("stage read") and its progress bar ("12/272"), as stages."""

    def __init__(self, report: Report) -> None:
        self._report: Callable[[Stage], None] = report
        self._stage = Stage("Starting the converter")
        self.beat()

    def line(self, line: str) -> None:
        if stage := _STAGES.get(line):
            self._stage = Stage(stage)
            self.beat()
        elif bar := re.search(r"(\d+)/(\d+) \[", line):
            self._stage = Stage("Converting", int(bar[1]), int(bar[2]), "tensors")
            self.beat()

    def beat(self) -> None:
        self._report(self._stage)


def _said(lines: tuple[str, ...], kind: str) -> str:
    """The child's own one-line reason of this kind; empty where it gave none, killed perhaps."""
    said = next((line for line in reversed(lines) if line.startswith(kind)), "")
    return said.removeprefix(kind).strip().rstrip(".")


def main(file: Path, folder: Path) -> None:
    """Write `folder` from `file`: config.json, model.safetensors, tokenizer files.

    Runs in a process of its own, which `convert` starts. Prints "stage NAME" lines and
    transformers' progress bar; on failure one line "failed REASON", or "full REASON" where the disk
    has no more room.
    """
    _stage("read")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    model, info = AutoModelForCausalLM.from_pretrained(
        file.parent,
        gguf_file=file.name,
        # without dequantize=True transformers 5.24 keeps a note that save_pretrained refuses
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.float32,
        trust_remote_code=False,
        attn_implementation=None,  # config.json has no say, see `checkpoint.plain_config`
        output_loading_info=True,
    )
    # what the file lacks, the library fills with random numbers; saved, they would look real
    if missing := sorted(info["missing_keys"]):
        raise ValueError(f"the file lacks {', '.join(missing[:3])} ({len(missing)} in all)")
    _stage("write")
    model.save_pretrained(folder, max_shard_size="1000GB")
    del model
    _stage("tokenizer")
    tokenizer = AutoTokenizer.from_pretrained(
        file.parent, gguf_file=file.name, trust_remote_code=False
    )
    tokenizer.save_pretrained(folder)
    if backend := getattr(tokenizer, "backend_tokenizer", None):
        # without its indentation a vocabulary of 262,144 is 14 MB instead of 33, and opens faster
        backend.save(str(folder / "tokenizer.json"), pretty=False)


def _stage(name: str) -> None:
    sys.stdout.write(f"stage {name}\n")
    sys.stdout.flush()


def _disk_is_full(error: BaseException | None) -> bool:
    """Whether the system said so; the libraries written in Rust pass its number on as text."""
    while error is not None:
        if getattr(error, "errno", None) in FULL:
            return True
        if any(f"(os error {number})" in str(error) for number in FULL):
            return True
        error = error.__cause__ or error.__context__
    return False


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except Exception as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        sys.stdout.write(f"\n{'full' if _disk_is_full(error) else 'failed'} {reason}\n")
        sys.exit(1)
