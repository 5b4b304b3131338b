"""A repository on the Hub, without the Hub's client: its layout, its cached copy, what is known.

The environment is read at each call (the Hub's own client reads it once, at import): `HF_ENDPOINT`,
`HF_HOME`, `HF_HUB_CACHE`, `HF_HUB_OFFLINE`, `HF_HUB_DOWNLOAD_TIMEOUT`. The token (`HF_TOKEN`) is
the client's own business.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tiedviz.files.config import CONFIG
from tiedviz.files.facts import ModelFacts, gather_facts
from tiedviz.files.formats import IN_FOLDERS, Format
from tiedviz.files.header import Header
from tiedviz.words.refusals.hub import HubRefusal

_TOKENIZER_FILES = re.compile(
    r"tokenizer.*\.json|tokenizer\.model|vocab\.(json|txt|bpe)|merges\.txt|.*\.spm|spiece\.model"
    r"|sentencepiece.*\.model|special_tokens_map\.json|added_tokens\.json|chat_template\.jinja"
    r"|generation_config\.json|encoder\.json|bpe\.codes|dict\.txt"
)


@dataclass(frozen=True)
class Listing:
    """A repository at one commit.

    Attributes:
        repo: its id.
        commit: the commit that the revision names now.
        sizes: bytes of each file.
        revision: the branch, tag or commit that was asked for.
        hashes: SHA-256 of the large files, as the Hub publishes them.
    """

    repo: str
    commit: str
    sizes: dict[str, int]
    revision: str = "main"
    hashes: dict[str, str] = field(default_factory=dict)

    @property
    def format(self) -> Format:
        """The format that transformers would open it from, the first of which it has weights.

        Raises:
            HubRefusal: there are none.
        """
        for each in IN_FOLDERS:
            if self._files_of(each):
                return each
        raise HubRefusal.nothing_to_open(self.repo, sorted(self.sizes))

    @property
    def weights(self) -> list[str]:
        """The weight files that transformers would open; refused as `format`."""
        return self._files_of(self.format)

    def _files_of(self, kind: Format) -> list[str]:
        if kind.in_folder in self.sizes:
            return [kind.in_folder]
        stem, end = kind.in_folder.removesuffix(kind.ending), re.escape(kind.ending)
        shards = re.compile(rf"{stem}-\d+-of-\d+{end}")
        return sorted(filter(shards.fullmatch, self.sizes)) if kind.index in self.sizes else []

    @property
    def index(self) -> str | None:
        """The name of the shard index, if there is one."""
        return self.format.index if self.format.index in self.sizes else None

    def check(self) -> None:
        """Nothing, or a refusal where the repository cannot be a model as it is laid out.

        Raises:
            HubRefusal: it has no weights, or no config.json beside them.
        """
        if self.weights and CONFIG not in self.sizes:
            raise HubRefusal.nothing_to_open(self.repo, sorted(self.sizes), lacks=CONFIG)

    @property
    def needed(self) -> list[str]:
        """All files that opening the model takes, the small ones first."""
        small = [CONFIG, *([self.index] if self.index else [])]
        here = [name for name in self.sizes if "/" not in name and "\\" not in name]
        small += [name for name in here if _TOKENIZER_FILES.fullmatch(name)]
        return [name for name in dict.fromkeys(small) if name in self.sizes] + self.weights

    def size_of(self, names: Iterable[str]) -> int:
        """Bytes of these files together."""
        return sum(self.sizes[name] for name in names)


# How long the Hub has to begin an answer, in seconds: a page waits for it.
TIMEOUT = 4.0
# How long a download may stand still, in seconds, unless HF_HUB_DOWNLOAD_TIMEOUT says otherwise.
_PATIENCE = 20.0


def endpoint() -> str:
    """The Hub's address, without a slash at the end."""
    from huggingface_hub import constants  # takes its time, and only a question needs it

    return (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")


def cache_folder() -> Path:
    """The folder in which the Hub's client, and transformers, keep what was downloaded."""
    if chosen := os.environ.get("HF_HUB_CACHE"):
        return Path(chosen).expanduser()
    if home := os.environ.get("HF_HOME"):
        return Path(home).expanduser() / "hub"
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "huggingface" / "hub"


def patience() -> float:
    """Seconds without a byte after which a download is given up."""
    try:
        chosen = float(os.environ.get("HF_HUB_DOWNLOAD_TIMEOUT") or _PATIENCE)
    except ValueError:
        return _PATIENCE
    return chosen if 0 < chosen < float("inf") else _PATIENCE


def offline() -> bool:
    """Whether the person asked for no network at all."""
    return os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on")


def page_of(repo: str) -> str:
    """The page of a repository, for a person to open."""
    return f"{endpoint()}/{repo}"


def cached_snapshot(repo: str, revision: str | None = None) -> Path | None:
    """The folder of a complete copy in the cache, or None. Asks nobody.

    Complete means: the files that its own index, or the layout of one file, names are there.
    """
    reference = _reference(repo, revision or "main")
    commit = reference.read_text().strip() if reference.is_file() else revision or ""
    snapshot = _storage(repo) / "snapshots" / commit
    if not commit or not (snapshot / CONFIG).is_file():
        return None
    found = Listing(repo, commit, {path.name: 0 for path in snapshot.iterdir() if path.exists()})
    try:
        weights = found.weights
    except HubRefusal:
        return None
    return snapshot if weights and _shards_complete(snapshot, found) else None


def remember_revision(listing: Listing) -> None:
    """Write down which commit the revision meant, so that it is found again without the Hub.

    The Hub's client does so only when it downloads by the revision's name, during which the
    branch could move.
    """
    reference = _reference(listing.repo, listing.revision)
    reference.parent.mkdir(parents=True, exist_ok=True)
    reference.write_text(listing.commit)


def lock_of(repo: str) -> Path:
    """What a process of this app locks while it fetches files of that repository."""
    return cache_folder() / ".locks" / _storage(repo).name / "tiedviz.lock"


def _storage(repo: str) -> Path:
    """The repository's folder in the cache, as the Hub's client lays it out."""
    return cache_folder() / f"models--{repo.replace('/', '--')}"


def _reference(repo: str, revision: str) -> Path:
    return _storage(repo) / "refs" / revision


def _shards_complete(snapshot: Path, found: Listing) -> bool:
    """Whether every shard is there; the names say how many there should be."""
    weights = found.weights
    if found.index is None:
        return True
    promised = re.search(r"-of-(\d+)\.", weights[0])
    return promised is not None and len(weights) == int(promised[1])


Witness = Callable[[Header, dict[str, object]], Any]
"""What is made of a repository's joined header and raw config.json, which are not kept."""

_MOST_KEPT = 200
_FAILURE_KEPT = 20.0  # seconds


@dataclass(frozen=True)
class RemoteModel:
    """A repository as the Hub described it.

    Attributes:
        listing: its files.
        facts: from its headers; None where its weights are pickled.
        witnesses: what `HubAnswers` was told to make of the headers and config.json, or None.
    """

    listing: Listing
    facts: ModelFacts | None
    witnesses: Any = None

    @property
    def download_size(self) -> int:
        """Bytes that opening it would fetch."""
        return self.listing.size_of(self.listing.needed)

    @property
    def memory(self) -> int:
        """Bytes of the weights in float32; without a header to read, as if stored in 16 bits."""
        if self.facts is not None:
            return self.facts.float32_bytes
        return 2 * self.listing.size_of(self.listing.weights)


class _Answer(NamedTuple):
    future: Future[RemoteModel]
    asked_at: float  # on the monotonic clock


class HubAnswers:
    """Answers of the Hub, each asked for once and remembered; a failure is asked again later."""

    def __init__(self, witness: Witness = lambda header, config: None) -> None:
        self._witness = witness
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="ask the Hub")
        self._answers: dict[tuple[str, str | None], _Answer] = {}
        self._guard = threading.Lock()

    def about(self, repo: str, revision: str | None) -> Future[RemoteModel]:
        """The answer, perhaps still on its way. Its exception, if any, is a `Refusal`."""
        key = (repo, revision)
        with self._guard:
            self._drop_old_failure(key)
            if key not in self._answers:
                while len(self._answers) >= _MOST_KEPT:
                    self._answers.pop(next(iter(self._answers)))
                asked = self._pool.submit(_ask, repo, revision, self._witness)
                self._answers[key] = _Answer(asked, time.monotonic())
            return self._answers[key].future

    def _drop_old_failure(self, key: tuple[str, str | None]) -> None:
        """Forget a failure after a while, so that it is asked again."""
        answer = self._answers.get(key)
        if answer is None or not answer.future.done() or answer.future.exception() is None:
            return
        if time.monotonic() - answer.asked_at > _FAILURE_KEPT:
            del self._answers[key]

    def earlier(self, repo: str, revision: str | None) -> Future[RemoteModel] | None:
        """The answer if somebody has asked already, else None."""
        with self._guard:
            answer = self._answers.get((repo, revision))
            return None if answer is None else answer.future


def _ask(repo: str, revision: str | None, witness: Witness) -> RemoteModel:
    # the Hub's client takes its time
    from tiedviz.models.hub_client import list_repository, remote_header

    listing = list_repository(repo, revision)
    found = remote_header(listing)
    if found is None:
        return RemoteModel(listing, None)
    return RemoteModel(listing, gather_facts(*found), witness(*found))
