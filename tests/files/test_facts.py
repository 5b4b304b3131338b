import subprocess
import sys

import pytest
import torch
from transformers import (
    AlbertConfig,
    AlbertForMaskedLM,
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    OPTConfig,
    OPTForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

from tiedviz.files.facts import read_facts
from tiedviz.words.refusals.file import FileRefusal

EMBED, HEAD = "model.embed_tokens.weight", "lm_head.weight"


def test_a_tied_model_stores_one_matrix(build, tiny):
    tiny(tie=True).save_pretrained(build.folder)
    facts = read_facts(build.folder)
    assert facts.architecture == "LlamaForCausalLM"
    assert (facts.V, facts.d, facts.layers, facts.positions) == (50, 16, 2, 64)
    assert facts.parameters == facts.stored_numbers == 6000
    assert facts.embedding.name == EMBED
    assert facts.embedding.numbers == 800
    assert facts.head is None
    assert (facts.dtype, facts.dtypes) == ("F32", ("F32",))
    assert (facts.nbytes, facts.float32_bytes, facts.bfloat16_bytes) == (24_000, 24_000, 12_000)
    assert facts.counted_from == "headers" and not facts.packed and not facts.uncounted


def test_an_untied_model_stores_two(build, tiny):
    tiny(tie=False).save_pretrained(build.folder)
    facts = read_facts(build.folder)
    assert facts.parameters == 6800
    assert facts.head.name == HEAD
    assert not facts.head_shares_storage


def test_two_names_of_one_storage_in_a_bin_count_once(build, tiny):
    build.config(vocab_size=50, hidden_size=16)
    build.bin(tiny(tie=True).state_dict())
    facts = read_facts(build.folder)
    assert facts.parameters == 6000
    assert facts.head.name == HEAD
    assert facts.head_shares_storage


def test_a_model_that_would_run_code_is_refused(build):
    class Runs:
        def __reduce__(self):
            return print, ("ran",)

    build.config()
    build.bin({"x": Runs()})
    with pytest.raises(FileRefusal, match="which can run code; nothing was run"):
        read_facts(build.folder)


def test_released_gpt2_counts_without_its_masks(build):
    """The file on the Hub holds 137,022,720 numbers; the model has 124,439,808."""
    tensors = {"wte.weight": ("F32", (50257, 768)), "wpe.weight": ("F32", (1024, 768))}
    for n in range(12):
        for name, shape in (
            *(("ln_1.weight", (768,)), ("ln_1.bias", (768,))),
            *(("ln_2.weight", (768,)), ("ln_2.bias", (768,))),
            *(("attn.bias", (1, 1, 1024, 1024)), ("attn.c_attn.weight", (768, 2304))),
            *(("attn.c_attn.bias", (2304,)), ("attn.c_proj.weight", (768, 768))),
            *(("attn.c_proj.bias", (768,)), ("mlp.c_fc.weight", (768, 3072))),
            *(("mlp.c_fc.bias", (3072,)), ("mlp.c_proj.weight", (3072, 768))),
            ("mlp.c_proj.bias", (768,)),
        ):
            tensors[f"h.{n}.{name}"] = ("F32", shape)
    tensors |= {"ln_f.weight": ("F32", (768,)), "ln_f.bias": ("F32", (768,))}
    build.safetensors(tensors, sparse=True)
    build.config(architectures=["GPT2LMHeadModel"], vocab_size=50257, n_embd=768, n_layer=12)
    facts = read_facts(build.folder)
    assert facts.stored_numbers == 137_022_720
    assert facts.parameters == 124_439_808
    assert (facts.embedding.name, facts.V, facts.d, facts.head) == ("wte.weight", 50257, 768, None)


SMALL = {"vocab_size": 50}


@pytest.mark.parametrize(
    "make",
    [
        lambda: GPT2LMHeadModel(GPT2Config(**SMALL, n_embd=16, n_layer=2, n_head=2, n_positions=8)),
        lambda: OPTForCausalLM(
            OPTConfig(
                **SMALL,
                hidden_size=32,
                word_embed_proj_dim=16,
                ffn_dim=16,
                num_hidden_layers=2,
                num_attention_heads=2,
            )
        ),
        lambda: AlbertForMaskedLM(
            AlbertConfig(**SMALL, embedding_size=8, hidden_size=16, num_attention_heads=2)
        ),
        lambda: BartForConditionalGeneration(
            BartConfig(**SMALL, d_model=16, encoder_layers=1, decoder_layers=1)
        ),
        lambda: T5ForConditionalGeneration(T5Config(**SMALL, d_model=16, num_layers=1, d_ff=16)),
    ],
    ids=["gpt2", "opt-projected", "albert-factorised", "bart-buffer", "t5"],
)
def test_headers_count_what_the_live_model_counts(build, make):
    model = make()
    model.save_pretrained(build.folder)
    facts = read_facts(build.folder)
    assert facts.parameters == sum(p.numel() for p in model.parameters())
    assert (facts.V, facts.d) == tuple(model.get_input_embeddings().weight.shape)
    assert facts.head is None


def test_a_gguf_without_output_weight_is_read_like_a_tied_model(build):
    values = {"llama__block_count": 2, "llama__context_length": 64}
    tensors = {"token_embd.weight": (50, 16), "blk.0.attn_output.weight": (16, 16)}
    path = build.gguf(tensors=tensors, tokens=50, **values, llama__embedding_length=16)
    facts = read_facts(path)
    assert (facts.architecture, facts.V, facts.d) == ("llama", 50, 16)
    assert (facts.layers, facts.positions) == (2, 64)
    assert facts.embedding.shape == (50, 16)
    assert facts.head is None
    assert facts.parameters == 800 + 256


def test_a_gguf_with_output_weight_has_a_head(build):
    path = build.gguf(tensors={"token_embd.weight": (50, 16), "output.weight": (50, 16)})
    assert read_facts(path).head.name == "output.weight"


def test_rows_beyond_the_vocabulary_are_rows(build):
    build.config(vocab_size=50, hidden_size=16)
    build.safetensors({EMBED: ("F32", (64, 16))})
    assert read_facts(build.folder).V == 64


def test_a_head_alone_gives_the_sizes(build):
    build.config(vocab_size=50, hidden_size=16)
    build.safetensors({HEAD: ("F32", (50, 16))})
    facts = read_facts(build.folder)
    assert (facts.embedding, facts.head.name, facts.V, facts.d) == (None, HEAD, 50, 16)


def test_types_are_listed_by_how_many_numbers_they_have(build):
    build.config(vocab_size=50, hidden_size=16)
    build.safetensors({HEAD: ("BF16", (50, 16)), EMBED: ("F32", (50, 16)), "x": ("BF16", (1,))})
    facts = read_facts(build.folder)
    assert (facts.dtype, facts.dtypes) == ("BF16", ("BF16", "F32"))


def test_packed_weights_are_marked_and_the_width_comes_from_the_config(build):
    build.config(vocab_size=50, hidden_size=16)
    build.safetensors({EMBED: ("I32", (50, 2)), "model.embed_tokens.scales": ("F16", (50, 1))})
    facts = read_facts(build.folder)
    assert facts.packed
    assert (facts.V, facts.d) == (50, 16)


def test_layers_are_counted_where_the_config_is_silent(build):
    build.config(vocab_size=50, text_config={"model_type": "llama"})
    blocks = {f"model.layers.{n}.mlp.weight": ("F32", (2, 2)) for n in range(3)}
    build.safetensors({EMBED: ("F32", (50, 16)), **blocks})
    facts = read_facts(build.folder)
    assert facts.layers == 3
    assert facts.architecture is None


def test_a_single_file_uses_the_config_beside_it_if_there_is_one(build):
    path = build.safetensors({"odd": ("F32", (50, 16))})
    assert read_facts(path).embedding is None
    build.config(vocab_size=50, model_type="odd")
    assert read_facts(path).embedding.name == "odd"
    assert read_facts(path).architecture == "odd"


def test_a_folder_with_weights_and_no_config_is_refused(build):
    build.safetensors({EMBED: ("F32", (50, 16))})
    with pytest.raises(FileRefusal, match=r"holds model.safetensors"):
        read_facts(build.folder)


def test_remote_code_is_not_needed_for_the_facts(build, tiny):
    tiny(tie=True).save_pretrained(build.folder)
    build.config(auto_map={"AutoConfig": "evil.Config"}, vocab_size=50, hidden_size=16)
    assert read_facts(build.folder).parameters == 6000


def test_nothing_heavy_is_imported(build, tiny):
    tiny(tie=True).save_pretrained(build.folder)
    code = (
        "import sys; from pathlib import Path; from tiedviz.files.facts import read_facts;"
        f"read_facts(Path({str(build.folder)!r}));"
        "heavy = {'torch', 'numpy', 'transformers', 'safetensors', 'zipfile', 'pickletools'};"
        "print(heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_bin_needs_no_torch_either(build):
    path = build.bin({"wte.weight": torch.zeros(50, 16)})
    code = (
        "import sys; from pathlib import Path; from tiedviz.files.facts import read_facts;"
        f"print(read_facts(Path({str(path)!r})).V, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["50", "False"]
