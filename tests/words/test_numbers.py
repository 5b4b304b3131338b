"""How numbers are printed."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiedviz.words.numbers import count, megabytes, percent, plural, scientific, short_count


@pytest.mark.parametrize(
    ("number", "printed"), [(0, "0"), (999, "999"), (1000, "1,000"), (49_152, "49,152")]
)
def test_whole_numbers_have_separators(number, printed):
    assert count(number) == printed


@pytest.mark.parametrize(
    ("number", "printed"),
    [(0, "0 tokens"), (1, "1 token"), (2, "2 tokens"), (1024, "1,024 tokens")],
)
def test_one_token_and_two_tokens(number, printed):
    assert plural(number, "token") == printed


@pytest.mark.parametrize(
    ("number", "printed"),
    [
        (0, "0"),
        (999, "999"),
        (49_152, "49.2k"),
        (134_515_008, "134.5M"),
        (1_235_814_400, "1.24B"),
        (2.5e12, "2.50T"),
    ],
)
def test_large_counts_are_short(number, printed):
    assert short_count(number) == printed


@given(st.integers(1, 10**14))
def test_a_short_count_never_has_four_digits_before_the_point(number):
    assert len(re.match(r"\d+", short_count(number))[0]) <= 3


@pytest.mark.parametrize(
    ("size", "printed"),
    [
        (12, "12 bytes"),
        (640_000, "640 kB"),
        (92_871_040, "93 MB"),
        (538_060_032, "538 MB"),
        (1_072_392_704, "1.07 GB"),
    ],
)
def test_bytes_are_decimal(size, printed):
    assert megabytes(size) == printed


@given(st.integers(0, 999_994_999_999))
def test_a_size_is_never_printed_as_a_thousand_of_the_smaller_unit(size):
    assert not megabytes(size).startswith("1000")


@pytest.mark.parametrize(
    ("fraction", "printed"),
    [
        (0, "0.0 %"),
        (0.681, "68.1 %"),
        (1, "100.0 %"),
        (0.0004, "<0.1 %"),
        (0.001, "0.1 %"),
    ],
)
def test_a_fraction_is_a_percentage_and_never_rounds_to_nothing(fraction, printed):
    assert percent(fraction) == printed


def test_a_percentage_can_have_more_digits():
    assert percent(0.21024, 2) == "21.02 %"
    assert percent(0.00001, 2) == "<0.01 %"


@pytest.mark.parametrize(
    ("number", "printed"),
    [
        (0, "0"),
        (9.5e-6, "9.5×10⁻⁶"),
        (-3e-12, "-3.0×10⁻¹²"),
        (2.98, "3.0×10⁰"),
        (math.inf, "inf"),
        (math.nan, "nan"),
    ],
)
def test_small_numbers_are_powers_of_ten(number, printed):
    assert scientific(number) == printed
