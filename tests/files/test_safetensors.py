import json
import struct

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from tiedviz.files.formats import read_header
from tiedviz.files.safetensors import (
    FIRST_READ,
    HEADER_LIMIT,
    read_safetensors,
)
from tiedviz.words.refusals.file import FileRefusal

E = {"E": ("F32", (3, 2))}


def raw(header, body=24):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(body)


def entry(dtype="F32", shape=(3, 2), offsets=(0, 24)):
    return {"E": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


def read(content):
    return read_safetensors(lambda at, n: content[at : at + n], len(content), "m.safetensors")


def test_what_the_library_wrote_is_read_back(tmp_path):
    path = tmp_path / "m.safetensors"
    kinds = {"f": torch.float32, "b": torch.bfloat16, "i": torch.int64, "t": torch.bool}
    save_file({k: torch.ones(2, 3).to(v) for k, v in kinds.items()}, path, {"format": "pt"})
    header = read_header(path)
    found = {t.name: (t.shape, t.dtype, t.nbytes) for t in header.tensors}
    assert found == {
        "f": ((2, 3), "F32", 24),
        "b": ((2, 3), "BF16", 12),
        "i": ((2, 3), "I64", 48),
        "t": ((2, 3), "BOOL", 6),
    }
    assert header.metadata == {"format": "pt"}
    assert header.format == "safetensors"


def test_the_offset_leads_to_the_numbers(tmp_path):
    path = tmp_path / "m.safetensors"
    save_file({"a": torch.zeros(5), "b": torch.tensor([1.5, 2.5])}, path)
    b = read_header(path).by_name["b"]
    content = path.read_bytes()[b.offset : b.offset + b.nbytes]
    assert struct.unpack("<2f", content) == (1.5, 2.5)
    assert b.file == "m.safetensors"


def test_a_file_of_20_gigabytes_is_known_from_its_first_bytes(build, as_safetensors, counted):
    rows = 5_000_000
    tensors = {"E": ("F32", (rows, 1000))}
    path = build.safetensors(tensors, sparse=True)
    assert read_header(path).nbytes == 20_000_000_000
    seen = counted(as_safetensors(tensors, body=False) + bytes(FIRST_READ))
    assert read_safetensors(seen, path.stat().st_size, "big").stored_numbers == rows * 1000
    assert seen.asked == FIRST_READ


def test_a_long_header_is_read_to_its_end_and_no_further(as_safetensors, counted):
    content = as_safetensors({f"layer.{i:06}": ("U8", (1,)) for i in range(3000)})
    seen = counted(content)
    assert len(read_safetensors(seen, len(content), "m").tensors) == 3000
    assert seen.asked == len(content) - 3000


def test_a_file_cut_in_its_body_says_both_sizes(as_safetensors):
    content = as_safetensors(E)
    whole = len(content)
    with pytest.raises(FileRefusal, match=f"describes {whole} bytes and the file has {whole - 9}"):
        read(content[:-9])


def test_a_file_cut_in_its_header_is_cut_too(as_safetensors):
    with pytest.raises(FileRefusal, match="it was cut short"):
        read(as_safetensors(E)[:40])
    with pytest.raises(FileRefusal, match="it was cut short"):
        read(b"\x40\x00\x00")


def test_an_empty_file_and_a_file_of_zeros_did_not_finish_downloading():
    for content in (b"", bytes(4), bytes(4096)):
        with pytest.raises(FileRefusal, match="did not finish"):
            read(content)


def test_pointers_pages_and_other_formats_are_named():
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 1234567\n"
    with pytest.raises(FileRefusal, match="1,234,567"):
        read(pointer)
    with pytest.raises(FileRefusal, match="this is a web page"):
        read(b"<!doctype html><html><body>404</body></html>")
    with pytest.raises(FileRefusal, match="GGUF"):
        read(b"GGUF" + bytes(100))


def test_a_header_that_claims_an_exabyte_is_not_read(counted):
    seen = counted(struct.pack("<Q", 2**60) + b'{"' + bytes(FIRST_READ))
    with pytest.raises(FileRefusal, match="1,152,921,504,606,846,976"):
        read_safetensors(seen, 2**61, "m")
    assert seen.asked <= FIRST_READ


@pytest.mark.parametrize(
    "shape", [(-3, -2), (3, 2.0), (2**62, 2**62), (True, 6), (3, "2"), 6, None]
)
def test_shapes_that_are_no_shapes_are_hostile(shape):
    with pytest.raises(FileRefusal, match="not a size"):
        read(raw(entry(shape=shape)))


def test_a_shape_of_a_million_ones_is_hostile():
    with pytest.raises(FileRefusal, match="not one that a model needs"):
        read(raw(entry(shape=[1] * 1_000_000)))


@pytest.mark.parametrize("offsets", [(24, 0), (0, 23), (8, 32)])
def test_offsets_that_contradict_the_shape_or_leave_gaps_are_damage(offsets):
    with pytest.raises(FileRefusal, match="the file is damaged"):
        read(raw(entry(offsets=offsets), body=32))


@pytest.mark.parametrize("offsets", [(0, 2**63), (-24, 0), (0,), (0, 24, 48), None, (0, "24")])
def test_offsets_that_are_no_offsets_are_hostile(offsets):
    with pytest.raises(FileRefusal, match="not one that a model needs"):
        read(raw(entry(offsets=offsets)))


def test_two_tensors_may_not_share_bytes():
    both = entry() | {"W": entry()["E"]}
    with pytest.raises(FileRefusal, match="overlap"):
        read(raw(both))


def test_bytes_that_belong_to_no_tensor_are_damage():
    with pytest.raises(FileRefusal, match="8 bytes at its end"):
        read(raw(entry(), body=32))


@pytest.mark.parametrize("dtype", [None, 7, "", "f32", "\x1b[31m", "F" * 99, ["F32"]])
def test_a_type_that_is_no_type_is_damage(dtype):
    with pytest.raises(FileRefusal, match="the file is damaged"):
        read(raw(entry(dtype=dtype)))


def test_a_type_from_the_future_is_kept_by_its_name():
    header = read(raw(entry(dtype="F5_E2M2")))
    assert (header.tensors[0].dtype, header.tensors[0].nbytes) == ("F5_E2M2", 24)


@pytest.mark.parametrize("entry", [None, 3, "x", []])
def test_an_entry_that_describes_nothing_is_damage(entry):
    with pytest.raises(FileRefusal, match="the file is damaged"):
        read(raw({"E": entry}))


def test_a_header_nested_ten_thousand_deep_is_hostile():
    with pytest.raises(FileRefusal, match="not one that a model needs"):
        read(raw(b'{"a":' * 10_000 + b"}" * 10_000))


@pytest.mark.parametrize("text", [b"[]", b'{"E": ', b'{"E"\xff}', b"null", b' {"a": 1}'])
def test_a_header_that_is_not_an_object_is_damage(text):
    with pytest.raises(FileRefusal, match="header is not JSON"):
        read(raw(text))


def test_metadata_that_is_not_a_map_is_damage():
    with pytest.raises(FileRefusal, match="the file is damaged"):
        read(raw(entry() | {"__metadata__": [1]}))


def test_names_with_control_characters_are_kept_as_they_are():
    name = "E\x00\x1b[31m\u202e\n"
    assert read(raw({name: entry()["E"]})).tensors[0].name == name


HEADER = raw({"E": entry()["E"], "__metadata__": {"format": "pt"}})


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=200)
    | st.builds(
        lambda at, new, cut: (HEADER[:at] + new + HEADER[at + len(new) :])[:cut],
        st.integers(0, len(HEADER)),
        st.binary(min_size=1, max_size=9),
        st.integers(0, len(HEADER)),
    )
)
def test_whatever_the_bytes_there_is_an_answer_or_a_refusal_and_a_bound(content):
    asked = []

    def count(offset, length):
        asked.append(length)
        return content[offset : offset + length]

    try:
        read_safetensors(count, len(content), "m.safetensors")
    except FileRefusal as refusal:
        assert "\n" not in str(refusal)
    assert sum(asked) <= min(len(content), FIRST_READ + HEADER_LIMIT)
