"""A toy read back from a file: the same toy, or a refusal that says what is wrong."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiedviz.compute.toy import Toy, read_toy
from tiedviz.words.refusals import Refusal
from tiedviz.words.refusals.toy import ToyRefusal


def written(**changes):
    return json.dumps(Toy.published().record() | {"step": 3, "solved": []} | changes).encode()


def test_what_is_exported_comes_back():
    E = np.array([[0.25, -1, 3], [1e-9, 0, 100], [-100, 2, 2], [7, 8, 9.5]])
    toy = Toy(Toy.published().words, E, np.array([1.5, -2, 0]))
    back = read_toy(json.dumps(toy.record()).encode())
    assert back.words == toy.words
    assert np.array_equal(back.E, toy.E) and np.array_equal(back.h, toy.h)
    assert np.array_equal(read_toy(b"\xef\xbb\xbf" + written()).E, Toy.published().E)


ROW = [0.1, 0.2, 0.3]
WRONG = {
    "no JSON": (b"E = 3", "holds no toy", "not JSON"),
    "no text": (b"\xff\xfe\x00", "holds no toy", "not JSON in UTF-8"),
    "too deep": (b"[" * 19_000, "holds no toy", "not JSON"),
    "too many digits": (written(E=0).replace(b'"E": 0', b'"E": ' + b"9" * 9000),
                        "holds no toy", ""),
    "a list": (b"[1, 2]", "holds no toy", "no object"),
    "too large": (written(solved="x" * 30_000), "file is", "at most 20 kB"),
    "no E": (b"{}", "another shape", "4 lists of 3"),
    "three rows": (written(E=[ROW] * 3), "another shape", "4 lists of 3"),
    "four columns": (written(E=[[*ROW, 1]] * 4), "another shape", "4 lists of 3"),
    "ragged": (written(E=[ROW, ROW, ROW, [1]]), "another shape", "4 lists of 3"),
    "texts": (written(E=[["a", "b", "c"]] * 4), "another shape", "numbers"),
    "truths": (written(h_L=[True, False, True]), "another shape", "a list of 3"),
    "no state": (written(h_L=None), "another shape", "a list of 3"),
    "nan": (written(h_L=[0, float("nan"), 0]), "cannot be used", "h_L, column 1"),
    "infinite": (written(E=[ROW, ROW, [0, 0, float("-inf")], ROW]), "cannot be used",
                 "row 2"),
    "1e999": (written(h_L=0).replace(b'"h_L": 0', b'"h_L": [1e999, 0, 0]'),
              "cannot be used", "column 0"),
    "beyond": (written(h_L=[0, 0, 101]), "cannot be used", "−100 and 100"),
    "huge": (written(h_L=[10**400, 0, 0]), "cannot be used", "column 0"),
    "other words": (written(words=["<b>", "*a*", "\u202ecba", "ran"]), "other words",
                    "<b>, *a*, U+202E"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_toy_is_refused_with_what_is_wrong(name):
    raw, what, why = WRONG[name]
    with pytest.raises(ToyRefusal) as refusal:
        read_toy(raw)
    assert what in refusal.value.what and why in refusal.value.why


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)


@given(st.fixed_dictionaries({}, optional={"words": JSON, "E": JSON, "h_L": JSON}) | JSON)
def test_any_json_is_a_toy_or_a_refusal(found):
    try:
        toy = read_toy(json.dumps(found).encode())
    except Refusal as refusal:
        assert "\n" not in str(refusal)
    else:
        assert np.isfinite(toy.E).all() and toy.E.shape == (4, 3)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_refusal(raw):
    with pytest.raises(Refusal):
        read_toy(raw)
