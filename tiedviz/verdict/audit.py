"""The audit of one model: what its four witnesses said, as far as they were heard.

`audit` hears what there is to hear of a model by its name; the others hear one source each. Heavy
libraries come in late: what files say needs the standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiedviz.files.access import StrPath, folder_of, is_file, readable_path
from tiedviz.files.config import CONFIG, read_config
from tiedviz.verdict.decide import Verdict, decide
from tiedviz.verdict.declared import declared_in, inferred
from tiedviz.verdict.stored import compare_remote, from_header, stored_in
from tiedviz.verdict.witnesses import Comparison, Declared, Loaded, Measured, Stored

if TYPE_CHECKING:
    from tiedviz.files.fit import Fit
    from tiedviz.files.header import Header, StoredTensor
    from tiedviz.models.progress import Report, Stage
    from tiedviz.models.sources import ShelfSource
    from tiedviz.verdict.copies import Progress


@dataclass(frozen=True)
class Audit:
    """What was heard about one model, and the plain questions that a verdict turns on.

    Attributes:
        declared, stored: the witnesses in the files; None for one that was not heard.
        loaded, measured: the witnesses in memory, likewise.
        model: what the model is called in the record.
        reported: how the files fitted config.json, as the library reported on a load, whether or
            not a model came of it.
        not_loaded: why the live model could not be heard, as a sentence, for the evidence.
        checks: what was found out about the rows of E, for the record.
        notes: the same as sentences.
    """

    declared: Declared | None
    stored: Stored | None
    loaded: Loaded | None = None
    measured: Measured | None = None
    model: str = ""
    reported: Fit | None = None
    not_loaded: str = ""
    checks: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on whatever has been heard."""
        return decide(self)

    def with_files(self, model: str, declared: Declared, stored: Stored) -> Audit:
        """The same live model, with what its files say."""
        return replace(self, model=model, declared=declared, stored=stored)

    @property
    def fit(self) -> Fit | None:
        """How the files fit config.json: by the report on a load, else by the headers alone."""
        return self.reported or (self.stored.fit if self.stored else None)

    @property
    def declared_tied(self) -> bool | None:
        """The governing raw flag, else the class default, else what transformers made of it."""
        told = self.declared.tied if self.declared else None
        if told is None and self.loaded:
            return self.loaded.effective
        return told

    @property
    def is_gguf(self) -> bool:
        """Whether the files are GGUF, which has no flag and loaders of its own."""
        return self.stored is not None and self.stored.format == "gguf"

    @property
    def memory(self) -> Loaded | None:
        """The loaded witness where it can say anything about sharing: it has numbers, and a W."""
        found = self.loaded
        return found if found and not (found.on_meta or found.strange) else None

    @property
    def comparison(self) -> Comparison | None:
        """Of two stored copies."""
        return self.stored.comparison if self.stored else None

    @property
    def two_copies(self) -> bool:
        """Whether the files hold two runs of numbers for E and W."""
        return self.stored is not None and self.stored.two_copies

    @property
    def table(self) -> StoredTensor | None:
        """The one stored matrix, or E of two."""
        return (self.stored.partner or self.stored.head) if self.stored else None

    @property
    def one_table(self) -> bool:
        """Whether the files hold exactly one matrix for E and W."""
        return self.table is not None and not self.two_copies

    @property
    def lone_input(self) -> bool:
        """Whether E is stored and no W at all."""
        return self.stored is not None and not self.stored.head and self.table is not None

    @property
    def lone_output(self) -> bool:
        """Whether W is stored alone, and the file says that E was left out of it."""
        stored = self.stored
        return bool(stored and stored.head and not stored.partner and stored.alias)

    @property
    def has_output(self) -> bool | None:
        """Whether the model has an output over tokens; None where nobody knows."""
        if self.loaded:
            return self.loaded.has_head
        if self.stored and self.stored.head:
            return True
        if self.stored and self.stored.one_way:
            return False
        return self.declared.scores if self.declared else None

    @property
    def shared_in_memory(self) -> bool:
        """Whether E and W are one matrix in the live model."""
        return self.memory is not None and self.memory.same_storage

    @property
    def scored_by(self) -> str:
        """The matrix the logits were seen to come from: "E", "W", "neither", "" unknown."""
        return self.measured.scored_by if self.measured else ""

    @property
    def tie_groups(self) -> tuple[tuple[str, ...], ...]:
        """Names of the same numbers: in memory where heard, else inside a .bin file."""
        if self.loaded:
            return self.loaded.groups
        if self.stored and self.stored.shares_storage and self.stored.head and self.table:
            return ((self.table.name, self.stored.head.name),)
        return ()

    @property
    def other_group(self) -> tuple[str, ...]:
        """A tie of E or of W with further tables, as of encoder and decoder, where W is not E."""
        if self.memory is None or self.memory.same_storage:
            return ()
        sides = {self.memory.embedding_name, self.memory.head_name}
        return next((group for group in self.memory.groups if sides & set(group)), ())


