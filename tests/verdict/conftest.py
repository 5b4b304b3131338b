"""Tiny checkpoints of every kind a verdict is asked for, built on the spot."""

import json
from pathlib import Path

import pytest

from tiedviz.verdict.audit import Audit, hear_files

DELETE = object()


def randomise(model, seed=0):
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3)
    return model


def marian(tie):
    """A tiny Marian whose encoder and decoder have vocabularies of their own."""
    from transformers import MarianConfig, MarianMTModel

    from tiedviz.models.building import building

    sizes = {"vocab_size": 50, "decoder_vocab_size": 40, "d_model": 16, "pad_token_id": 0}
    layers = {"encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 32}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "decoder_ffn_dim": 32}
    with building():
        config = MarianConfig(
            **sizes, **layers, **heads, share_encoder_decoder_embeddings=False,
            decoder_start_token_id=0, eos_token_id=1, tie_word_embeddings=tie,
        )  # fmt: skip
        return randomise(MarianMTModel(config))


def tiny(tie, **changes):
    """T(tie) of the cases: a two-layer Llama of 50 tokens and width 16, every weight random."""
    from transformers import LlamaConfig, LlamaForCausalLM

    from tiedviz.models.building import building

    sizes = {"vocab_size": 50, "hidden_size": 16, "intermediate_size": 32}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "num_hidden_layers": 2}
    settings = {**sizes, **heads, "max_position_embeddings": 64, "tie_word_embeddings": tie}
    with building():
        return randomise(LlamaForCausalLM(LlamaConfig(**settings | changes)))


class Checkpoint:
    """A saved folder, and edits of what lies in it."""

    def __init__(self, folder: Path):
        self.folder = folder

    def flag(self, value, key="tie_word_embeddings"):
        """Write the flag into config.json as it is, or take it out."""
        path = self.folder / "config.json"
        config = json.loads(path.read_text())
        *parts, last = key.split(".")
        place = config
        for part in parts:
            place = place.setdefault(part, {})
        place.pop(last, None) if value is DELETE else place.__setitem__(last, value)
        path.write_text(json.dumps(config))
        return self

    def edit(self, change):
        """Let `change` loose on the dict of stored tensors."""
        from safetensors.torch import load_file, save_file

        path = self.folder / "model.safetensors"
        tensors = {name: tensor.clone() for name, tensor in load_file(path).items()}
        change(tensors)
        save_file(tensors, path, {"format": "pt"})
        return self

    def add_head(self, make):
        """Store a head made from E."""

        def change(tensors):
            tensors["lm_head.weight"] = make(tensors["model.embed_tokens.weight"].clone())

        return self.edit(change)

    def hear(self, **options):
        return hear_files(self.folder, **options)

    def verdict(self):
        return Audit(*self.hear()).verdict


@pytest.fixture
def save(tmp_path):
    """Save a model into a folder of its own."""

    def build(model, name="model"):
        folder = tmp_path / name
        model.save_pretrained(folder)
        return Checkpoint(folder)

    return build


@pytest.fixture
def checkpoint(save):
    """T(tie), saved."""

    def build(tie=True, **changes):
        return save(tiny(tie, **changes))

    return build


@pytest.fixture
def write_gguf(tmp_path):
    """A GGUF file of two matrices in the types named; a name alone is F32."""

    def build(embedding, head=None, kinds=("F32", "F32"), arch="llama", **keys):
        import gguf

        path = tmp_path / "model.gguf"
        writer = gguf.GGUFWriter(path, arch)
        for key, value in keys.items():
            writer.add_key_value(key.replace("__", "."), value, gguf.GGUFValueType.get_type(value))
        for name, matrix, kind in zip(
            ("token_embd.weight", "output.weight"), (embedding, head), kinds, strict=True
        ):
            if matrix is not None:
                number = gguf.GGMLQuantizationType[kind]
                packed = matrix if kind == "F32" else gguf.quants.quantize(matrix, number)
                writer.add_tensor(name, packed, raw_dtype=number)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path

    return build
