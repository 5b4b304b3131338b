"""How a number is printed: the same few ways on every page."""

from __future__ import annotations

import math

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def count(number: int) -> str:
    """A whole number with separators: 49,152."""
    return f"{number:,}"


def plural(number: int, noun: str) -> str:
    """A count with its noun: 1 token, 1,024 tokens."""
    return f"{count(number)} {noun}" if number == 1 else f"{count(number)} {noun}s"


_Unit = tuple[float, str, int]

_COUNTS: tuple[_Unit, ...] = (
    (1, "", 0),
    (1e3, "k", 1),
    (1e6, "M", 1),
    (1e9, "B", 2),
    (1e12, "T", 2),
)
_SIZES: tuple[_Unit, ...] = ((1, " bytes", 0), (1e3, " kB", 0), (1e6, " MB", 0), (1e9, " GB", 2))


def short_count(number: float) -> str:
    """A count in three or four figures: 134.5M, 1.24B, 49.2k."""
    return _in_units(number, _COUNTS)


def megabytes(size: float) -> str:
    """Bytes in decimal units: 93 MB, 1.07 GB, 640 kB."""
    return _in_units(size, _SIZES)


def _in_units(number: float, units: tuple[_Unit, ...]) -> str:
    """The number in the smallest unit in which it is not printed as a thousand or more."""
    printed = ""
    for size, unit, digits in units:
        figures = f"{number / size:.{digits}f}"
        printed = f"{figures}{unit}"
        if abs(float(figures)) < 1000:
            break
    return printed


def percent(fraction: float, digits: int = 1) -> str:
    """A fraction as a percentage: 68.1 %, and <0.1 % for what would round to nothing."""
    smallest = 10.0**-digits
    if 0 < fraction * 100 < smallest:
        return f"<{smallest:.{digits}f} %"
    return f"{fraction * 100:.{digits}f} %"


def or_none(number: float) -> float | None:
    """The number, or None where it is nan or infinite: JSON has neither."""
    return number if math.isfinite(number) else None


def scientific(number: float) -> str:
    """A small number as 9.5×10⁻⁶; zero is 0."""
    if number == 0 or not math.isfinite(number):
        return "0" if number == 0 else str(number)
    mantissa, exponent = f"{number:.1e}".split("e")
    return f"{mantissa}×10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def exact_size(size: int) -> str:
    """Bytes with one decimal: 56.6 MB, since a saving is compared with a file's size."""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:,.1f} {name}"
    return f"{size} bytes"


def unpacked_words(nbytes: int, uncounted: bool) -> str:
    """How packed weights were counted, as the end of a clause; empty where there are none."""
    words = f", unpacked from {exact_size(nbytes)}" if nbytes else ""
    return words + ("; packed, so fewer than the model has" if uncounted else "")


def small_number(number: float | None) -> str:
    """Three figures, or "not a number"."""
    return "not a number" if number is None else f"{number:.3g}"
