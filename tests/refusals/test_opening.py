"""Everything that can be wrong with a checkpoint is refused, each in its own words."""

import json
import pickle
import struct

import pytest
import torch

from tiedviz.models.loading import load
from tiedviz.words.refusals import Refusal
from tiedviz.words.refusals.opening import CheckpointRefusal, OpeningRefusal


def edit_config(folder, **changes):
    path = folder / "config.json"
    config = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))


def only(folder, *kept):
    for path in folder.iterdir():
        if path.name not in kept:
            path.unlink()


def write(folder, name, data=b"x" * 64):
    (folder / name).write_bytes(data)


class Runs:
    """A pickle that would call a function."""

    def __reduce__(self):
        return (print, ("this must never be printed",))


def pickle_that_runs(folder):
    (folder / "model.safetensors").unlink()
    torch.save({"lm_head.weight": Runs()}, folder / "pytorch_model.bin")


def bare_pickle(folder):
    (folder / "model.safetensors").unlink()
    write(folder, "pytorch_model.bin", pickle.dumps({"a": 1}))


def cut(folder, size):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])


def half_of_two_shards(folder):
    (folder / "model.safetensors").unlink()
    names = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    index = {"metadata": {}, "weight_map": names}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    header = b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    write(folder, names["a"], struct.pack("<Q", len(header)) + header + bytes(4))


def adapter(folder):
    only(folder)
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "org/the-base"}')


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 548105171\n" % (
    b"a" * 64
)

CASES = {
    "not a model folder": (lambda f: only(f), "is not a model folder", ""),
    "adapter": (adapter, "it holds an adapter", "org/the-base"),
    "config only": (lambda f: only(f, "config.json"), "has no weights", ""),
    "tensorflow": (
        lambda f: (only(f, "config.json"), write(f, "tf_model.h5")),
        "Cannot read the weights in",
        "tf_model.h5",
    ),
    "flax": (
        lambda f: (only(f, "config.json"), write(f, "flax_model.msgpack")),
        "Cannot read the weights in",
        "flax_model.msgpack",
    ),
    "truncated body": (lambda f: cut(f, -500), "it was cut short", ""),
    "truncated header": (lambda f: cut(f, 100), "it was cut short", ""),
    "empty": (lambda f: cut(f, 0), "the download did not finish", ""),
    "pointer": (
        lambda f: write(f, "model.safetensors", POINTER),
        "Git LFS pointer",
        "548",
    ),
    "web page": (
        lambda f: write(f, "model.safetensors", b"<!DOCTYPE html><html>404</html>"),
        "this is a web page",
        "",
    ),
    "missing shard": (half_of_two_shards, "parts missing from the folder", "00002-of-00002"),
    "code in a pickle": (pickle_that_runs, "which can run code; nothing was run", "print"),
    "a bare pickle": (bare_pickle, "it is a bare pickle", ""),
    "broken config": (
        lambda f: (f / "config.json").write_text('{"model_type": }'),
        "it is not valid JSON",
        "line 1",
    ),
    "remote code": (
        lambda f: edit_config(
            f, model_type="own", auto_map={"AutoModelForCausalLM": "modeling_own.Own"}
        ),
        "wants to run code of its own",
        "modeling_own.Own",
    ),
    "unknown model type": (
        lambda f: edit_config(f, model_type="nonsuch", transformers_version="4.30.0"),
        "is of a kind that is not known here",
        "nonsuch",
    ),
    "newer transformers": (
        lambda f: edit_config(f, model_type="nonsuch", transformers_version="99.1.0"),
        "needs a newer transformers",
        "99.1.0",
    ),
    "quantised": (
        lambda f: edit_config(f, quantization_config={"quant_method": "gptq", "bits": 4}),
        "is quantised with",
        "gptqmodel",
    ),
    "unknown quantisation": (
        lambda f: edit_config(f, quantization_config={"quant_method": "zip"}),
        "packed in a way that is not known here",
        "zip",
    ),
    "no class": (
        lambda f: edit_config(f, architectures=None),
        "names no class that is known here",
        "nothing",
    ),
    "no head": (
        lambda f: edit_config(f, architectures=["LlamaModel"]),
        "scores no tokens",
        "LlamaModel",
    ),
    "no tokenizer": (
        lambda f: only(f, "config.json", "model.safetensors"),
        "has no tokenizer that can be read",
        "",
    ),
    "other shapes": (
        lambda f: edit_config(f, hidden_size=32),
        "do not fit its config.json",
        "",
    ),
}

