import struct

import gguf
import numpy
import pytest
from gguf.quants import quantize
from hypothesis import given, settings
from hypothesis import strategies as st

from tiedviz.files.formats import read_header
from tiedviz.files.gguf import FIRST_READ, HEADER_LIMIT, LongArray, read_gguf
from tiedviz.words.refusals.file import FileRefusal


def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(value)) + value


def pair(key, kind, value):
    return text(key) + struct.pack("<I", kind) + value


def entry(name="E", dims=(2, 3), kind=0, offset=0):
    sizes = struct.pack(f"<I{len(dims)}Q", len(dims), *dims)
    return text(name) + sizes + struct.pack("<IQ", kind, offset)


def raw(pairs=(), entries=(), version=3, body=64, counts=None):
    tensors, values = counts or (len(entries), len(pairs))
    start = b"GGUF" + struct.pack("<IQQ", version, tensors, values)
    content = start + b"".join(pairs) + b"".join(entries)
    return content + bytes(-len(content) % 32) + bytes(body)


def read(content):
    return read_gguf(lambda at, n: content[at : at + n], len(content), "m.gguf")


@pytest.fixture
def quantised(tmp_path):
    """A file with every kind of metadata and tensors of several types."""
    path = tmp_path / "q.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_bool("x.yes", True)
    writer.add_float32("x.half", 0.5)
    writer.add_int8("x.minus", -3)
    writer.add_uint64("x.large", 2**40)
    writer.add_float64("x.double", 0.1)
    writer.add_array("x.languages", ["en", "naïve"])
    writer.add_array("x.sizes", [1, 2, 3])
    writer.add_array("x.many", list(range(1000)))
    writer.add_token_list([f"tok{i}" for i in range(500)])
    numbers = numpy.random.default_rng(0).normal(size=(6, 256)).astype(numpy.float32)
    for kind in ("Q8_0", "Q4_0", "Q4_1", "Q5_0", "BF16", "F16"):
        raw_type = gguf.GGMLQuantizationType[kind]
        writer.add_tensor(kind, quantize(numbers, raw_type), raw_dtype=raw_type)
    writer.add_tensor("F32", numbers)
    writer.add_tensor("one", numbers[0])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_names_shapes_types_and_places_are_those_of_the_gguf_library(quantised):
    theirs = {
        t.name: (tuple(map(int, reversed(t.shape))), t.tensor_type.name, t.n_bytes, t.data_offset)
        for t in gguf.GGUFReader(quantised).tensors
    }
    ours = {t.name: (t.shape, t.dtype, t.nbytes, t.offset) for t in read_header(quantised).tensors}
    assert ours == theirs
    assert ours["Q8_0"][0] == (6, 256)  # rows first


def test_short_values_are_kept_and_long_lists_only_counted(quantised):
    values = read_header(quantised).metadata
    assert values["general.architecture"] == "llama"
    assert values["x.yes"] is True
    assert (values["x.half"], values["x.minus"], values["x.large"]) == (0.5, -3, 2**40)
    assert values["x.double"] == 0.1
    assert values["x.languages"] == ("en", "naïve")
    assert values["x.sizes"] == (1, 2, 3)
    assert values["x.many"] == LongArray(1000)
    assert values["tokenizer.ggml.tokens"] == LongArray(500)


def test_numbers_in_blocks_are_numbers(quantised):
    q8 = read_header(quantised).by_name["Q8_0"]
    assert (q8.numbers, q8.nbytes) == (6 * 256, 6 * 8 * 34)


def test_a_quarter_of_a_million_tokens_is_passed_over(counted):
    words = b"".join(text(f"▁word{i}") for i in range(262_144))
    tokens = pair("tokens", 9, struct.pack("<IQ", 8, 262_144) + words)
    scores = pair("scores", 9, struct.pack("<IQ", 6, 262_144) + bytes(4 * 262_144))
    content = raw([tokens, scores, pair("last", 4, struct.pack("<I", 7))], [entry()])
    header = read(content)
    assert header.metadata == {
        "tokens": LongArray(262_144),
        "scores": LongArray(262_144),
        "last": 7,
    }
    assert header.by_name["E"].offset == len(content) - 64
    body = bytes(50_000_000)
    seen = counted(content + body)
    read_gguf(seen, len(seen.content), "m.gguf")
    assert seen.asked <= 2 * len(content)


def test_version_2_is_read_and_others_are_refused():
    assert read(raw(entries=[entry()], version=2)).by_name["E"].shape == (3, 2)
    for version, says in ((1, "version 1"), (4, "version 4"), (0x03000000, "big-endian")):
        with pytest.raises(FileRefusal, match=says):
            read(raw(version=version))


