"""Small files of every kind, built on the spot."""

import json
import math
import struct
from pathlib import Path

import pytest

BYTES = {"F32": 4, "BF16": 2, "F16": 2, "I32": 4, "I64": 8, "U8": 1, "BOOL": 1}


def safetensors_bytes(tensors, metadata=None, body=True):
    """A safetensors file of zeros; `tensors` maps a name to (dtype, shape)."""
    header, at = ({"__metadata__": metadata} if metadata else {}), 0
    for name, (dtype, shape) in tensors.items():
        end = at + BYTES[dtype] * math.prod(shape)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(at if body else 0)


class Build:
    """Writes models into one temporary folder."""

    def __init__(self, folder: Path):
        self.folder = folder

    def config(self, **values):
        (self.folder / "config.json").write_text(json.dumps(values))
        return self.folder

    def safetensors(self, tensors, name="model.safetensors", sparse=False):
        """With `sparse`, the body is there for the file system but takes no room."""
        path = self.folder / name
        content = safetensors_bytes(tensors, body=not sparse)
        body = sum(BYTES[dtype] * math.prod(shape) for dtype, shape in tensors.values())
        with path.open("wb") as stream:
            stream.write(content)
            stream.truncate(len(content) + body if sparse else len(content))
        return path

    def index(self, files, name="model.safetensors.index.json", **more):
        path = self.folder / name
        path.write_text(json.dumps({"weight_map": files, **more}))
        return path

    def file(self, name, content=b""):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def gguf(self, name="model.gguf", arch="llama", tensors=None, tokens=0, **values):
        """Tensors are {name: (rows, columns)} in float32, as numpy has them."""
        import gguf
        import numpy

        writer = gguf.GGUFWriter(self.folder / name, arch)
        for key, value in values.items():
            writer.add_uint32(key.replace("__", "."), value)
        if tokens:
            writer.add_token_list([f"token {i}" for i in range(tokens)])
            writer.add_token_scores([float(i) for i in range(tokens)])
        for key, shape in (tensors or {}).items():
            writer.add_tensor(key, numpy.zeros(shape, numpy.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return self.folder / name

    def bin(self, state, name="pytorch_model.bin", **options):
        import torch

        torch.save(state, self.folder / name, **options)
        return self.folder / name


class CountedRead:
    """A file's bytes behind a `read(offset, length)` that adds up what was asked for."""

    def __init__(self, content: bytes):
        self.content, self.asked = content, 0

    def __call__(self, offset, length):
        self.asked += length
        return self.content[offset : offset + length]


@pytest.fixture
def build(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    return Build(folder)


@pytest.fixture
def counted():
    return CountedRead


@pytest.fixture
def as_safetensors():
    return safetensors_bytes


@pytest.fixture
def tiny():
    """A two-layer Llama of 50 tokens and width 16, every weight random."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    def make(tie):
        torch.manual_seed(0)
        sizes = {"vocab_size": 50, "hidden_size": 16, "intermediate_size": 32}
        heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "num_hidden_layers": 2}
        config = LlamaConfig(**sizes, **heads, max_position_embeddings=64, tie_word_embeddings=tie)
        return LlamaForCausalLM(config)

    return make
