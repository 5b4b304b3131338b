"""The four-word model of the walkthrough, checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tiedviz.compute.toy import Toy


def test_four_words_score_as_they_do_by_hand():
    frame = Toy.published().scores()
    # cat: 0.5·0.2 + 0.2·0.3 − 0.3·(−0.9) = 0.10 + 0.06 + 0.27 = 0.43, and so on
    assert frame["word"].tolist() == ["cat", "dog", "the", "ran"]
    assert frame["logit"].tolist() == pytest.approx([0.43, 0.32, -0.13, 0.54], abs=1e-12)
    assert [round(p, 4) for p in frame["probability"]] == [0.2791, 0.2500, 0.1594, 0.3115]


def test_the_products_are_written_out():
    frame = Toy.published().scores()
    assert frame["products"][0] == "0.5·0.2 + 0.2·0.3 + (−0.3)·(−0.9)"


def test_probabilities_add_up_to_one_however_large_the_numbers():
    frame = Toy(("a", "b"), np.array([[1e4], [-1e4]]), np.array([1.0])).scores()
    assert frame["probability"].tolist() == [1.0, 0.0]


def test_equal_rows_are_equally_likely():
    frame = Toy(("a", "b", "c", "d"), np.ones((4, 2)), np.array([3.0, -1.0])).scores()
    assert frame["probability"].tolist() == [0.25] * 4
