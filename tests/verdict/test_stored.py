"""What the files hold, of every format, and files that want to do harm."""

import json
import struct
import time

import pytest
import torch

from tests.files.conftest import Build, CountedRead, safetensors_bytes
from tests.verdict.conftest import randomise, tiny
from tiedviz.files import access
from tiedviz.files.header import Header, StoredTensor
from tiedviz.verdict.audit import Audit, hear_files
from tiedviz.verdict.record import audit_record
from tiedviz.verdict.stored import from_header
from tiedviz.words.refusals.file import FileRefusal

LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 50}


@pytest.fixture
def build(tmp_path):
    folder = tmp_path / "built"
    folder.mkdir()
    return Build(folder)


def verdict_of(path):
    return Audit(*hear_files(path)).verdict


def state(tie=True):
    return dict(tiny(tie).state_dict())


def test_shared_storage_inside_a_bin_is_one_matrix(build):
    build.config(**LLAMA, tie_word_embeddings=True)
    build.bin(state(True))
    _, stored = hear_files(build.folder)
    assert stored.shares_storage and not stored.two_copies
    verdict = verdict_of(build.folder)
    assert verdict.word == "tied"
    assert verdict.groups == (("model.embed_tokens.weight", "lm_head.weight"),)
    assert verdict.costs.total == 6000


def test_shared_storage_declared_apart_loads_as_two(build):
    build.config(**LLAMA, tie_word_embeddings=False)
    build.bin(state(True))
    verdict = verdict_of(build.folder)
    assert verdict.word == "twin" and verdict.is_wrong
    assert verdict.costs.total == 6800


def test_two_matrices_in_a_bin_are_compared_in_place(build):
    build.config(**LLAMA, tie_word_embeddings=True)
    tensors = state(True)
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].clone()
    build.bin(tensors)
    assert hear_files(build.folder)[1].comparison.same_bytes
    tensors["lm_head.weight"][3] += 1
    build.bin(tensors)
    assert hear_files(build.folder)[1].comparison.differing_rows == 1


def test_a_transposed_view_in_a_bin_is_unpickled_safely(build):
    build.config(**LLAMA, tie_word_embeddings=True)
    tensors = state(True)
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].T.contiguous().T
    build.bin(tensors)
    _, stored = hear_files(build.folder)
    assert stored.head.offset is None and stored.comparison.same_bytes


def test_nested_dicts_in_a_bin_are_found(build):
    build.config(**LLAMA, tie_word_embeddings=True)
    tensors = state(True)
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].T.contiguous().T + 0
    tensors["lm_head.weight"] = tensors["lm_head.weight"].T.contiguous().T
    build.bin({"state_dict": tensors})
    assert hear_files(build.folder)[1].comparison is not None


def test_copies_in_two_shards_are_compared(tmp_path):
    model = tiny(False)
    with torch.no_grad():
        model.lm_head.weight.copy_(model.model.embed_tokens.weight)
    model.save_pretrained(tmp_path / "m", max_shard_size="8kB")
    _, stored = hear_files(tmp_path / "m")
    assert stored.embedding.file != stored.head.file
    assert stored.comparison.same_bytes


@pytest.mark.parametrize(
    "names",
    [
        ("wte.weight", "my.odd.scorer"),
        ("model.language.embed_tokens.weight", "model.language.lm_head.weight"),
        ("gpt_neox.embed_in.weight", "embed_out.weight"),
        ("tok_embeddings.weight", "output.weight"),
    ],
)
def test_odd_names_are_found(build, names):
    build.config(**LLAMA, tie_word_embeddings=True)
    build.safetensors({names[0]: ("F32", (50, 16)), names[1]: ("F32", (50, 16))})
    assert verdict_of(build.folder).word == "twin"  # both are zeros


