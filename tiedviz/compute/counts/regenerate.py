"""Counts every model of the catalogue again, from its configuration alone.

    python -m tiedviz.compute.counts.regenerate

replaces the counts in `tiedviz/words/catalogue.jsonl` and keeps the facts; it ends with status 1
where a count is not what others arrived at. The tests do the same without writing.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from tiedviz.compute.counts import Counts
from tiedviz.compute.counts.count import count_config
from tiedviz.words.catalogue import FILE, PARTS, CatalogueRow, read_row


def counts_of(record: dict[str, Any]) -> Counts:
    """The counts of one line of the file, built anew."""
    return count_config(
        record["config"],
        record["repo_id"],
        kind=record["kind"],
        checkpoint_untied=record["checkpoint_untied"],
    )


def counted(record: dict[str, Any]) -> dict[str, Any]:
    """The line of the file with its counts replaced."""
    counts = counts_of(record)
    return record | {
        "tied": counts.tied,
        "V": counts.V,
        "d": counts.d,
        "layers": counts.layers or 0,
        "parts": {part: getattr(counts.parts, part) for part in PARTS},
        "listed": counts.listed,
        "used": counts.used,
    }


def disagreements(row: CatalogueRow) -> list[str]:
    """Where a row's counts are not what others arrived at and the row does not say why."""
    expected, parts = row.expected, row.parts
    pairs = {
        "parameters": (row.total, expected["total"]),
        "as the library builds it": (
            row.total - (parts.head if row.checkpoint_untied else 0),
            expected["total_as_built"],
        ),
        "embedding": (parts.embedding, expected["input_embedding"]),
        "separate head": (parts.head, expected["output_embedding"]),
        "V·d": (row.V * row.d, expected["input_embedding"]),
    }
    if row.published is not None:
        explained = row.published_difference if row.published_why else 0
        pairs["published parameters"] = (row.total + explained, row.published)
    return [
        f"{row.repo_id}: {what} counted {ours:,}, expected {theirs:,}"
        for what, (ours, theirs) in pairs.items()
        if ours != theirs
    ]


def main() -> int:
    """Rewrite the file. Returns the exit status."""
    records = [counted(json.loads(line)) for line in FILE.read_text("utf-8").splitlines()]
    faults = [fault for record in records for fault in disagreements(read_row(record))]
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    FILE.write_text("".join(lines), "utf-8")
    sys.stderr.write("".join(f"{fault}\n" for fault in faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
