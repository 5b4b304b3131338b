import json

import pytest
import torch

from tiedviz.files.formats import read_header
from tiedviz.words.refusals.file import BrokenJson, FileRefusal

E = {"E": ("F32", (3, 2))}
W = {"W": ("F32", (3, 2))}


def names(header):
    return [tensor.name for tensor in header.tensors]


def test_a_single_file_of_each_kind_is_read(build):
    assert names(read_header(build.safetensors(E, "x.safetensors"))) == ["E"]
    assert names(read_header(build.gguf(tensors={"E": (3, 2)}))) == ["E"]
    assert names(read_header(build.bin({"E": torch.zeros(3, 2)}))) == ["E"]


def test_a_gguf_file_is_known_without_its_ending(build):
    assert read_header(build.gguf("sha256-4d7a", tensors={"E": (3, 2)})).format == "gguf"


def test_a_file_that_is_no_weights_is_refused(build):
    with pytest.raises(FileRefusal, match="not weights"):
        read_header(build.file("notes.txt", b"hello"))
    with pytest.raises(FileRefusal, match="there is no such file or folder"):
        read_header(build.folder / "no.safetensors")
    with pytest.raises(FileRefusal):
        read_header(build.folder / ("x" * 5000))


def test_a_folder_that_save_pretrained_wrote_is_read(build, tiny):
    tiny(tie=True).save_pretrained(build.folder)
    assert read_header(build.folder).stored_numbers == 6000


def test_shards_that_save_pretrained_wrote_are_read_as_one(build, tiny):
    tiny(tie=False).save_pretrained(build.folder, max_shard_size="8KB")
    header = read_header(build.folder)
    assert len({t.file for t in header.tensors}) > 1
    assert header.stored_numbers == 6800
    assert header.absent == ()


def test_safetensors_come_before_pickles(build):
    build.bin({"from_bin": torch.zeros(2)})
    assert read_header(build.folder).format == "bin"
    build.safetensors(E)
    assert read_header(build.folder).format == "safetensors"


def test_shards_of_pickles_are_read(build):
    build.bin({"E": torch.zeros(3, 2)}, "pytorch_model-00001-of-00002.bin")
    build.bin({"W": torch.zeros(3, 2)}, "pytorch_model-00002-of-00002.bin")
    files = {"E": "pytorch_model-00001-of-00002.bin", "W": "pytorch_model-00002-of-00002.bin"}
    build.index(files, "pytorch_model.bin.index.json", metadata={"total_size": 48})
    header = read_header(build.folder)
    assert names(header) == ["E", "W"]
    assert header.metadata == {"total_size": 48}


def test_links_into_the_blobs_of_the_hub_cache_are_followed(build):
    blobs = build.folder.parent / "blobs"
    blobs.mkdir()
    for name, tensors in (("a.safetensors", E), ("b.safetensors", W)):
        build.safetensors(tensors, name).rename(blobs / name)
        (build.folder / name).symlink_to(f"../blobs/{name}")
    build.index({"E": "a.safetensors", "W": "b.safetensors"})
    assert names(read_header(build.folder)) == ["E", "W"]


def test_missing_shards_are_named_before_any_is_read(build):
    build.file("a.safetensors", b"never looked at")
    build.index({"E": "a.safetensors", "F": "b.safetensors", "G": "c.safetensors"})
    with pytest.raises(FileRefusal, match=r"2 of its 3 parts.*b.safetensors, c.safetensors"):
        read_header(build.folder)


def test_a_shard_outside_the_folder_is_not_read(build):
    outside = build.safetensors(E, "secret.safetensors")
    outside.rename(build.folder.parent / "secret.safetensors")
    for name in ("../secret.safetensors", str(build.folder.parent / "secret.safetensors")):
        build.index({"E": name})
        with pytest.raises(FileRefusal, match=r"secret.safetensors"):
            read_header(build.folder)


