"""`map MODEL --out FILE`: coordinates of every row of E, as the page Token map draws them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tiedviz.commands.options import add_model, finish, open_model, print_record
from tiedviz.words.numbers import count, percent
from tiedviz.words.refusals.vector import VectorRefusal


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("map", help="coordinates of every row of E on ten components")
    add_model(parser)
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="where to write: a .csv or .parquet file"
    )
    parser.add_argument(
        "--view",
        choices=("raw", "centred", "unit"),
        default="unit",
        help="rows from the zero vector, from the mean row, or by direction alone (unit)",
    )
    finish(parser, run)


def run(options: argparse.Namespace) -> int:
    """Open the model, place its rows, write the file. Returns the exit status."""
    out = Path(options.out)
    _require_writable(out)
    from tiedviz.compute.token_map import MapView
    from tiedviz.compute.token_map.projection import coordinate_table, projected
    from tiedviz.compute.token_map.rows import named_rows

    loaded = open_model(options.model)
    named = named_rows(loaded)
    projection = projected(loaded, named, MapView(options.view))
    table = coordinate_table(named, projection)
    try:
        if out.suffix == ".csv":
            table.to_csv(out, index=False)
        else:
            table.to_parquet(out, index=False)
    except OSError as error:
        raise VectorRefusal.file_not_written(str(out), error.strerror or str(error)) from error
    record = {
        "model": loaded.source,
        "view": options.view,
        "out": str(out),
        "rows": len(table),
        "placed": int(projection.fitted.sum()),
        "left_out": (~projection.fitted).nonzero()[0].tolist(),
        "explained_variance": projection.spectrum[:10].tolist(),
    }
    return print_record(record, options, _print_line)


def _print_line(record: dict[str, Any]) -> None:
    two = percent(sum(record["explained_variance"][:2]))
    print(f"{record['out']}: {count(record['rows'])} rows; the first two components hold {two}")


def _require_writable(out: Path) -> None:
    """Refuse before a model is opened.

    Raises:
        VectorRefusal: the name or the folder will not do.
    """
    if out.suffix not in (".csv", ".parquet"):
        raise VectorRefusal.file_not_written(
            str(out), "its name ends neither in .csv nor in .parquet"
        )
    if not out.parent.is_dir():
        raise VectorRefusal.file_not_written(str(out), f"there is no folder {out.parent}")
