"""Two stored matrices: bytes first, then numbers, across types and files."""

import base64
import itertools
import json
import sys

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tiedviz.files.header import StoredTensor
from tiedviz.verdict import copies as comparing
from tiedviz.verdict.audit import Audit, hear_files
from tiedviz.verdict.copies import SAME, Place, cannot_compare, compare
from tiedviz.verdict.difference import GRIDS, coarser, cut_short, rounded

NAMES = {
    **{torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16", torch.float64: "F64"},
    **{torch.float8_e4m3fn: "F8_E4M3", torch.int32: "I32"},
}


@pytest.fixture
def lay(tmp_path):
    """Write a tensor's bytes into a file of its own, some way in."""

    def build(name, tensor, pad=16):
        raw = tensor.contiguous().view(torch.uint8).numpy().tobytes()
        (tmp_path / name).write_bytes(bytes(pad) + raw)
        dtype, shape = NAMES[tensor.dtype], tuple(tensor.shape)
        return Place(StoredTensor(name, shape, dtype, len(raw), name, pad), tmp_path)

    return build


def matrix(seed=0, shape=(50, 16)):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def test_equal_bytes_in_two_files_need_no_numbers(lay):
    assert compare(lay("a", matrix()), lay("b", matrix(), pad=3)) == SAME


def test_a_difference_in_the_last_chunk_is_found(lay, monkeypatch):
    monkeypatch.setattr("tiedviz.verdict.copies.CHUNK", 1000)
    one, other = matrix(), matrix()
    assert compare(lay("a", one), lay("b", other)) == SAME
    other[49, 15] += 1
    assert compare(lay("a", one), lay("b", other)).differing_elements == 1


def test_numbers_against_a_plain_computation(lay):
    one, other = matrix(), matrix()
    other[3, 4] += 1
    other[9] *= 2
    found = compare(lay("a", one), lay("b", other))
    assert (found.differing_elements, found.differing_rows, found.far_rows) == (17, 2, 2)
    assert found.max_abs == pytest.approx(float((one - other).abs().max()))
    assert found.relative_error == pytest.approx(float((one - other).norm() / one.norm()))
    cosines = torch.nn.functional.cosine_similarity(one.double(), other.double())
    assert found.min_row_cosine == pytest.approx(float(cosines.min()))
    assert found.near == ""


def test_blocks_add_up(lay, monkeypatch):
    one, other = matrix(), matrix(1)
    whole = compare(lay("a", one), lay("b", other))
    monkeypatch.setattr(comparing, "_BLOCK", 7 * 16 * 4)
    pieces = compare(lay("a", one), lay("b", other))
    assert pieces[:4] == whole[:4]
    assert pieces.relative_error == pytest.approx(whole.relative_error)


def test_progress_ends_at_all_bytes_and_may_stop_the_work(lay):
    steps = []
    compare(
        lay("a", matrix()), lay("b", matrix(1)), lambda done, total: steps.append((done, total))
    )
    assert steps[-1] == (3200, 3200)

    def stop(done, total):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        compare(lay("a", matrix()), lay("b", matrix()), stop)


def test_the_same_not_a_number_is_the_same_and_another_is_no_number(lay):
    one, other = matrix(), matrix()
    one[0, 0] = other[0, 0] = float("nan")
    assert compare(lay("a", one), lay("b", other)) == SAME
    other[1, 1] = float("inf")
    found = compare(lay("a", one), lay("b", other))
    assert found.max_abs is None and found.relative_error is None and found.near == ""


def test_signs_of_zero_are_no_different_elements(lay):
    one, other = matrix(), matrix()
    one[0, 0], other[0, 0] = 0.0, -0.0
    found = compare(lay("a", one), lay("b", other))
    assert (found.same_bytes, found.differing_elements, found.near) == (False, 0, "rounding")


def test_zero_rows_have_a_cosine(lay):
    one, other = matrix(), matrix()
    one[0] = other[0] = 0.0
    other[1] += 1e-3
    assert compare(lay("a", one), lay("b", other)).min_row_cosine > 0.99
    other[0, 0] = 1.0
    assert compare(lay("a", one), lay("b", other)).min_row_cosine == 0.0


@pytest.mark.parametrize(
    ("fine", "coarse"),
    [
        (torch.float32, torch.bfloat16),
        (torch.float32, torch.float16),
        (torch.float64, torch.float32),
        (torch.bfloat16, torch.float8_e4m3fn),
        (torch.float16, torch.bfloat16),
    ],
)
def test_equal_after_rounding_is_near_whichever_is_e(lay, fine, coarse):
    numbers = torch.randn((50, 16), dtype=torch.float64)
    one, other = lay("a", numbers.to(fine)), lay("b", numbers.to(fine).to(coarse))
    for pair in ((one, other), (other, one)):
        found = compare(*pair)
        assert (found.near, found.within) == ("rounding", NAMES[coarse])
        assert found.differing_elements > 0


def test_f16_and_bf16_of_one_original_are_near(lay):
    numbers = matrix(shape=(500, 64))
    found = compare(lay("a", numbers.half()), lay("b", numbers.bfloat16()))
    assert found.near == "rounding"


def test_bf16_that_was_cut_off_instead_of_rounded_is_near(lay):
    cut = (matrix().view(torch.int32) & -65536).view(torch.float32).bfloat16()
    assert compare(lay("a", matrix()), lay("b", cut)).near == "rounding"


def test_one_number_beyond_the_rounding_is_not_near(lay):
    other = matrix().bfloat16()
    other[5, 5] *= 1.02
    found = compare(lay("a", matrix()), lay("b", other))
    assert (found.near, found.far_rows) == ("", 1)


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=40))
@settings(max_examples=200, deadline=None)
def test_rounding_is_torchs(numbers):
    exact = numpy.array([numbers], numpy.float32)
    for name, dtype in (("BF16", torch.bfloat16), ("F16", torch.float16)):
        theirs = torch.from_numpy(exact).to(dtype).float().numpy()
        assert (rounded(exact, name) == theirs).all()
        assert (abs(cut_short(exact, name)) <= abs(exact)).all() or name == "F16"


