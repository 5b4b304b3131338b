"""Agreement, on vocabularies of three tokens that can be done by hand."""

import math

import numpy as np
import pytest

from tiedviz.compute.compare.agreement import (
    WrittenText,
    agreement,
    agreement_record,
    divergence_point,
    jensen_shannon,
)
from tiedviz.compute.compare.shared_tokens import likeliest, shared_tokens

A, B, C = b"a", b"b", b"c"


def agree(p, q, one, other, **options):
    p, q = np.array(p), np.array(q)
    return agreement([p, q], shared_tokens([one, other]), [one, other], **options)


def test_three_tokens_by_hand():
    """p = ½ ½ 0, q = ½ 0 ½: the middle is ½ ¼ ¼, so each half is ½·log₂(½/¼) = ½ bit."""
    found = agree([0.5, 0.5, 0.0], [0.5, 0.0, 0.5], (A, B, C), (A, B, C), top=2)
    assert found.js_bits == pytest.approx(0.5, abs=1e-12)
    assert found.mass == (1.0, 1.0)
    assert found.in_both == (A,)
    assert found.same_first


def test_ids_do_not_matter():
    found = agree([0.7, 0.2, 0.1], [0.1, 0.7, 0.2], (A, B, C), (C, A, B))
    assert found.js_bits == pytest.approx(0, abs=1e-12)
    assert found.in_both == (A, B, C)


def test_what_only_one_knows_is_left_out_and_stated():
    """SharedTokens: a. Of 0.2 and 0.6 each is scaled to 1, so the two are the same there."""
    found = agree([0.2, 0.8], [0.6, 0.3, 0.1], (A, B), (A, C, None))
    assert found.shared == 1
    assert found.js_bits == 0
    assert found.left_out == pytest.approx((0.8, 0.4))
    assert not found.same_first


def test_a_token_that_stands_twice_is_added_up():
    found = agree([0.25, 0.25, 0.5], [0.5, 0.5], (A, A, B), (A, B))
    assert found.js_bits == 0
    assert likeliest(np.array([0.3, 0.3, 0.4]), (A, A, B), 1) == [(A, 0.6)]


def test_the_same_answer_is_exactly_nothing_and_opposite_ones_one_bit():
    p = np.random.default_rng(0).dirichlet(np.ones(1000))
    assert jensen_shannon(p, p) == 0
    assert jensen_shannon(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == 1


@pytest.mark.parametrize("seed", range(20))
def test_it_is_symmetric_and_bounded_and_what_scipy_says(seed):
    from scipy.spatial.distance import jensenshannon

    draw = np.random.default_rng(seed)
    p, q = draw.dirichlet(np.full(50, 0.05)), draw.dirichlet(np.full(50, 0.05))
    bits = jensen_shannon(p, q)
    assert bits == pytest.approx(jensen_shannon(q, p), abs=1e-12)
    assert 0 <= bits <= 1
    assert bits == pytest.approx(jensenshannon(p, q, base=2) ** 2, abs=1e-9)


def test_where_nothing_is_shared_there_is_no_number():
    found = agree([1.0], [1.0], (A,), (B,))
    assert found.js_bits is None and found.mass == (0.0, 0.0)


def text(*tokens, ended=False):
    return WrittenText(tokens, ended)


def test_other_cuts_of_the_same_text_do_not_part():
    found = divergence_point(text(b" co", b"ld", b"."), text(b" cold", b"."))
    assert found.places == (None, None) and not found.differ
    assert found.common == b" cold."


def test_the_first_differing_token_is_named_in_each():
    found = divergence_point(text(b" co", b"ld", b" and"), text(b" cold", b".", b" and"))
    assert found.common == b" cold"
    assert found.places == (2, 1) and found.differ


def test_they_may_part_inside_a_token():
    found = divergence_point(text(b" colder"), text(b" cold", b"est"))
    assert found.common == b" colde"
    assert found.places == (0, 1)


def test_half_a_character_is_not_common():
    one, other = "é".encode(), "è".encode()
    found = divergence_point(text(one), text(other))
    assert found.common == b"" and found.places == (0, 0)


def test_one_that_ends_parts_from_one_that_goes_on():
    ended = divergence_point(text(b" cold", ended=True), text(b" cold", b"."))
    assert ended.places == (None, 1) and ended.differ
    cut = divergence_point(text(b" cold"), text(b" cold", b"."))
    assert not cut.differ  # it was not continued further, so nobody knows


def test_both_end_at_the_same_place():
    assert not divergence_point(text(b"x", ended=True), text(b"x", ended=True)).differ


def test_the_record_is_plain():
    import json

    found = agree([0.5, 0.5], [0.5, 0.5], (A, B), (B, A), greedy=(text(A, B), text(A, C)))
    record = json.loads(json.dumps(agreement_record(found, ("x", "y")), allow_nan=False))
    assert record["js_divergence_bits"] == 0
    assert record["top_in_both"] == ["a", "b"]
    assert record["greedy"] == {
        "common": "a", "differ": True, "first_differing_token": [1, 1], "ended": [False, False],
    }  # fmt: skip
    assert math.isclose(record["top_overlap"], 0.2)
