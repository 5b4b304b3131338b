"""What is known of a repository before it is opened, asked for in the background."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

from tiedviz.files.facts import ModelFacts, gather_facts
from tiedviz.files.header import Header
from tiedviz.models.hub.layout import Listing

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
        witnesses: what was made of the headers and config.json, as `Asked` was told; None likewise.
    """

    listing: Listing
    facts: ModelFacts | None
    witnesses: Any = None

    @property
    def download_size(self) -> int:
        """Bytes that opening it would fetch."""
        return self.listing.size_of(self.listing.needed)


class _Answer(NamedTuple):
    future: Future[RemoteModel]
    asked_at: float  # on the monotonic clock


class Asked:
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
    from tiedviz.models.hub.headers import remote_header  # the Hub's client takes its time
    from tiedviz.models.hub.listing import list_repository

    listing = list_repository(repo, revision)
    found = remote_header(listing)
    if found is None:
        return RemoteModel(listing, None)
    return RemoteModel(listing, gather_facts(*found), witness(*found))
