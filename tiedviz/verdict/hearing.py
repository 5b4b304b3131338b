"""The four witnesses on one model, as far as they can be heard. Heavy libraries come in late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiedviz.files.allowed import readable_path
from tiedviz.verdict.audit import declare, hear_files
from tiedviz.verdict.decide import decide
from tiedviz.verdict.record import audit_record
from tiedviz.verdict.stored import compare_remote, from_header

if TYPE_CHECKING:
    from pathlib import Path

    from tiedviz.models.progress import Report, Step
    from tiedviz.models.sources import ShelfSource
    from tiedviz.verdict.open_model import Live
    from tiedviz.verdict.verdict import Verdict
    from tiedviz.verdict.witnesses import Declared, Stored


class Hearing:
    """One model, heard."""

    def __init__(
        self, model: str, declared: Declared, stored: Stored, live: Live | None, verdict: Verdict
    ) -> None:
        self.model = model
        self.declared = declared
        self.stored = stored
        self.live = live
        self.verdict = verdict


def hearing(
    model: str, declared: Declared, stored: Stored, live: Live | None, why: str = ""
) -> Hearing:
    """The witnesses put together, with the verdict on them.

    Args:
        model: what it is called in the record.
        declared: the first witness.
        stored: the second.
        live: the third and the fourth, where they were heard.
        why: why they were not, as a sentence.
    """
    return Hearing(model, declared, stored, live, _decide(declared, stored, live, why))


def record_of(heard: Hearing) -> dict[str, Any]:
    """The hearing as one JSON object."""
    live = heard.live
    record = audit_record(
        heard.model,
        heard.verdict,
        heard.declared,
        heard.stored,
        live.loaded if live else None,
        live.measured if live else None,
    )
    return record | {"checks": live.checks if live else {}}


def hear(
    model: str, *, load: bool, report: Report, most: int | None = None, fetch: bool = False
) -> Hearing:
    """All that can be heard about a model.

    Args:
        model: a shelf name, a folder, a weights file, or a Hub id.
        load: whether to open it, for the third and the fourth witness. Where that fails, the
            verdict is given on the files and says why.
        report: told of each step.
        most: compare two stored copies only if that reads no more bytes than this.
        fetch: compare them on the Hub too, where the model is not on this machine.

    Raises:
        Refusal: not even its files can be heard.
    """
    live, refusal = None, None
    if load:
        from tiedviz.verdict.open_model import hear_live

        live, refusal = hear_live(model, report)
    files = readable_path(model) or local_files(model)
    if files is None and refusal is not None:
        raise refusal
    if files is None:
        declared, stored = _remote_files(model, report, fetch)
    else:
        declared, stored = hear_files(
            files, progress=lambda done, total: report(_comparing(done, total)), most=most
        )
    why = "" if refusal is None else " ".join(str(refusal).split())
    return hearing(model, declared, stored, live, why)


def _decide(declared: Declared, stored: Stored, live: Live | None, why: str) -> Verdict:
    if live is None:
        return decide(declared, stored, not_loaded=why)
    return decide(declared, stored, live.loaded, live.measured)


def _comparing(done: int, total: int) -> Step:
    from tiedviz.models.progress import Step

    return Step("Comparing the two copies", done, total, "bytes")


def local_files(model: str) -> Path | None:
    """The folder or file to read headers from, if it is on this machine."""
    if named := readable_path(model):
        from pathlib import Path

        return Path(named)
    from tiedviz.models.sources import HubSource, ShelfSource, find_source

    source = find_source(model)
    if isinstance(source, HubSource):
        from tiedviz.models.hub.cached import cached_snapshot

        return cached_snapshot(source.repo, source.revision)
    return _shelf_file(source) if isinstance(source, ShelfSource) else source.path


def _shelf_file(source: ShelfSource) -> Path | None:
    """The published file itself, rather than what became of it."""
    from tiedviz.models.cache.folder import shelf_file

    file = shelf_file(source.model)
    if file.is_file():
        return file
    from tiedviz.models.known import files_here

    return files_here(source)


def _remote_files(model: str, report: Report, fetch: bool) -> tuple[Declared, Stored]:
    """From the Hub, by headers; two copies are compared only if they may be fetched."""
    from tiedviz.models.sources import HubSource, find_source
    from tiedviz.words.refusals.audit import NotHereYet, PickledOnTheHub

    source = find_source(model)
    if not isinstance(source, HubSource):
        raise NotHereYet(source.title, source.text)
    from tiedviz.models.hub.headers import remote_header
    from tiedviz.models.hub.listing import list_repository
    from tiedviz.models.progress import Step

    report(Step("Asking the Hub"))
    listing = list_repository(source.repo, source.revision)
    found = remote_header(listing)
    if found is None:
        raise PickledOnTheHub(source.text)
    header, config = found
    stored = from_header(header, config)
    if fetch:
        stored = compare_remote(
            listing, stored, lambda done, total: report(_comparing(done, total))
        )
    return declare(config, stored), stored
