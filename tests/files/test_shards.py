import pytest

from tiedviz.files import formats
from tiedviz.files.formats import weight_map
from tiedviz.files.header import Header, StoredTensor, join_shards
from tiedviz.words.refusals.file import FileRefusal


def shard(file, *names, shared=()):
    tensors = tuple(StoredTensor(name, (2,), "F32", 8, file, 0) for name in names)
    return Header("safetensors", tensors, {}, shared)


def test_the_map_names_the_file_of_each_tensor():
    assert weight_map({"weight_map": {"E": "a.safetensors"}}, "i") == {"E": "a.safetensors"}


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../secret.safetensors",
        "sub/a.safetensors",
        "..",
        ".",
        "",
        "..\\secret",
        "C:\\secret",
        "C:secret",
        "~/secret/",
        "a\x00.safetensors",
        "a\n.safetensors",
    ],
)
def test_a_name_that_is_a_path_is_refused(name):
    with pytest.raises(FileRefusal, match="not a file in its own folder") as refusal:
        weight_map({"weight_map": {"E": name}}, "model.safetensors.index.json")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("index", [{}, {"weight_map": {}}, {"weight_map": []}, {"weight_map": 3}])
def test_an_index_without_a_map_is_damage(index):
    with pytest.raises(FileRefusal, match="no weight_map"):
        weight_map(index, "i")


def test_a_file_that_is_no_name_is_damage():
    with pytest.raises(FileRefusal, match="the file is damaged"):
        weight_map({"weight_map": {"E": ["a"]}}, "i")


def test_more_files_than_any_model_has_are_hostile(monkeypatch):
    monkeypatch.setattr(formats, "MAX_SHARDS", 2)
    with pytest.raises(FileRefusal, match="not one that a model needs"):
        weight_map({"weight_map": {str(i): f"{i}.bin" for i in range(3)}}, "i")


def test_shards_are_joined_and_keep_what_they_share():
    one, two = shard("1", "E", "W", shared=(("E", "W"),)), shard("2", "norm")
    joined = join_shards([one, two], {"E": "1", "W": "1", "norm": "2"}, {"total_size": 24})
    assert [t.name for t in joined.tensors] == ["E", "W", "norm"]
    assert joined.shared_storage == (("E", "W"),)
    assert joined.stored_numbers == 4
    assert joined.metadata == {"total_size": 24}
    assert joined.absent == ()


def test_a_name_in_two_shards_is_the_one_the_index_means():
    joined = join_shards([shard("1", "E"), shard("2", "E")], {"E": "2"}, {})
    assert [t.file for t in joined.tensors] == ["2"]


def test_what_the_index_promises_and_no_shard_holds_is_told():
    joined = join_shards([shard("1", "E", "extra")], {"E": "1", "lm_head.weight": "1"}, {})
    assert joined.absent == ("lm_head.weight",)
    assert "extra" in joined.by_name
