import pickle

from tiedviz.files.header import Header, StoredTensor, plain_sizes


def tensor(name, shape, dtype="F32", nbytes=None):
    count = 1
    for size in shape:
        count *= size
    return StoredTensor(name, shape, dtype, 4 * count if nbytes is None else nbytes, "f", 0)


def test_names_that_share_a_storage_count_once():
    tensors = (tensor("E", (3, 2)), tensor("W", (3, 2)), tensor("norm", (2,)))
    header = Header("bin", tensors, shared_storage=(("E", "W"),))
    assert header.stored_numbers == 8
    assert header.nbytes == 32
    assert [t.name for t in header.distinct] == ["E", "norm"]
    assert header.by_name["W"].shape == (3, 2)


def test_equal_shapes_without_a_shared_storage_count_twice():
    header = Header("safetensors", (tensor("E", (3, 2)), tensor("W", (3, 2))))
    assert header.stored_numbers == 12


def test_a_number_that_its_shape_repeats_is_stored_once():
    header = Header("bin", (tensor("mask", (5, 5), nbytes=4),))
    assert header.stored_numbers == 1


def test_quantised_blocks_count_their_numbers_not_their_bytes():
    header = Header("gguf", (tensor("E", (4, 32), "Q8_0", nbytes=136),))
    assert header.stored_numbers == 128
    assert header.nbytes == 136


def test_a_header_can_go_to_another_process_and_into_a_cache_key():
    header = Header("bin", (tensor("E", (3, 2)),), {"a": 1})
    assert pickle.loads(pickle.dumps(header)) == header
    assert hash(header)


def test_sizes_are_whole_numbers_that_an_address_can_hold():
    assert plain_sizes([2, 0]) == (2, 0)
    for wrong in ([-1], [2**63], [1.0], [True], ["2"], [[2]], None, "22", {}, [1] * 65):
        assert plain_sizes(wrong) is None
