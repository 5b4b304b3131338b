"""What is said when a vector, a row of E, or a map of all rows cannot be had."""

from __future__ import annotations

from tiedviz.words.numbers import count, megabytes, plural
from tiedviz.words.refusals import Refusal


class VectorRefusal(Refusal):
    """No vector, row or map that can be computed with."""

    @classmethod
    def nothing_to_map(cls, title: str, rows: int, left_out: int) -> VectorRefusal:
        """Fewer than two rows are left to draw."""
        return cls(
            f"There is no map of {title}",
            f"of {plural(rows, 'row')} {left_out} are left out, because they hold no finite "
            "number, point nowhere, or belong to no token",
            "A map needs two rows or more; look at the checkpoint on “Is it tied?”.",
        )

    @classmethod
    def row_not_finite(cls, name: str, row: int) -> VectorRefusal:
        """The row asked for holds a NaN or an infinity."""
        return cls(
            f"Row {row} ({name}) has no neighbours",
            "it holds numbers that are not finite",
            "Choose another token; the checkpoint itself is damaged in this row.",
        )

    @classmethod
    def not_a_sum(cls, text: str) -> VectorRefusal:
        """What was typed is no sum of tokens."""
        return cls(
            f"“{text}” is not a sum of tokens",
            "tokens and signs must take turns, with a space on both sides of each sign",
            "As in: king − man + woman. Write ␣ for a leading space, or id:123 for a row.",
        )

    @classmethod
    def sum_is_zero(cls, text: str) -> VectorRefusal:
        """The terms cancel, so the sum points nowhere."""
        return cls(
            f"“{text}” is zero",
            "its terms cancel each other, so there is no direction to be near to",
            "Leave one of them out.",
        )

    @classmethod
    def file_not_written(cls, path: str, reason: str) -> VectorRefusal:
        """The map cannot be written where it was asked for."""
        return cls(
            f"{path} was not written",
            reason,
            "Name a file that ends in .csv or .parquet, in a folder that you may write to.",
        )

    @classmethod
    def too_large(cls, size: int, limit: int) -> VectorRefusal:
        """A file far larger than one vector of this model."""
        return cls(
            f"The file is {megabytes(size)}",
            f"one vector of this model takes at most {megabytes(limit)}",
            "Save one vector alone: numpy.save('h.npy', h[-1]).",
        )

    @classmethod
    def not_an_array(cls, said: str) -> VectorRefusal:
        """No `.npy` file, or one that would need code to be run."""
        return cls(
            "This is no .npy file that can be read",
            said,
            "Save it with numpy.save('h.npy', h); arrays of Python objects are never opened.",
        )

    @classmethod
    def wrong_shape(cls, shape: tuple[int, ...], width: int) -> VectorRefusal:
        """Not one vector of the width of the matrix."""
        found = "×".join(count(side) for side in shape) if shape else "a single number"
        return cls(
            "The array is no vector of this model",
            f"its shape is {found}, and the rows of the matrix have {count(width)} numbers",
            f"Save an array of shape ({width},) or (1, {width}).",
        )

    @classmethod
    def not_numbers(cls, dtype: str) -> VectorRefusal:
        """A dtype that is no integer and no floating-point number."""
        return cls(
            "The array holds no plain numbers",
            f"its dtype is {dtype}",
            "Convert it first: h.astype('float32').",
        )

    @classmethod
    def not_finite(cls, places: int) -> VectorRefusal:
        """A nan, an infinity, or numbers that float32 cannot hold."""
        return cls(
            "The array holds numbers that have no dot product",
            f"{count(places)} of them are nan, infinite, or beyond what float32 can hold",
            "Look for a division by zero or an overflow where it was computed.",
        )
