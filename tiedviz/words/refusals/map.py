"""What is said when a map, or a walk on it, cannot be made."""

from __future__ import annotations

from tiedviz.words.numbers import plural
from tiedviz.words.refusals import Refusal


class NothingToMap(Refusal):
    """Fewer than two rows are left to draw."""

    def __init__(self, title: str, rows: int, left_out: int) -> None:
        super().__init__(
            f"There is no map of {title}",
            f"of {plural(rows, 'row')} {left_out} are left out, because they hold no finite "
            "number, point nowhere, or belong to no token",
            "A map needs two rows or more; look at the checkpoint on “Is it tied?”.",
        )


class RowNotFinite(Refusal):
    """The row asked for holds a NaN or an infinity."""

    def __init__(self, name: str, row: int) -> None:
        super().__init__(
            f"Row {row} ({name}) has no neighbours",
            "it holds numbers that are not finite",
            "Choose another token; the checkpoint itself is damaged in this row.",
        )


class NotArithmetic(Refusal):
    """What was typed is no sum of tokens."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"“{text}” is not a sum of tokens",
            "tokens and signs must take turns, with a space on both sides of each sign",
            "As in: king − man + woman. Write ␣ for a leading space, or id:123 for a row.",
        )


class SumIsZero(Refusal):
    """The terms cancel, so the sum points nowhere."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"“{text}” is zero",
            "its terms cancel each other, so there is no direction to be near to",
            "Leave one of them out.",
        )


class FileNotWritten(Refusal):
    """The map cannot be written where it was asked for."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path} was not written",
            reason,
            "Name a file that ends in .csv or .parquet, in a folder that you may write to.",
        )
