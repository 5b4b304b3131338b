"""The headers of a repository's weights, read by byte range: no weight is downloaded for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from huggingface_hub import get_session, hf_hub_url
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

from tiedviz.files.config import parse_config
from tiedviz.files.facts import ModelFacts, gather_facts
from tiedviz.files.header import Header
from tiedviz.files.json_text import parse_object
from tiedviz.files.safetensors import read_safetensors
from tiedviz.files.shards import join_shards, weight_map
from tiedviz.models.hub.address import TIMEOUT, endpoint
from tiedviz.models.hub.asking import hub_errors
from tiedviz.models.hub.layout import Listing
from tiedviz.words.refusals.file import MissingShard

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
    weights = listing.weights
    if not weights[0].endswith(".safetensors"):
        return None
    config = remote_config(listing)
    if listing.index is None:
        return _header(listing, weights[0]), config
    index = parse_object(_whole(listing, listing.index), listing.index)
    files = weight_map(index, listing.index)
    if absent := sorted(set(files.values()) - set(listing.sizes)):
        raise MissingShard(listing.index, absent, len(set(files.values())))
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
    return read_safetensors(remote_reader(listing, name), listing.sizes[name], name)


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
