"""A toy out of a file: what the page exports, perhaps edited by hand, perhaps by a stranger."""

from __future__ import annotations

import json

import numpy as np

from tiedviz.compute.toy.cells import LARGEST
from tiedviz.compute.toy.scores import TOY_E, TOY_WORDS
from tiedviz.compute.toy.toy import Toy
from tiedviz.words.refusals.toy import (
    NotAToy,
    ToyNumberUnusable,
    ToyOfAnotherShape,
    ToyOfOtherWords,
    ToyTooLarge,
)

# An exported toy has about 1 kB.
MOST_BYTES = 20_000


def read_toy(raw: bytes) -> Toy:
    """The toy in a JSON file with `words`, `E` and `h_L`; anything else in it is ignored.

    Raises:
        ToyTooLarge, NotAToy, ToyOfOtherWords, ToyOfAnotherShape, ToyNumberUnusable: each says what
            was found.
    """
    if len(raw) > MOST_BYTES:
        raise ToyTooLarge(len(raw), MOST_BYTES)
    found = _object(raw)
    words = found.get("words", list(TOY_WORDS))
    if words != list(TOY_WORDS):
        named = [str(word) for word in words[:8]] if isinstance(words, list) else []
        raise ToyOfOtherWords(named, list(TOY_WORDS))
    rows, width = len(TOY_E), len(TOY_E[0])
    E, h = found.get("E"), found.get("h_L")
    if not isinstance(E, list) or len(E) != rows:
        raise ToyOfAnotherShape("E", rows, width)
    table = [_numbers(row, width, "E", rows, f"row {at}") for at, row in enumerate(E)]
    state = _numbers(h, width, "h_L", 0, "h_L")
    return Toy(TOY_WORDS, np.array(table), np.array(state))


def _object(raw: bytes) -> dict[str, object]:
    try:
        found = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # no UTF-8, no JSON, too deep, too many digits
        said = getattr(error, "msg", "")
        raise NotAToy(f"it is not JSON: {said}" if said else "it is not JSON in UTF-8") from error
    if not isinstance(found, dict):
        raise NotAToy("its JSON is no object with words, E and h_L")
    return found


def _numbers(found: object, width: int, table: str, rows: int, place: str) -> list[float]:
    """One row of a table."""
    if not isinstance(found, list) or len(found) != width:
        raise ToyOfAnotherShape(table, rows, width)
    if not all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in found):
        raise ToyOfAnotherShape(table, rows, width)
    for at, each in enumerate(found):
        if not abs(each) <= LARGEST:  # nor is it where it is not a number
            raise ToyNumberUnusable(table, f"{place}, column {at}", LARGEST)
    return [float(each) for each in found]
