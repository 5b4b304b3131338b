"""Any vector against the matrix; a file that is no vector is refused, each in its own words."""

import io
import pickle

import numpy as np
import pytest
import torch

from tiedviz.compute.next_token.candidates import By, nearest_tokens
from tiedviz.compute.next_token.state import read_vector, score_state, score_vector, vector_bytes
from tiedviz.words.refusals.vector import VectorRefusal


def saved(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


@pytest.mark.parametrize("name", ["llama", "gemma2", "bart", "cohere"])
def test_h_written_out_and_read_in_ranks_the_same(architecture, name):
    loaded = architecture(name)
    reading = score_state(loaded, [41, 7, 90])
    again = score_vector(loaded, read_vector(vector_bytes(reading.h), len(reading.h)))
    assert torch.equal(again.h, reading.h)
    for by in By:
        mine = nearest_tokens(loaded, again, by=by)
        theirs = nearest_tokens(loaded, reading, by=by)
        assert mine["id"].tolist() == theirs["id"].tolist()
        assert mine["logit"].tolist() == pytest.approx(theirs["logit"].tolist(), abs=1e-5)
        assert mine["probability"].tolist() == pytest.approx(theirs["probability"].tolist())


@pytest.mark.parametrize("dtype", ["<f2", "<f4", ">f4", "<f8", "<i1", "<u2", "<i8"])
@pytest.mark.parametrize("shape", [(4,), (1, 4)])
def test_any_plain_dtype_and_both_shapes(dtype, shape):
    array = np.array([1, 2, 0, 4], dtype=dtype).reshape(shape)
    assert read_vector(saved(array), 4).tolist() == [1.0, 2.0, 0.0, 4.0]
    assert read_vector(saved(np.asfortranarray(array)), 4).dtype is torch.float32


@pytest.mark.parametrize("shape", [(), (3,), (5,), (2, 4), (4, 1), (1, 1, 4), (0,)])
def test_another_shape_is_refused_with_both_numbers(shape):
    with pytest.raises(VectorRefusal, match=r"no vector of this model.*4 numbers"):
        read_vector(saved(np.zeros(shape, np.float16)), 4)


@pytest.mark.parametrize("dtype", ["complex64", "bool", "U1", "S1", "datetime64[s]"])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(VectorRefusal, match=r"no plain numbers"):
        read_vector(saved(np.zeros(4, dtype)), 4)


def test_nothing_in_the_file_is_run():
    class Touches:
        def __reduce__(self):
            return pytest.fail, ("the file was unpickled",)

    with pytest.raises(VectorRefusal, match=r"no plain numbers.*object"):
        read_vector(saved(np.array([Touches()] * 4, object), allow_pickle=True), 4)
    with pytest.raises(VectorRefusal, match=r"no .npy file that can be read"):
        read_vector(pickle.dumps(Touches()), 4)


@pytest.mark.parametrize(
    "raw",
    [b"", b"PK\x03\x04", b"hello", saved(np.zeros(4))[:-3], saved(np.zeros(4))[:20],
     b"\x93NUMPY\x09\x00" + b"x" * 40, b"\x93NUMPY\x01\x00\x10\x00" + b"{'descr': ((((((" + b"\n"],
)  # fmt: skip
def test_what_is_no_npy_file_is_refused(raw):
    with pytest.raises(VectorRefusal, match=r"no .npy file that can be read"):
        read_vector(raw, 4)


def test_a_large_file_is_refused_before_it_is_read():
    with pytest.raises(VectorRefusal, match=r"The file is .* at most"):
        read_vector(saved(np.zeros(100_000)), 4)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_numbers_without_a_product_are_refused(value):
    with pytest.raises(VectorRefusal, match=r"no dot product: 1 of them"):
        read_vector(saved(np.array([1, 2, value, 4.0])), 4)
