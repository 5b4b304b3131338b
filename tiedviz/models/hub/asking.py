"""Asking the Hub, and turning every way it can fail into words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2 as httpx
from huggingface_hub import errors

from tiedviz.models.hub.address import TIMEOUT, endpoint, page_of
from tiedviz.words.refusals import hub as words


@contextmanager
def hub_errors(repo: str, revision: str | None = None, file: str = "") -> Iterator[None]:
    """Run a block that talks to the Hub; whatever goes wrong comes out as a `HubRefusal`.

    The kinds are told apart by exception class and status, never by the text of a message.
    """
    try:
        yield
    except errors.OfflineModeIsEnabled as error:
        raise words.HubOffline(repo) from error
    except errors.GatedRepoError as error:
        kind = words.GatedNotOnList if _status(error) == 403 else words.GatedWithoutLogin
        raise kind(repo, page_of(repo)) from error
    except errors.RevisionNotFoundError as error:
        raise words.NoSuchRevision(repo, revision or "main") from error
    except errors.RepositoryNotFoundError as error:
        missing = words.NoSuchRepository(repo) if _status(error) == 404 else words.NeedsLogin(repo)
        raise missing from error
    except errors.HfHubHTTPError as error:
        raise _by_status(repo, error) from error
    except (httpx.TransportError, errors.LocalEntryNotFoundError) as error:
        raise _broken_off(repo, file, error) from error
    except (httpx.HTTPError, ValueError, KeyError) as error:
        raise words.HubBroken(repo, "its answer could not be read") from error


def _status(error: errors.HfHubHTTPError) -> int:
    response = getattr(error, "response", None)
    return int(getattr(response, "status_code", 0) or 0)


def _by_status(repo: str, error: errors.HfHubHTTPError) -> words.HubRefusal:
    status = _status(error)
    if status == 429:
        return words.HubBusy(repo)
    if status in (401, 403):
        return words.NeedsLogin(repo)
    if status == 404:
        return words.NoSuchRepository(repo)
    return words.HubBroken(repo, f"status {status}" if status else "no status")


def _broken_off(repo: str, file: str, error: BaseException) -> words.HubRefusal:
    """A connection that never stood, or one that broke while a file came."""
    for seen in _chain(error):
        if isinstance(seen, errors.HfHubHTTPError):
            return _by_status(repo, seen)
        if isinstance(seen, (httpx.ReadError, httpx.RemoteProtocolError)) and file:
            return words.DownloadCut(repo, file)
        if isinstance(seen, httpx.ReadTimeout) and file:
            return words.HubStoodStill(repo, file, TIMEOUT)
    return words.HubUnreachable(repo, endpoint())


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
