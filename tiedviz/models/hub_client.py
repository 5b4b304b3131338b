"""Asking the Hub, and turning every way it can fail into words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx2 as httpx
from huggingface_hub import HfApi, errors, get_session, hf_hub_url
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

from tiedviz.files.config import parse_config, parse_object
from tiedviz.files.facts import ModelFacts, gather_facts
from tiedviz.files.formats import weight_map
from tiedviz.files.header import Header, join_shards
from tiedviz.models.hub import TIMEOUT, Listing, endpoint, offline, page_of
from tiedviz.words.refusals import hub as words
from tiedviz.words.refusals.file import FileRefusal
from tiedviz.words.refusals.hub import HubUnreachable


@contextmanager
def hub_errors(repo: str, revision: str | None = None, file: str = "") -> Iterator[None]:
    """Run a block that talks to the Hub; whatever goes wrong comes out as a `HubRefusal`.

    The kinds are told apart by exception class and status, never by the text of a message.
    """
    try:
        yield
    except errors.OfflineModeIsEnabled as error:
        raise words.HubUnreachable.offline(repo) from error
    except errors.GatedRepoError as error:
        gate = words.HubRefusal.gated_without_login
        if _status(error) == 403:
            gate = words.HubRefusal.gated_not_on_list
        raise gate(repo, page_of(repo)) from error
    except errors.RevisionNotFoundError as error:
        raise words.HubRefusal.no_such_revision(repo, revision or "main") from error
    except errors.RepositoryNotFoundError as error:
        missing = (
            words.HubRefusal.no_such_repository(repo)
            if _status(error) == 404
            else words.HubRefusal.needs_login(repo)
        )
        raise missing from error
    except errors.HfHubHTTPError as error:
        raise _by_status(repo, error) from error
    except (httpx.TransportError, errors.LocalEntryNotFoundError) as error:
        raise _broken_off(repo, file, error) from error
    except (httpx.HTTPError, ValueError, KeyError) as error:
        raise words.HubRefusal.broken(repo, "its answer could not be read") from error


def _status(error: errors.HfHubHTTPError) -> int:
    response = getattr(error, "response", None)
    return int(getattr(response, "status_code", 0) or 0)


def _by_status(repo: str, error: errors.HfHubHTTPError) -> words.HubRefusal:
    status = _status(error)
    if status == 429:
        return words.HubRefusal.busy(repo)
    if status in (401, 403):
        return words.HubRefusal.needs_login(repo)
    if status == 404:
        return words.HubRefusal.no_such_repository(repo)
    return words.HubRefusal.broken(repo, f"status {status}" if status else "no status")


def _broken_off(repo: str, file: str, error: BaseException) -> words.HubRefusal:
    """A connection that never stood, or one that broke while a file came."""
    for seen in _chain(error):
        if isinstance(seen, errors.HfHubHTTPError):
            return _by_status(repo, seen)
        if isinstance(seen, (httpx.ReadError, httpx.RemoteProtocolError)) and file:
            return words.HubRefusal.download_cut(repo, file)
        if isinstance(seen, httpx.ReadTimeout) and file:
            return words.HubRefusal.stood_still(repo, file, TIMEOUT)
    return words.HubUnreachable.no_answer(repo, endpoint())


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def list_repository(repo: str, revision: str | None = None) -> Listing:
    """What the Hub holds under this name now.

    Raises:
        HubRefusal: one of its kinds; within a few seconds.
    """
    if offline():
        raise HubUnreachable.offline(repo)
    with hub_errors(repo, revision):
        info = HfApi(endpoint=endpoint()).model_info(
            repo, revision=revision, files_metadata=True, timeout=TIMEOUT
        )
        files = info.siblings or []
        sizes = {entry.rfilename: int(entry.size or 0) for entry in files}
        hashes = {entry.rfilename: str(entry.lfs.sha256) for entry in files if entry.lfs}
        return Listing(repo, str(info.sha), sizes, revision or "main", hashes)


_AT_ONCE = 8
_MOST_JSON = 100_000_000  # bytes; an index of a model with 300 shards has about 20 MB


def remote_facts(listing: Listing) -> ModelFacts | None:
    """The facts of a repository from its headers alone; None where its weights are pickled.

    Raises:
        HubRefusal: the Hub fails.
        FileRefusal: the headers are damaged.
    """
    found = remote_header(listing)
    return None if found is None else gather_facts(*found)


def remote_header(listing: Listing) -> tuple[Header, dict[str, object]] | None:
    """The joined header and the raw config.json of a repository; None where it is pickled.

    Raises:
        HubRefusal, FileRefusal: as `remote_facts`.
    """
    listing.check()
    if not listing.format.by_range:
        return None
    config = remote_config(listing)
    if listing.index is None:
        return _header(listing, listing.weights[0]), config
    index = parse_object(_whole(listing, listing.index), listing.index)
    files = weight_map(index, listing.index)
    if absent := sorted(set(files.values()) - set(listing.sizes)):
        raise FileRefusal.missing_shard(listing.index, absent, len(set(files.values())))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        shards = list(pool.map(lambda name: _header(listing, name), sorted(set(files.values()))))
    return join_shards(shards, files, {}), config


def remote_config(listing: Listing) -> dict[str, object]:
    """The raw config.json of a repository, whatever its weights are.

    Raises:
        HubRefusal, FileRefusal: as `remote_facts`.
    """
    return parse_config(_whole(listing, "config.json"))


def _header(listing: Listing, name: str) -> Header:
    return listing.format.read(remote_reader(listing, name), listing.sizes[name], name)


def _whole(listing: Listing, name: str) -> bytes:
    return remote_reader(listing, name)(0, min(listing.sizes[name], _MOST_JSON))


def remote_reader(listing: Listing, name: str) -> Callable[[int, int], bytes]:
    """`read(offset, length)` over HTTP; a server that ignores ranges is cut off after `length`."""
    url = hf_hub_url(listing.repo, name, revision=listing.commit, endpoint=endpoint())

    def read(offset: int, length: int) -> bytes:
        if length == 0:
            return b""
        headers = build_hf_headers() | {"Range": f"bytes={offset}-{offset + length - 1}"}
        client = get_session()
        with (
            hub_errors(listing.repo, listing.commit, name),
            client.stream(
                "GET", url, headers=headers, follow_redirects=True, timeout=TIMEOUT
            ) as answer,
        ):
            hf_raise_for_status(answer)
            skip = offset if answer.status_code == 200 else 0
            return _take(answer.iter_bytes(), skip, length)

    return read


def _take(blocks: Iterator[bytes], skip: int, length: int) -> bytes:
    """`length` bytes after the first `skip`, and not one block more than that takes."""
    taken = bytearray()
    for block in blocks:
        taken += block
        if len(taken) >= skip + length:
            break
    return bytes(taken[skip : skip + length])