def test_the_alignment_of_the_file_is_used(tmp_path):
    path = tmp_path / "a.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_custom_alignment(256)
    writer.add_tensor("E", numpy.zeros((3, 2), numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    assert read_header(path).by_name["E"].offset == gguf.GGUFReader(path).tensors[0].data_offset


@pytest.mark.parametrize("alignment", [0, 3, 2**31 + 1])
def test_an_alignment_that_is_no_power_of_two_is_damage(alignment):
    value = pair("general.alignment", 4, struct.pack("<I", alignment))
    with pytest.raises(FileRefusal, match="alignment"):
        read(raw([value], [entry()]))


def test_a_file_cut_anywhere_is_refused(quantised):
    content = quantised.read_bytes()
    for size in (30, 100, 2000, len(content) - 500):
        with pytest.raises(FileRefusal, match="it was cut short"):
            read(content[:size])


def test_what_is_no_gguf_is_named():
    with pytest.raises(FileRefusal, match="the download did not finish"):
        read(b"")
    with pytest.raises(FileRefusal, match="Git LFS pointer"):
        read(b"version https://git-lfs.github.com/spec/v1\nsize 98362432\n")
    with pytest.raises(FileRefusal, match="letters GGUF"):
        read(b"something else")


def test_counts_beyond_the_file_are_refused_before_they_are_counted():
    for counts in ((2**60, 0), (0, 2**60), (2**64 - 1, 2**64 - 1)):
        with pytest.raises(FileRefusal, match="it was cut short"):
            read(raw(counts=counts))


@pytest.mark.parametrize("kind", [0, 6, 8, 9, 12])
def test_an_array_of_2_to_the_60_is_refused_before_it_is_walked(kind):
    value = pair("a", 9, struct.pack("<IQ", kind, 2**60))
    with pytest.raises(FileRefusal, match="it was cut short"):
        read(raw([value]))


def test_a_string_of_2_to_the_63_is_refused_wherever_it_stands():
    length = struct.pack("<Q", 2**63)
    inside = struct.pack("<IQ", 8, 100) + text("a") * 99 + length
    for value in (pair("a", 8, length), pair("a", 9, inside), length):
        with pytest.raises(FileRefusal, match="it was cut short"):
            read(raw([value], counts=(0, 1)))


def test_a_header_over_the_limit_is_not_walked(counted):
    strings = HEADER_LIMIT // 8
    seen = counted(raw([pair("a", 9, struct.pack("<IQ", 8, strings))], body=FIRST_READ))
    with pytest.raises(FileRefusal, match="are ever read"):
        read_gguf(seen, 10**12, "m.gguf")
    assert seen.asked <= FIRST_READ


def test_arrays_in_arrays_end():
    value = struct.pack("<IQ", 9, 1) * 50 + struct.pack("<IQB", 0, 1, 1)
    with pytest.raises(FileRefusal, match="arrays in arrays"):
        read(raw([pair("a", 9, value)]))
    two = struct.pack("<IQ", 9, 2) + 2 * struct.pack("<IQBB", 0, 2, 7, 8)
    assert read(raw([pair("a", 9, two)])).metadata == {"a": ((7, 8), (7, 8))}


@pytest.mark.parametrize(
    ("broken", "cause", "says"),
    [
        (entry(dims=(1,) * 5), "not one that a model needs", "5 dimensions"),
        (entry(dims=(2**32, 2**32)), "not one that a model needs", "not a size"),
        (entry(dims=(2**62,)), "it was cut short", "cut short"),
        (entry(kind=99), "this GGUF file has", "type 99"),
        (entry(dims=(33, 2), kind=8), "the file is damaged", "whole Q8_0 blocks"),
        (entry(offset=2**63), "it was cut short", "cut short"),
    ],
)
def test_impossible_tensors_are_refused(broken, cause, says):
    with pytest.raises(FileRefusal, match=f"(?=.*{cause}).*{says}"):
        read(raw(entries=[broken]))


def test_two_tensors_of_one_name_are_damage():
    with pytest.raises(FileRefusal, match="same name"):
        read(raw(entries=[entry(), entry()]))


def test_a_value_of_an_unknown_kind_is_damage():
    with pytest.raises(FileRefusal, match="unknown kind 77"):
        read(raw([pair("a", 77, b"")]))


def test_names_that_are_not_utf8_are_kept_as_escapes():
    assert read(raw(entries=[entry(b"E\xff\x00")])).tensors[0].name == "E\\xff\x00"


VALUES = [
    pair("n", 4, struct.pack("<I", 7)),
    pair("t", 9, struct.pack("<IQ", 8, 70) + text("a") * 70),
]
HEADER = raw(VALUES, [entry()])


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=100).map(lambda tail: b"GGUF\x03\x00\x00\x00" + tail)
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
        read_gguf(count, len(content), "m.gguf")
    except FileRefusal as refusal:
        assert "\n" not in str(refusal)
    assert sum(asked) <= len(content)
