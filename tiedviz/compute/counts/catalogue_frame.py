"""The catalogue as a data frame, and the few facts a reader should take from the rows shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache

import pandas as pd

from tiedviz.words.catalogue import CatalogueRow, catalogue
from tiedviz.words.numbers import percent, plural, short_count

_SIZE_IN_NAME = re.compile(r"(?<![\w.])\d+(?:\.\d+)?[BM](?![a-z])", re.IGNORECASE)
_SMALL, _LARGE = (500_000_000, "500M"), (10_000_000_000, "10B")


def share_frame(rows: Sequence[CatalogueRow] | None = None) -> pd.DataFrame:
    """One row for each model, the smallest first; of the whole catalogue by default.

    Columns: repo_id (the key), name, family, year, kind, tied ("tied" or "untied"), V, d, layers,
    parameters, share, embedding, head, positions, attention, feed_forward, norms, other (the parts
    add up to parameters), table (V·d), saved (what tying saves; 0 where untied), if_untied, used,
    product_operations, published, file_numbers, source, note.
    """
    return _whole() if rows is None else _frame(rows)


@lru_cache(maxsize=1)
def _whole() -> pd.DataFrame:
    """The whole catalogue; shared, so nobody may change it in place."""
    return _frame(catalogue())


def _frame(rows: Sequence[CatalogueRow]) -> pd.DataFrame:
    frame = pd.DataFrame([_record(row) for row in rows])
    return frame.sort_values(["parameters", "repo_id"], ignore_index=True)


def _record(row: CatalogueRow) -> dict[str, object]:
    table = row.V * row.d
    return {
        "repo_id": row.repo_id,
        "name": row.name,
        "family": row.family,
        "year": row.year,
        "kind": row.kind,
        "tied": "tied" if row.tied else "untied",
        "V": row.V,
        "d": row.d,
        "layers": row.layers,
        "parameters": row.total,
        "share": row.parts.share,
        **asdict(row.parts),
        "table": table,
        "saved": table if row.tied else 0,
        "if_untied": row.total + (table if row.tied else 0),
        "used": row.used,
        "product_operations": 2 * table,
        "published": row.published,
        "file_numbers": row.file_numbers,
        "source": row.source,
        "note": row.note,
    }


@dataclass(frozen=True)
class StopsTying:
    """Where a family goes from one table to two.

    Attributes:
        family: its name.
        tied, untied: repo ids of the largest tied and the smallest untied model.
        sentence: with sizes and shares.
    """

    family: str
    tied: str
    untied: str
    sentence: str


def where_families_stop_tying(frame: pd.DataFrame) -> list[StopsTying]:
    """The families all of whose tied models are smaller than all of their untied ones."""
    found = []
    for family, members in frame.groupby("family", sort=True):
        small = members[members["tied"] == "tied"]
        large = members[members["tied"] == "untied"]
        if small.empty or large.empty:
            continue
        last = small.loc[small["parameters"].idxmax()]
        first = large.loc[large["parameters"].idxmin()]
        if last["parameters"] < first["parameters"]:
            found.append(_stops(str(family), last, first))
    return found


def _stops(family: str, last: pd.Series, first: pd.Series) -> StopsTying:
    rises = first["share"] > last["share"]
    way = "so the share rises" if rises else "and the share falls all the same,"
    sentence = (
        f"{family} stops tying between {_size(last)} and {_size(first)}, {way} from "
        f"{percent(last['share'])} to {percent(first['share'])}."
    )
    return StopsTying(family, last["repo_id"], first["repo_id"], sentence)


def _size(row: pd.Series) -> str:
    """The size a model is known by: as in its name, else as counted."""
    named = _SIZE_IN_NAME.findall(str(row["name"]))
    return named[0] if named else short_count(row["parameters"])


def how_share_falls(frame: pd.DataFrame) -> str:
    """One sentence on the medians of small and large models; empty where there are not both."""
    small = frame[frame["parameters"] < _SMALL[0]]["share"]
    large = frame[frame["parameters"] > _LARGE[0]]["share"]
    if small.empty or large.empty:
        return ""
    way = "falls" if small.median() > large.median() else "does not fall"
    return (
        f"The share {way} with size: its median is {percent(small.median())} in the "
        f"{plural(len(small), 'model')} below {_SMALL[1]} and {percent(large.median())} in the "
        f"{plural(len(large), 'model')} above {_LARGE[1]}."
    )
