"""Numbers as a person typed them into a table: which are empty, which cannot be used."""

from __future__ import annotations

import numpy as np
import pandas as pd

LARGEST = 100.0
"""The largest number a cell takes, either way: softmax of anything larger is 0 and 1 on paper."""


def read_cells(frame: pd.DataFrame) -> tuple[np.ndarray, list[str]]:
    """The numbers of a table (rows, columns), and what had to be read as something else.

    An empty cell, or one that is no finite number, counts as 0; one beyond ±`LARGEST` as ±that.
    Each such cell is named in one sentence.
    """
    numbers = frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    notes = []
    for (row, column), number in np.ndenumerate(numbers):
        cell = f"{frame.index[row]}, {frame.columns[column]}"
        if not np.isfinite(number):
            notes.append(f"{cell} is empty and counts as 0 until you fill it.")
        elif abs(number) > LARGEST:
            notes.append(f"{cell} is beyond ±{LARGEST:g} and counts as {_bounded(number)}.")
    usable = np.where(np.isfinite(numbers), numbers, 0.0)
    return np.clip(usable, -LARGEST, LARGEST), notes


def _bounded(number: float) -> str:
    return f"{LARGEST:g}" if number > 0 else f"−{LARGEST:g}"
