"""Faults that an independent reader found; each was seen to fail before it was mended."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file

from tiedviz.models.known import known_facts
from tiedviz.models.loading import load
from tiedviz.models.pool import ModelPool
from tiedviz.models.prompt import LONGEST_UNTRAINED, encode, one_token
from tiedviz.models.sources import FileSource, find_source
from tiedviz.words.refusals.file import FileRefusal
from tiedviz.words.refusals.opening import OpeningRefusal
from tiedviz.words.refusals.prompt import PromptRefusal, PromptTooLong


@pytest.mark.parametrize(
    "name", ["~nobody-at-all/model", "/" + "x" * 300, "a\0b", "./" + "y" * 5000]
)
def test_a_name_no_system_can_have_is_refused_in_words(name):
    with pytest.raises(OpeningRefusal, match=r"names no model|Nothing lies at"):
        find_source(name)


def test_a_token_beyond_the_rows_is_refused(tiny_folder):
    folder = tiny_folder(name="short", vocab_size=290)
    loaded = load(str(folder))
    beyond = loaded.vocabulary.token(295).text
    with pytest.raises(PromptRefusal, match="There is no row") as refused:
        encode(loaded, beyond)
    assert "rows 0 to 289" in str(refused.value)


@pytest.mark.parametrize("text", ["id:" + "9" * 5000, "id:-1", "id:", "id:1.5"])
def test_an_id_that_is_no_row_number_is_no_token(tied_model, text):
    with pytest.raises(PromptRefusal, match=r"is not one token|There is no row"):
        one_token(tied_model, text)


def test_a_model_without_stated_positions_has_a_limit_too(tied_model, monkeypatch):
    monkeypatch.setattr(type(tied_model), "positions", None)
    with pytest.raises(PromptTooLong):
        encode(tied_model, "cat " * (LONGEST_UNTRAINED + 1))


def test_a_weights_file_beside_another_is_not_mistaken_for_its_folder(tiny_folder):
    folder = tiny_folder()
    shutil.copy(folder / "model.safetensors", folder / "other.safetensors")
    with pytest.raises(OpeningRefusal, match="cannot be opened by itself"):
        find_source(str(folder / "other.safetensors"))
    assert load(str(folder / "model.safetensors")).tied


def test_a_folder_with_one_gguf_is_that_file(tmp_path):
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    assert isinstance(find_source(str(tmp_path)), FileSource)


def test_one_storage_under_two_names_is_one_table(tiny_folder):
    folder = tiny_folder(tied=True, name="pickled")
    tensors = load_file(folder / "model.safetensors")
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
    torch.save(tensors, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    facts = known_facts(find_source(str(folder)))
    assert facts.stores_one_table
    assert facts.share == pytest.approx(load(str(folder)).share)


def test_a_model_over_the_budget_is_refused_and_nobody_is_evicted(tiny_folder):
    small = str(tiny_folder(name="small"))
    large = str(tiny_folder(name="large", hidden_size=64, intermediate_size=512))
    pool = ModelPool(load, budget=load(small).nbytes + 10)
    assert pool.open(small).wait(60)
    opening = pool.open(large)
    assert opening.wait(60)
    assert isinstance(
        opening.refusal, OpeningRefusal
    ) and "is larger than open models may be together" in str(opening.refusal)
    assert pool.names == [small]


def test_a_model_that_cannot_be_opened_evicts_nobody(tiny_folder):
    small, broken = str(tiny_folder(name="small")), tiny_folder(name="broken")
    config = json.loads((broken / "config.json").read_text()) | {"model_type": "nonsuch"}
    (broken / "config.json").write_text(json.dumps(config))
    pool = ModelPool(load, budget=load(small).nbytes + 10)
    pool.open(small).wait(60)
    pool.open(str(broken)).wait(60)
    assert pool.names == [small]


def test_opening_what_is_open_loads_nothing(tiny_folder):
    folder, loads = str(tiny_folder()), []

    def counted(source, **options):
        loads.append(source)
        return load(source, **options)

    pool = ModelPool(counted, budget=10**9)
    pool.open(folder).wait(60)
    pool.open(folder).wait(60)
    assert loads == [folder]


def test_a_pickle_with_one_long_name_many_times_is_refused(tmp_path):
    from tiedviz.files.formats import read_header

    long = "k" * 1_000_000
    nested = {long: {long: torch.zeros(1)}}
    torch.save(nested, tmp_path / "pytorch_model.bin")
    with pytest.raises(FileRefusal, match="not one that a model needs"):
        read_header(tmp_path / "pytorch_model.bin")


def test_a_gguf_file_that_lacks_weights_is_not_filled_with_random_ones(tmp_path, empty_cache):
    """What the library makes up would be saved, and would look like the checkpoint ever after."""
    import gguf
    import numpy as np

    path = tmp_path / "holes.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(32)
    writer.add_block_count(1)
    writer.add_feed_forward_length(64)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(40)
    pieces = ["<unk>", "<s>", "</s>", *[f"▁w{index}" for index in range(37)]]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(pieces)
    writer.add_token_scores([0.0] * 40)
    writer.add_token_types([2, 3, 3] + [1] * 37)
    generator = np.random.default_rng(0)
    shapes = {
        "token_embd.weight": (40, 32),
        "output_norm.weight": (32,),
        "blk.0.attn_norm.weight": (32,),
        "blk.0.ffn_norm.weight": (32,),
        "blk.0.attn_q.weight": (32, 32),
        "blk.0.attn_k.weight": (32, 32),
        "blk.0.attn_v.weight": (32, 32),
        "blk.0.attn_output.weight": (32, 32),
        "blk.0.ffn_gate.weight": (64, 32),
        "blk.0.ffn_down.weight": (32, 64),
    }  # ffn_up is not among them
    for name, shape in shapes.items():
        writer.add_tensor(name, generator.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(OpeningRefusal, match="could not be converted") as refused:
        load(str(path))
    assert "up_proj" in str(refused.value)
