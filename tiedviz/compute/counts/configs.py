"""Which configuration does a name, a folder or a text mean? Needs no torch."""

from __future__ import annotations

from pathlib import Path

from tiedviz.files.access import may_read, named_path
from tiedviz.files.bounds import check_bounds
from tiedviz.files.config import parse_config, read_config, read_config_file
from tiedviz.models.sources import FileSource, FolderSource, HubSource, ShelfSource, find_source
from tiedviz.words.catalogue import CatalogueRow, find_row, row_of_shape
from tiedviz.words.refusals.count import CountRefusal

Config = dict[str, object]


def config_of(text: str) -> Config | CatalogueRow:
    """The raw config.json that `text` names, or the catalogue's row where that is what is known.

    `text` may be a Hub id, a shelf name, a folder or the path of a config.json. A Hub id with a
    revision is always asked of the Hub, one in the catalogue without a revision never.

    Raises:
        OpeningRefusal: it names nothing.
        HubRefusal, FileRefusal, CountRefusal: there is no config.json that can be read and built.
    """
    found = _find(text)
    return found if isinstance(found, CatalogueRow) else _checked(found, text.strip())


def _find(text: str) -> Config | CatalogueRow:
    path = Path(named_path(text))
    if path.suffix == ".json" and may_read(path) and _is_file(path):
        return read_config_file(path)
    source = find_source(text)
    if isinstance(source, HubSource):
        return _of_repository(source)
    if isinstance(source, FileSource):
        raise CountRefusal.gguf_without_config(source.title)
    if isinstance(source, FolderSource):
        return read_config(source.path)
    return _of_shelf(source)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name longer than any system has
        return False


def config_in_text(raw: bytes, name: str) -> Config:
    """The configuration in a pasted or uploaded text, called `name` in refusals.

    Raises:
        CountRefusal: there is none.
        FileRefusal: it is not the JSON of a configuration; says where.
        CountRefusal: it is out of bounds.
    """
    if not raw.strip():
        raise CountRefusal.nothing_pasted()
    return _checked(parse_config(raw, name), name)


def _checked(config: Config, title: str) -> Config:
    check_bounds(config, title)
    return config


def _of_repository(source: HubSource) -> Config | CatalogueRow:
    row = find_row(source.repo)
    if row is not None and source.revision is None:
        return row
    if here := source.files_here():
        return read_config(here)
    from tiedviz.models.hub_client import (
        list_repository,
        remote_config,  # the Hub's client takes its time
    )

    listing = list_repository(source.repo, source.revision)
    if "config.json" not in listing.sizes:
        raise CountRefusal.no_config(source.repo)
    return remote_config(listing)


def _of_shelf(source: ShelfSource) -> Config | CatalogueRow:
    """A shelf model's shape is published and stands in the catalogue, under a name of its own."""
    model = source.model
    row = row_of_shape(model.V, model.d, model.layers, model.parameters, like=model.origin)
    if row is None:
        raise CountRefusal.gguf_without_config(model.title)
    return row
