"""What is said when an uploaded vector cannot be read."""

from __future__ import annotations

from tiedviz.words.numbers import count, megabytes
from tiedviz.words.refusals import Refusal


class VectorTooLarge(Refusal):
    """A file far larger than one vector of this model."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"The file is {megabytes(size)}",
            f"one vector of this model takes at most {megabytes(limit)}",
            "Save one vector alone: numpy.save('h.npy', h[-1]).",
        )


class NotAnArray(Refusal):
    """No `.npy` file, or one that would need code to be run."""

    def __init__(self, said: str) -> None:
        super().__init__(
            "This is no .npy file that can be read",
            said,
            "Save it with numpy.save('h.npy', h); arrays of Python objects are never opened.",
        )


class WrongShape(Refusal):
    """Not one vector of the width of the matrix."""

    def __init__(self, shape: tuple[int, ...], width: int) -> None:
        found = "×".join(count(side) for side in shape) if shape else "a single number"
        super().__init__(
            "The array is no vector of this model",
            f"its shape is {found}, and the rows of the matrix have {count(width)} numbers",
            f"Save an array of shape ({width},) or (1, {width}).",
        )


class NotNumbers(Refusal):
    """A dtype that is no integer and no floating-point number."""

    def __init__(self, dtype: str) -> None:
        super().__init__(
            "The array holds no plain numbers",
            f"its dtype is {dtype}",
            "Convert it first: h.astype('float32').",
        )


class NotFinite(Refusal):
    """nan or infinity, or numbers that float32 cannot hold."""

    def __init__(self, places: int) -> None:
        super().__init__(
            "The array holds numbers that have no dot product",
            f"{count(places)} of them are nan, infinite, or beyond what float32 can hold",
            "Look for a division by zero or an overflow where it was computed.",
        )