def test_a_shard_that_is_a_pointer_is_named(build):
    build.safetensors(E, "a.safetensors")
    build.file("b.safetensors", b"version https://git-lfs.github.com/spec/v1\nsize 99\n")
    build.index({"E": "a.safetensors", "W": "b.safetensors"})
    with pytest.raises(FileRefusal, match=r"b.safetensors.*99 bytes"):
        read_header(build.folder)


def test_a_head_that_only_the_index_knows_is_absent(build):
    build.safetensors(E, "a.safetensors")
    build.index({"E": "a.safetensors", "lm_head.weight": "a.safetensors"})
    assert read_header(build.folder).absent == ("lm_head.weight",)


def test_an_index_that_is_broken_is_refused_with_its_place(build):
    build.file("model.safetensors.index.json", b'{"weight_map": ')
    with pytest.raises(BrokenJson, match=r"model.safetensors.index.json.*line 1"):
        read_header(build.folder)
    build.file("model.safetensors.index.json", json.dumps({"metadata": {}}).encode())
    with pytest.raises(FileRefusal, match="no weight_map"):
        read_header(build.folder)


def test_a_link_to_nothing_says_so(build):
    (build.folder / "model.safetensors").symlink_to("../blobs/gone")
    with pytest.raises(FileRefusal, match="a link to a file that is not there"):
        read_header(build.folder)


@pytest.mark.case(57)
@pytest.mark.parametrize(
    "name",
    [
        "tf_model.h5",
        "flax_model.msgpack",
        "consolidated.safetensors",
        "consolidated.00.pth",
        "model.onnx",
        "model.ckpt.index",
        "model.fp16.safetensors",
        "model-00001-of-00002.safetensors",
        "openvino_model.bin",
    ],
)
def test_weights_of_another_format_are_named(build, name):  # case 57
    build.config()
    build.file(name, b"x")
    with pytest.raises(FileRefusal, match=name):
        read_header(build.folder)


@pytest.mark.case(57)
def test_a_config_alone_has_no_weights(build):  # case 57
    build.config()
    build.file("training_args.bin", b"x")
    with pytest.raises(FileRefusal, match=r"holds config.json, training_args.bin"):
        read_header(build.folder)


def test_an_adapter_alone_names_its_base(build):
    build.file("adapter_config.json", b'{"base_model_name_or_path": "org/base"}')
    build.safetensors(E, "adapter_model.safetensors")
    with pytest.raises(FileRefusal, match="org/base"):
        read_header(build.folder)


def test_an_adapter_beside_whole_weights_does_not_hide_them(build):
    build.file("adapter_config.json", b"{}")
    build.safetensors(E)
    assert names(read_header(build.folder)) == ["E"]


def test_a_folder_of_something_else_is_not_a_model(build):
    with pytest.raises(FileRefusal, match="is not a model folder"):
        read_header(build.folder)


def test_the_only_gguf_in_a_folder_is_meant_and_of_several_none(build):
    build.gguf("a.gguf", tensors={"E": (3, 2)})
    assert read_header(build.folder).format == "gguf"
    build.gguf("b.gguf", tensors={"E": (3, 2)})
    with pytest.raises(FileRefusal, match=r"2 GGUF files: a.gguf, b.gguf"):
        read_header(build.folder)


def test_the_parts_of_a_split_gguf_belong_together(build):
    for part, tensors in ((1, {"token_embd.weight": (3, 2)}), (2, {"output.weight": (3, 2)})):
        name = f"m-0000{part}-of-00002.gguf"
        build.gguf(name, tensors=tensors, split__count=2, split__no=part - 1)
    both = ["token_embd.weight", "output.weight"]
    assert names(read_header(build.folder)) == both
    assert names(read_header(build.folder / "m-00001-of-00002.gguf")) == both
    (build.folder / "m-00002-of-00002.gguf").unlink()
    with pytest.raises(FileRefusal, match=r"m-00002-of-00002.gguf"):
        read_header(build.folder)


def test_a_part_of_a_gguf_under_another_name_is_not_taken_for_the_whole(build):
    path = build.gguf("model.gguf", tensors={"token_embd.weight": (3, 2)}, split__count=3)
    with pytest.raises(FileRefusal, match="the other 2"):
        read_header(path)