def audit(
    model: str, *, load: bool, report: Report, most: int | None = None, fetch: bool = False
) -> Audit:
    """All that can be heard about a model.

    Args:
        model: a shelf name, a folder, a weights file, or a Hub id.
        load: whether to open it, for the third and the fourth witness. Where that fails, the
            verdict is given on the files and says why.
        report: told of each stage.
        most: compare two stored copies only if that reads no more bytes than this.
        fetch: compare them on the Hub too, where the model is not on this machine.

    Raises:
        Refusal: not even its files can be heard.
    """
    live, refusal = Audit(None, None), None
    if load:
        from tiedviz.verdict.live import open_and_hear
        from tiedviz.words.refusals import Refusal

        try:
            live = open_and_hear(model, report)
        except Refusal as refused:
            refusal = refused
    files = readable_path(model) or local_files(model)
    if files is None and refusal is not None:
        raise refusal
    if files is None:
        found = _hear_hub(model, report, fetch)
    else:
        found = hear_files(
            files, progress=lambda done, total: report(_comparing(done, total)), most=most
        )
    why = "" if refusal is None else " ".join(str(refusal).split())
    reported = live.reported or getattr(refusal, "fit", None)
    return replace(live, reported=reported, not_loaded=why).with_files(model, *found)


def hear_files(
    path: StrPath, *, progress: Progress | None = None, most: int | None = None
) -> tuple[Declared, Stored]:
    """What a model folder or a single weights file declares and stores.

    Args:
        path: the folder, or a `.gguf`, `.safetensors` or `.bin` file; a config.json beside a
            file counts.
        progress: told of the bytes compared, where two copies are stored.
        most: compare two copies only if that reads no more bytes than this.

    Raises:
        FileRefusal: the files cannot be read.
    """
    config_path = Path(folder_of(path), CONFIG)
    config = read_config(config_path.parent) if is_file(config_path) else {}
    stored = stored_in(path, config, progress=progress, most=most)
    return _declared(config, stored), stored


def hear_header(header: Header, config: dict[str, object]) -> tuple[Declared, Stored]:
    """What config.json declares and the headers alone store, as of a repository on the Hub."""
    stored = from_header(header, config)
    return _declared(config, stored), stored


def _declared(config: dict[str, object], stored: Stored) -> Declared:
    """The declared witness; of a GGUF file it follows from what is stored."""
    if stored.format == "gguf":
        return inferred(stored.head is not None)
    return declared_in(config)


def local_files(model: str) -> Path | None:
    """The folder or file to read headers from, if it is on this machine."""
    if named := readable_path(model):
        return Path(named)
    from tiedviz.models.sources import HubSource, ShelfSource, find_source

    source = find_source(model)
    if isinstance(source, HubSource):
        from tiedviz.models.hub import cached_snapshot

        return cached_snapshot(source.repo, source.revision)
    return _shelf_file(source) if isinstance(source, ShelfSource) else source.path


def _shelf_file(source: ShelfSource) -> Path | None:
    """The published file itself, rather than what became of it."""
    from tiedviz.models.cache import shelf_file

    file = shelf_file(source.model)
    return file if file.is_file() else source.files_here()


def _hear_hub(model: str, report: Report, fetch: bool) -> tuple[Declared, Stored]:
    """From the Hub, by headers; two copies are compared only if they may be fetched."""
    from tiedviz.models.sources import HubSource, find_source
    from tiedviz.words.refusals.audit import AuditRefusal

    source = find_source(model)
    if not isinstance(source, HubSource):
        raise AuditRefusal.not_here_yet(source.title, source.text)
    from tiedviz.models.hub_client import list_repository, remote_header
    from tiedviz.models.progress import Stage

    report(Stage("Asking the Hub"))
    listing = list_repository(source.repo, source.revision)
    found = remote_header(listing)
    if found is None:
        raise AuditRefusal.pickled_on_the_hub(source.text)
    declared, stored = hear_header(*found)
    if fetch:
        stored = compare_remote(
            listing, stored, lambda done, total: report(_comparing(done, total))
        )
    return declared, stored


def _comparing(done: int, total: int) -> Stage:
    from tiedviz.models.progress import Stage

    return Stage("Comparing the two copies", done, total, "bytes")
