"""The second witness: what the files hold, one copy or two, and whether two are one matrix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tiedviz.files.access import StrPath, folder_of, is_file
from tiedviz.files.config import ADAPTER_CONFIG, CONFIG_LIMIT, dimensions, read_object
from tiedviz.files.facts import ModelFacts, gather_facts
from tiedviz.files.fit import fit_of_header
from tiedviz.files.formats import read_header
from tiedviz.files.header import Header, StoredTensor
from tiedviz.files.roles import (
    ADAPTER_MARKS,
    EMBEDDINGS,
    HEADS,
    POSSIBLE_HEADS,
    head_parts,
    is_called,
    is_table,
)
from tiedviz.verdict.witnesses import COMPARING, Stored
from tiedviz.words.numbers import megabytes
from tiedviz.words.refusals.file import listed, printable

if TYPE_CHECKING:
    from tiedviz.models.hub import Listing
    from tiedviz.verdict.copies import Place, Progress

_ADAPTER = (
    r"\.(lora_\w+|modules_to_save|oft_\w+|boft_\w+|hada_\w+|lokr_\w+|ia3_\w+|vera_\w+"
    r"|trainable_tokens_\w+|token_adapter)(\.|$)"
)
_LAYERS = (*EMBEDDINGS, *HEADS, *POSSIBLE_HEADS)


def stored_in(
    path: StrPath,
    config: Mapping[str, object],
    *,
    progress: Progress | None = None,
    most: int | None = None,
) -> Stored:
    """What a model folder, or one weights file, holds.

    Args:
        path: the folder or the file.
        config: its raw config.json, or `{}`.
        progress: told of the bytes compared, where there are two copies.
        most: compare only if that reads no more bytes than this; None compares always.

    Raises:
        FileRefusal: the files cannot be read.
    """
    header = read_header(path)
    folder = folder_of(path)
    found = from_header(header, config)
    found = found._replace(adapters=found.adapters or _adapter_targets(folder))
    return compare_copies(found, folder, progress=progress, most=most)


def from_header(header: Header, config: Mapping[str, object]) -> Stored:
    """What the headers alone say; two copies are not compared yet."""
    facts = gather_facts(header, config)
    decoder = _decoder_table(header, facts, config)
    found = Stored(
        format=facts.format,
        embedding=facts.embedding,
        head=facts.head,
        shares_storage=facts.head_shares_storage,
        decoder_table=decoder,
        copies=_own_copies(header, facts.copies),
        unheard=_sides(facts.embedding, _own_copies(header, facts.copies)),
        alias=_alias(header, facts),
        adapters=_adapter_layers(header.tensors),
        absent=header.absent,
        fit=fit_of_header(header, config, facts.embedding, facts.head),
        empty=_empty(header),
        one_way=_is_one_way(header),
        unpacked_bytes=facts.unpacked_bytes,
        uncounted=facts.uncounted,
        unpacked=facts.unpacked,
        parameters=facts.parameters,
        stored_numbers=facts.stored_numbers,
    )
    if not found.two_copies or found.partner is None or found.head is None:
        return found
    to_read = found.partner.nbytes + found.head.nbytes
    reason = f"{COMPARING} the two stored matrices reads {megabytes(to_read)}"
    other = _kept_otherwise(header, found.head, config)
    return found._replace(to_read=to_read, uncompared=other or reason)


def compare_copies(
    found: Stored, folder: StrPath, *, progress: Progress | None = None, most: int | None = None
) -> Stored:
    """The same with its two copies compared, if it has two and they can be.

    Raises:
        FileRefusal: a file cannot be read.
    """
    found = _compare_tables(found, folder, most)
    if not found.two_copies or found.partner is None or found.head is None:
        return found
    if most is not None and found.to_read > most:
        return found
    from tiedviz.verdict.copies import Place  # most models have no two copies

    return compare_at(found, Place(found.partner, folder), Place(found.head, folder), progress)


def compare_at(found: Stored, one: Place, other: Place, progress: Progress | None = None) -> Stored:
    """The same with its two copies compared, given where E and W lie.

    Raises:
        Refusal: what is read cannot be.
    """
    if not found.comparable:
        return found
    from tiedviz.verdict.copies import cannot_compare, compare, quiet

    if reason := cannot_compare(one, other):
        return found._replace(uncompared=reason)
    return found._replace(comparison=compare(one, other, progress or quiet), uncompared="")


def compare_remote(listing: Listing, stored: Stored, progress: Progress | None = None) -> Stored:
    """The same with its two copies compared: their bytes are fetched, block by block.

    Nothing is kept on disk, and a few blocks in memory.

    Args:
        listing: the repository on the Hub.
        stored: what its headers said.
        progress: told of the bytes of E that are done; it may raise to stop.

    Raises:
        HubRefusal: the Hub fails, or the connection breaks off.
    """
    from tiedviz.models.hub_client import remote_reader
    from tiedviz.verdict.copies import Place

    if not stored.two_copies or stored.partner is None or stored.head is None:
        return stored
    one, other = (
        Place(each, listing.repo, remote_reader(listing, each.file), listing.sizes[each.file])
        for each in (stored.partner, stored.head)
    )
    return compare_at(stored, one, other, progress)


def _kept_otherwise(header: Header, head: StoredTensor, config: Mapping[str, object]) -> str:
    """Why a head cannot be compared by its numbers (scales, several parts); else empty."""
    settings = config.get("quantization_config")
    method = settings.get("quant_method") if isinstance(settings, Mapping) else None
    library = printable(method) if isinstance(method, str) else "the library that wrote it"
    layer = head.name.rpartition(".")[0]
    beside = (t.name for t in header.tensors if layer and t.name.startswith(f"{layer}."))
    if any("scale" in name or "absmax" in name for name in beside):
        return f"the output matrix is kept with scales of their own, which only {library} can apply"
    if parts := head_parts(head, header.tensors):
        return (
            f"the output matrix is not kept as one: only {library} can make it from {listed(parts)}"
        )
    return ""


def _decoder_table(
    header: Header, facts: ModelFacts, config: Mapping[str, object]
) -> StoredTensor | None:
    """The decoder's own table where E is the encoder's: that is the one an output is tied to."""
    if facts.embedding is None or "encoder" not in facts.embedding.name.split("."):
        return None
    size = dimensions(config).vocab_size
    rows = {facts.embedding.shape[0], size, config.get("decoder_vocab_size")}
    return next((t for t in _decoder_tables(header.tensors) if t.shape[0] in rows), None)


def _decoder_tables(tensors: Iterable[StoredTensor]) -> Iterable[StoredTensor]:
    """Tables for tokens of a decoder, whatever class it is of."""
    return (t for t in tensors if "decoder" in t.name.split(".") and is_table(t, EMBEDDINGS))


def _empty(header: Header) -> tuple[str, ...]:
    """What a save from a model that was spread over machines leaves where nothing was gathered."""
    hollow = (tensor.name for tensor in header.tensors if not tensor.numbers)
    return tuple(name for name in hollow if is_called(name, (*EMBEDDINGS, *HEADS)))


def _own_copies(header: Header, copies: tuple[StoredTensor, ...]) -> tuple[StoredTensor, ...]:
    """Those that are not, inside a .bin, another name of numbers that were met before."""
    distinct = {tensor.name for tensor in header.distinct}
    return tuple(tensor for tensor in copies if tensor.name in distinct)


def _sides(shared: StoredTensor | None, copies: Iterable[StoredTensor]) -> tuple[str, ...]:
    """Names of what an encoder and a decoder store besides a table that is called neither's."""
    if shared is None or _SIDES & set(shared.name.split(".")):
        return ()
    return tuple(tensor.name for tensor in copies if _SIDES & set(tensor.name.split(".")))