def test_a_promised_head_that_is_stored_nowhere_is_named(build):
    build.config(**LLAMA, tie_word_embeddings=False)
    build.safetensors({"model.embed_tokens.weight": ("F32", (50, 16))}, "a.safetensors")
    build.index({"model.embed_tokens.weight": "a.safetensors", "lm_head.weight": "a.safetensors"})
    verdict = verdict_of(build.folder)
    assert verdict.word == "broken" and "promises lm_head.weight" in verdict.causes[0]


def test_an_adapter_config_beside_the_weights_counts(build):
    build.config(**LLAMA, tie_word_embeddings=True)
    build.safetensors({"model.embed_tokens.weight": ("F32", (50, 16))})
    (build.folder / "adapter_config.json").write_text(json.dumps({"target_modules": ["q_proj"]}))
    assert verdict_of(build.folder).word == "tied"
    (build.folder / "adapter_config.json").write_text(json.dumps({"target_modules": ["lm_head"]}))
    assert verdict_of(build.folder).word == "adapter"


def test_a_gguf_encoder_has_no_head(write_gguf):
    keys = {"bert__attention__causal": False}
    path = write_gguf(torch.ones(50, 32).numpy(), arch="bert", **keys)
    assert verdict_of(path).word == "no_head"


def test_bert_in_all_its_uses(tmp_path):
    from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification, BertModel

    from tiedviz.models.building import building

    sizes = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 1}
    config = BertConfig(**sizes, num_attention_heads=2, intermediate_size=32)
    words = {}
    for kind in (BertForMaskedLM, BertForSequenceClassification, BertModel):
        with building():
            randomise(kind(config)).save_pretrained(tmp_path / kind.__name__)
        words[kind.__name__] = verdict_of(tmp_path / kind.__name__).word
    assert words == {
        "BertForMaskedLM": "tied",
        "BertForSequenceClassification": "no_head",
        "BertModel": "no_head",
    }


# Bounds.


def test_twenty_gigabytes_are_judged_from_their_header(build, monkeypatch):
    build.config(**LLAMA | {"vocab_size": 152_064}, tie_word_embeddings=True)
    layers = {f"model.layers.{i}.w": ("BF16", (8192, 16384)) for i in range(68)}
    path = build.safetensors(
        {"model.embed_tokens.weight": ("BF16", (152_064, 8192)), **layers}, sparse=True
    )
    assert path.stat().st_size > 20e9
    read = []
    plain = access.read_exactly

    def counted(source, offset, length, *rest):
        read.append(length)
        return plain(source, offset, length, *rest)

    monkeypatch.setattr("tiedviz.files.safetensors.read_exactly", counted)
    started = time.perf_counter()
    verdict = verdict_of(build.folder)
    assert verdict.word == "tied" and verdict.costs.total == 152_064 * 8192 + 68 * 8192 * 16384
    assert sum(read) <= 65_536 and time.perf_counter() - started < 0.2


def test_a_large_gguf_vocabulary_is_passed_over(build):
    path = build.gguf(tensors={"token_embd.weight": (262_144, 32)}, tokens=262_144)
    started = time.perf_counter()
    assert verdict_of(path).word == "tied"
    assert (
        time.perf_counter() - started < 0.5
    )  # the walk alone takes 0.03 s; room for a busy machine


def test_a_30_shard_layout_takes_less_than_4_mb(as_remote):
    asked, words = as_remote
    assert words == "cannot_tell" and asked < 4_000_000


@pytest.fixture
def as_remote():
    """The headers of thirty shards through a counting reader, as the Hub's are read."""
    from tiedviz.files.header import join_shards
    from tiedviz.files.safetensors import read_safetensors

    headers, asked = [], 0
    for shard in range(30):
        tensors = {f"model.layers.{shard}.{i}.w": ("BF16", (64, 64)) for i in range(300)}
        if shard in (0, 29):
            name = "lm_head.weight" if shard else "model.embed_tokens.weight"
            tensors[name] = ("BF16", (1000, 512))
        content = safetensors_bytes(tensors)
        read = CountedRead(content)
        headers.append(read_safetensors(read, len(content), f"{shard}.safetensors"))
        asked += read.asked
    config = LLAMA | {"vocab_size": 1000, "tie_word_embeddings": True}
    from tiedviz.verdict.declared import declared_in

    stored = from_header(join_shards(headers, {}, {}), config)
    verdict = Audit(declared_in(config), stored).verdict
    assert "comparing the two stored matrices reads 2 MB" in verdict.state
    return asked, verdict.word


