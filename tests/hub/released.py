"""Repositories laid out as their publishers released them, with small random weights."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import ByteLevelBPETokenizer

from tests.conftest import CORPUS, randomise
from tiedviz.models.building import building


def released_gpt2(folder: Path) -> Path:
    """GPT-2 as it lies on the Hub: no prefix, mask buffers stored, no flag, vocab and merges."""
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(
        CORPUS,
        vocab_size=300,
        min_frequency=1,
        special_tokens=["<|endoftext|>"],
        show_progress=False,
    )
    folder.mkdir(parents=True)
    tokenizer.save_model(str(folder))
    config = GPT2Config(
        vocab_size=300,
        n_embd=32,
        n_layer=2,
        n_head=2,
        n_positions=48,
        bos_token_id=0,
        eos_token_id=0,
    )
    with building():
        model = GPT2LMHeadModel(config)
    randomise(model)
    tensors = {
        name.removeprefix("transformer."): tensor.clone()
        for name, tensor in model.state_dict().items()
        if not name.startswith("lm_head")
    }
    for layer in range(2):
        mask = torch.tril(torch.ones(48, 48)).view(1, 1, 48, 48)
        tensors[f"h.{layer}.attn.bias"] = mask
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    raw = {
        key: value
        for key, value in config.to_dict().items()
        if key not in ("tie_word_embeddings", "transformers_version", "dtype")
    }
    raw["architectures"] = ["GPT2LMHeadModel"]
    (folder / "config.json").write_text(json.dumps(raw))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 48}))
    return folder


def saved(folder: Path, model, tokenizer) -> Path:
    """A model and a tokenizer saved by the library, with random weights."""
    randomise(model)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def word_tokenizer(special: dict[str, str]):
    """A word-level tokenizer over the corpus, with these special tokens first."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = sorted({word for line in CORPUS for word in line.split()})
    pieces = {piece: index for index, piece in enumerate([*special.values(), *words])}
    tokenizer = Tokenizer(models.WordLevel(pieces, unk_token=special.get("unk_token")))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


_SPECIAL = {
    "pad_token": "<pad>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "bos_token": "<s>",
    "mask_token": "<mask>",
}


def published_like(family: str, folder: Path) -> Path:
    """A small model of a family that users name, saved as its publisher saves it.

    Families: pythia (untied), opt (a position table), t5 (a scaled decoder), bert (a transform
    before the matrix, a bias after it).
    """
    import transformers as library

    tokenizer = word_tokenizer(_SPECIAL)
    rows = len(tokenizer)
    settings = {
        "pythia": lambda: library.GPTNeoXForCausalLM(
            library.GPTNeoXConfig(
                vocab_size=rows, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                intermediate_size=64, max_position_embeddings=64, tie_word_embeddings=False,
            )
        ),
        "opt": lambda: library.OPTForCausalLM(
            library.OPTConfig(
                vocab_size=rows, hidden_size=32, ffn_dim=64, num_hidden_layers=2, pad_token_id=0,
                num_attention_heads=2, max_position_embeddings=64, word_embed_proj_dim=32,
                bos_token_id=3, eos_token_id=1,
            )
        ),
        "t5": lambda: library.T5ForConditionalGeneration(
            library.T5Config(
                vocab_size=rows, d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2,
                decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
            )
        ),
        "bert": lambda: library.BertForMaskedLM(
            library.BertConfig(
                vocab_size=rows, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                intermediate_size=64, max_position_embeddings=64, pad_token_id=0,
            )
        ),
    }  # fmt: skip
    with building():
        model = settings[family]()
    return saved(folder, model, tokenizer)