_SIDES = {"encoder", "decoder"}


def _compare_tables(found: Stored, folder: StrPath, most: int | None) -> Stored:
    """The same, with the tables of the two sides compared with the one they should share."""
    shared = found.embedding
    if shared is None or shared.offset is None:
        return found
    sides = [t for t in found.copies if t.name in found.unheard and t.offset is not None]
    alike = [t for t in sides if t.dtype == shared.dtype]
    if not alike or (most is not None and sum(2 * t.nbytes for t in alike) > most):
        return found
    from tiedviz.verdict.copies import Place, same_bytes

    first, heard = Place(shared, folder), {tensor.name for tensor in alike}
    return found._replace(
        apart=tuple(t.name for t in alike if not same_bytes(first, Place(t, folder))),
        unheard=tuple(name for name in found.unheard if name not in heard),
    )


def _alias(header: Header, facts: ModelFacts) -> str:
    """The other name of the one matrix, as `save_model` writes it when it leaves a name out."""
    one = facts.embedding or facts.head
    if header.format != "safetensors" or one is None or (facts.embedding and facts.head):
        return ""
    ends = EMBEDDINGS if facts.embedding is None else HEADS
    others = (name for name, kept in header.metadata.items() if kept == one.name)
    return next((name for name in others if is_called(name, ends)), "")


def _is_one_way(header: Header) -> bool:
    """Whether a GGUF file is of an encoder: its attention looks both ways, or it has no decoder."""
    if header.format != "gguf":
        return False
    model = header.metadata.get("general.architecture")
    sides = {tensor.name.partition(".")[0] for tensor in header.tensors}
    lone_encoder = "enc" in sides and "dec" not in sides
    return header.metadata.get(f"{model}.attention.causal") is False or lone_encoder


def _adapter_layers(tensors: Iterable[StoredTensor]) -> tuple[str, ...]:
    """Layers of E or W that have adapter tensors beside them."""
    names = [tensor.name for tensor in tensors]
    together = "\n".join(names)
    if not any(mark in together for mark in ADAPTER_MARKS):
        return ()  # as most models; the expression takes its time to compile, and to search
    found = dict.fromkeys(
        name[: match.start()] for name in names if (match := re.search(_ADAPTER, name))
    )
    return tuple(layer for layer in found if _is_table_layer(layer))


def _adapter_targets(folder: StrPath) -> tuple[str, ...]:
    """Layers of E or W that an adapter_config.json beside the weights is meant for."""
    path = Path(folder, ADAPTER_CONFIG)
    if not is_file(path):
        return ()
    config = read_object(path, CONFIG_LIMIT)
    named: list[str] = []
    for key in ("target_modules", "modules_to_save", "trainable_token_indices"):
        value = config.get(key)
        if isinstance(value, list | dict):
            named += [layer for layer in value if isinstance(layer, str)]
    return tuple(layer for layer in dict.fromkeys(named) if _is_table_layer(layer))


def _is_table_layer(layer: str) -> bool:
    if re.search(r"\.\d+\.", layer):
        return False
    return any(layer == end or layer.endswith(f".{end}") for end in _LAYERS)