# Hostile input: one clear line each.


def hostile(build, content, name="model.safetensors"):
    build.config(**LLAMA)
    build.file(name, content)
    with pytest.raises(FileRefusal) as caught:
        verdict_of(build.folder)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500
    return str(caught.value)


def test_a_header_of_2_to_the_60_bytes(build):
    assert "claims" in hostile(build, struct.pack("<Q", 2**60) + b"{}" + bytes(100))


def test_json_nested_ten_thousand_deep(build):
    text = b'{"a":' * 10_000 + b"1" + b"}" * 10_000
    hostile(build, struct.pack("<Q", len(text)) + text)
    (build.folder / "config.json").write_bytes(text)
    with pytest.raises(FileRefusal, match="nested too deep"):
        verdict_of(build.folder)


def test_shapes_that_overflow(build):
    entry = {"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 8]}
    text = json.dumps({"model.embed_tokens.weight": entry}).encode()
    hostile(build, struct.pack("<Q", len(text)) + text + bytes(8))


def test_an_index_that_points_outside_the_folder(build):
    build.file("../secret.safetensors", safetensors_bytes({"lm_head.weight": ("F32", (50, 16))}))
    index = json.dumps({"weight_map": {"lm_head.weight": "../secret.safetensors"}}).encode()
    assert "not a file in its own folder" in hostile(
        build, index, name="model.safetensors.index.json"
    )


def test_names_with_control_characters_are_escaped_everywhere(build):
    name = "evil\n\x1b[31m\u202e\x9b.embed_tokens.weight"
    build.config(**LLAMA | {"architectures": ["Evil\x1b[2J\n"]}, **{"a\x1b": {
        "tie_word_embeddings": "\x1b]0;x\x07"}})  # fmt: skip
    build.safetensors({name: ("F32", (50, 16))})
    audit = Audit(*hear_files(build.folder), model="m")
    verdict, record = audit.verdict, audit_record(audit)
    text = json.dumps(record, ensure_ascii=False)
    assert all(c.isprintable() for c in text)
    assert all(c.isprintable() for row in verdict.evidence for c in row.text)
    assert "evil\\n" in record["stored"]["embedding"]["name"]


@pytest.mark.parametrize("shape", [(0, 16), (50, 0), (1, 1)])
def test_empty_and_tiny_matrices_do_no_harm(build, shape):
    build.config(**LLAMA | {"vocab_size": shape[0]}, tie_word_embeddings=True)
    names = ("model.embed_tokens.weight", "lm_head.weight")
    build.safetensors({name: ("F32", shape) for name in names})
    verdict_of(build.folder)


def test_flags_that_json_cannot_hold_do_no_harm(build):
    build.config(**LLAMA)
    (build.folder / "config.json").write_text(
        '{"model_type": "llama", "tie_word_embeddings": NaN, "vocab_size": 50}'
    )
    build.safetensors({"model.embed_tokens.weight": ("F32", (50, 16))})
    record = audit_record(Audit(*hear_files(build.folder), model="m"))
    json.dumps(record, allow_nan=False)


def test_scaled_eight_bit_heads_are_left_alone():
    tensors = (
        StoredTensor("model.embed_tokens.weight", (50, 16), "BF16", 1600, "f", 0),
        StoredTensor("lm_head.weight", (50, 16), "F8_E4M3", 800, "f", 1600),
        StoredTensor("lm_head.weight_scale", (50, 1), "F32", 200, "f", 2400),
    )
    stored = from_header(Header("safetensors", tensors), LLAMA)
    assert "scales of their own" in stored.uncompared
