"""A small Llama written as `.gguf`, number by number, without any code of this app."""

from __future__ import annotations

import json
from pathlib import Path

import numpy


def write_gguf(file: Path, tokenizer, seed: int = 0) -> numpy.ndarray:
    """Write one block of width 16, tied. Returns its embedding matrix, float32."""
    import gguf

    numbers = numpy.random.default_rng(seed)

    def tensor(*shape: int) -> numpy.ndarray:
        return numbers.standard_normal(shape).astype(numpy.float32)

    pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    writer = gguf.GGUFWriter(str(file), "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(16)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(pieces))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(pieces)
    writer.add_token_types([1] * len(pieces))
    written = json.loads(tokenizer.backend_tokenizer.to_str())
    writer.add_token_merges([" ".join(pair) for pair in written["model"]["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    embedding = tensor(len(pieces), 16)
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output_norm.weight", tensor(16))
    for name, shape in (
        ("attn_norm", (16,)),
        ("ffn_norm", (16,)),
        ("attn_q", (16, 16)),
        ("attn_k", (16, 16)),
        ("attn_v", (16, 16)),
        ("attn_output", (16, 16)),
        ("ffn_gate", (32, 16)),
        ("ffn_up", (32, 16)),
        ("ffn_down", (16, 32)),
    ):
        writer.add_tensor(f"blk.0.{name}.weight", tensor(*shape))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return embedding
