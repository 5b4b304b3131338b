"""The verdict from headers alone, beyond the start of the interpreter."""

import json
import math
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Row, seconds
from tiedviz.models.sources import find_source

_RUNS = 15
_FLAG = {"tie_word_embeddings": True}
# with bytecode, as for everybody after the first run, even where the shell asks for none
_ENVIRONMENT = {key: os.environ[key] for key in os.environ if key != "PYTHONDONTWRITEBYTECODE"}


def rows() -> Iterator[Row]:
    """`audit --no-load` of a sparse safetensors file of 20 GB, and of the shelf models here."""
    for flag, words in ((_FLAG, ""), ({}, ", flag absent")):
        with tempfile.TemporaryDirectory() as name:
            _twenty_gigabytes(Path(name), flag)
            yield _row(f"safetensors of 20 GB{words}", name, 100)
    for name in ("smollm2", "gemma-3-270m"):
        if find_source(name).files_here() is not None:
            yield _row(f"GGUF, {name}", name, 200)


def _row(title: str, model: str, bound: int) -> Row:
    """Milliseconds beyond `python -c pass`, as a shell would wait for them."""
    command = [sys.executable, "-m", "tiedviz", "audit", model, "--no-load", "--json"]
    (mine, _), (bare, _) = seconds(
        lambda: subprocess.run(command, capture_output=True, check=True, env=_ENVIRONMENT),
        lambda: subprocess.run([sys.executable, "-c", "pass"], check=True, env=_ENVIRONMENT),
        runs=_RUNS,
    )
    more = (mine - bare) * 1e3
    return Row(f"audit --no-load, {title}", f"{more:.0f} ms more", f"<= {bound} ms", more <= bound)


def _twenty_gigabytes(folder: Path, flag: dict[str, bool]) -> None:
    """A tied model whose file takes no room: 69 tensors of which one is E."""
    shapes = {"model.embed_tokens.weight": (152_064, 8192)}
    shapes |= {f"model.layers.{n}.mlp.up_proj.weight": (8192, 16_384) for n in range(68)}
    header, at = {}, 0
    for name, shape in shapes.items():
        end = at + 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + at)
    config = {"model_type": "gemma", "architectures": ["GemmaForCausalLM"], "vocab_size": 152_064}
    (folder / "config.json").write_text(json.dumps(config | flag))