def test_a_head_stored_the_other_way_round_is_turned(lay):
    found = compare(lay("a", matrix()), lay("b", matrix().T))
    assert (found.differing_elements, found.max_abs) == (0, 0.0)
    assert compare(lay("a", matrix()), lay("b", matrix(1).T)).differing_elements == 800


def test_other_widths_are_other_matrices(lay):
    found = compare(lay("a", matrix()), lay("b", matrix(shape=(50, 32))))
    assert (found.same_bytes, found.far_rows, found.max_abs) == (False, 50, None)


def test_packed_integers_are_not_compared(lay):
    place = lay("a", torch.zeros((2, 50), dtype=torch.int32))
    assert "kept as I32" in cannot_compare(lay("b", matrix()), place)
    assert cannot_compare(place, place)


def test_an_enormous_row_is_not_read(tmp_path):
    tensor = StoredTensor("w", (2, 2**33), "F32", 2**36, "f", 8)
    assert "one row" in cannot_compare(Place(tensor, tmp_path), Place(tensor, tmp_path))


def test_equal_bytes_are_told_without_numpy(checkpoint):
    import subprocess

    folder = checkpoint(True).add_head(lambda e: e).folder
    script = f"""
import sys
from pathlib import Path
from tiedviz.verdict.audit import hear_files
assert hear_files(Path({str(folder)!r}))[1].comparison.same_bytes
assert not {{"numpy", "torch", "safetensors"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)


# Quantised types of GGUF.


def gguf_case(write_gguf, one, other, kinds):
    declared, stored = hear_files(write_gguf(one, other, kinds))
    return Audit(declared, stored).verdict, stored.comparison


NORMAL = numpy.random.default_rng(3).standard_normal((96, 256)).astype(numpy.float32)


@pytest.mark.case(40)
@pytest.mark.parametrize(
    ("kinds", "error", "within"),
    [
        (("Q8_0", "F32"), 0.0053, "Q8_0"),
        (("Q4_0", "Q8_0"), 0.087, "Q4_0"),
        (("Q4_1", "Q8_0"), 0.079, "Q4_1"),
        (("Q5_0", "Q8_0"), 0.043, "Q5_0"),
        (("Q5_1", "F16"), 0.038, "Q5_1"),
        (("F16", "F32"), 0.0002, "F16"),
        (("BF16", "F32"), 0.0017, "BF16"),
        (("MXFP4", "Q8_0"), 0.115, "MXFP4"),
    ],
)
def test_one_matrix_in_two_types_is_a_near_twin(write_gguf, kinds, error, within):  # case 40
    verdict, found = gguf_case(write_gguf, NORMAL, NORMAL, kinds)
    assert verdict.word == "near_twin" and found.within == within
    assert found.relative_error == pytest.approx(error, rel=0.05)
    if kinds == ("Q4_0", "Q8_0"):
        assert found.min_row_cosine > 0.98
        assert verdict.state.endswith("equal up to quantisation to Q4_0.")


@pytest.mark.parametrize("kind", ["F32", "Q4_0", "Q8_0"])
def test_one_matrix_twice_in_one_type_is_a_twin(write_gguf, kind):
    assert gguf_case(write_gguf, NORMAL, NORMAL, (kind, kind))[0].word == "twin"


@pytest.mark.case(40)
@pytest.mark.parametrize("kinds", [("Q4_0", "Q8_0"), ("Q8_0", "F32"), ("Q4_0", "Q4_0")])
def test_really_different_matrices_are_untied(write_gguf, kinds):  # case 40
    other = numpy.random.default_rng(4).standard_normal(NORMAL.shape).astype(numpy.float32)
    verdict, found = gguf_case(write_gguf, NORMAL, other, kinds)
    assert verdict.word == "untied" and 1.3 < found.relative_error < 1.5


def test_a_few_other_rows_are_not_lost_in_the_quantisation(write_gguf):
    other = NORMAL.copy()
    other[-3:] = other[:3]
    verdict, found = gguf_case(write_gguf, NORMAL, other, ("Q4_0", "Q8_0"))
    assert verdict.word == "untied" and found.far_rows == 3
    other[-3:] = 0
    assert gguf_case(write_gguf, NORMAL, other, ("Q4_0", "Q8_0"))[1].far_rows == 3


def test_one_row_five_steps_off_is_seen(write_gguf):
    other = NORMAL.copy()
    other[7] *= 1.1
    verdict, found = gguf_case(write_gguf, NORMAL, other, ("Q8_0", "F32"))
    assert verdict.word == "untied" and found.far_rows == 1


@pytest.mark.parametrize("by", [0.1, 0.2])
def test_training_smaller_than_the_step_shows_in_the_whole(write_gguf, by):
    noise = numpy.random.default_rng(5).standard_normal(NORMAL.shape).astype(numpy.float32)
    verdict, _ = gguf_case(write_gguf, NORMAL, NORMAL + by * noise, ("Q4_0", "Q8_0"))
    assert verdict.word == "untied"


LLAMA_CPP = json.loads((ROOT / "tests/data/llama_cpp_quantised.json").read_text())["types"]
ORIGINAL = numpy.random.default_rng(0).standard_normal((8, 256)).astype(numpy.float32)


@pytest.mark.parametrize("kind", LLAMA_CPP)
@pytest.mark.parametrize("wrong", [False, True])
def test_the_step_of_each_type_is_that_of_llama_cpp(tmp_path, kind, wrong):
    """Against what llama.cpp's own quantiser made of known numbers, and against other rows."""
    numbers = ORIGINAL[::-1] if wrong else ORIGINAL
    (tmp_path / "e").write_bytes(numpy.ascontiguousarray(numbers).tobytes())
    packed = base64.b64decode(LLAMA_CPP[kind])
    (tmp_path / "w").write_bytes(packed)
    one = Place(StoredTensor("e", (8, 256), "F32", 8192, "e", 0), tmp_path)
    other = Place(StoredTensor("w", (8, 256), kind, len(packed), "w", 0), tmp_path)
    found = compare(one, other)
    assert found.far_rows == (8 if wrong else 0)
    assert (found.near, found.within) == (("", "") if wrong else ("quantisation", kind))


def test_the_coarser_type_has_the_larger_step():
    order = ["F64", "F32", "F16", "BF16", "Q8_0", "Q6_K", "Q5_K", "Q4_K", "Q4_0", "Q3_K", "Q2_K"]
    steps = [GRIDS[kind].step for kind in order if kind in GRIDS]
    assert steps == sorted(steps)
    for fine, coarse in itertools.pairwise(order):
        assert coarser(fine, coarse) == coarser(coarse, fine) == coarse