NUMBERED = {
    "adapter": pytest.mark.case(48),
    "config only": pytest.mark.case(57),
    "truncated body": pytest.mark.case(56),
    "code in a pickle": pytest.mark.case(55),
    "remote code": pytest.mark.case(59),
    "quantised": pytest.mark.case(62),
}


@pytest.fixture
def broken(tiny_folder, request):
    folder = tiny_folder(name="broken")
    CASES[request.param][0](folder)
    return folder


@pytest.mark.parametrize(
    ("broken", "cause", "named"),
    [
        pytest.param(name, cause, named, id=name, marks=NUMBERED.get(name, ()))
        for name, (_, cause, named) in CASES.items()
    ],
    indirect=["broken"],
)
def test_each_fault_has_its_own_words_and_names_what_matters(broken, cause, named, capfd):
    with pytest.raises(Refusal) as refused:
        load(str(broken))
    assert cause in str(refused.value)
    assert (
        sum(other in str(refused.value) for other in {cause for _, cause, _ in CASES.values()}) == 1
    )
    assert named in str(refused.value)
    assert refused.value.remedy
    assert "this must never be printed" not in capfd.readouterr().out
    assert "weights_only" not in str(refused.value)


def test_no_two_faults_are_worded_alike(tiny_folder):
    said = []
    for spoil, _, _ in CASES.values():
        folder = tiny_folder(name="broken")
        spoil(folder)
        with pytest.raises(Refusal) as refused:
            load(str(folder))
        said.append((refused.value.why, refused.value.remedy))
    repeated = {why for why in said if said.count(why) > 1}
    # two foreign formats are one fault, and name their own file each
    assert not repeated


def test_a_model_too_large_for_the_memory_is_refused_with_both_numbers(tiny_folder, monkeypatch):
    from tiedviz.models import memory

    folder = tiny_folder()
    monkeypatch.setattr(memory, "available_memory", lambda: 123_000_000)
    with pytest.raises(OpeningRefusal, match="does not fit in memory") as refused:
        load(str(folder))
    assert "400 MB" in str(refused.value) and "123 MB" in str(refused.value)


@pytest.mark.case(11)
def test_a_home_path_and_a_trailing_space_are_understood(tiny_folder, monkeypatch):  # case 11
    folder = tiny_folder()
    monkeypatch.setenv("HOME", str(folder.parent))
    assert load(f"~/{folder.name} ").tied


@pytest.mark.case(59)
def test_case_59_code_of_a_repository_is_not_asked_about_on_the_terminal(tiny_folder, monkeypatch):
    from tiedviz.verdict.audit import Audit, hear_files

    def ask(*_):
        raise AssertionError("a question on the terminal of the server")

    monkeypatch.setattr("builtins.input", ask)
    folder = tiny_folder(name="own code")
    edit_config(folder, auto_map={"AutoModelForCausalLM": "modeling_own.Own"}, model_type="own")
    (folder / "modeling_own.py").write_text("raise SystemExit('this code was run')")
    with pytest.raises(CheckpointRefusal, match="wants to run code of its own"):
        load(str(folder))
    assert Audit(*hear_files(folder)).verdict.word == "tied"  # the flag and the header say enough


@pytest.mark.case(33)
def test_bert_opens_as_the_masked_model_it_is(tmp_path):  # case 33
    from transformers import BertConfig, BertForMaskedLM

    from tests.hub.released import saved, word_tokenizer

    tokenizer = word_tokenizer(
        {"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]", "bos_token": "[CLS]"}
    )
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
    )
    folder = saved(tmp_path / "bert", BertForMaskedLM(config), tokenizer)
    assert type(load(str(folder)).model) is BertForMaskedLM
