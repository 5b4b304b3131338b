"""Which files does a shard index mean, and what do they hold together?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tiedviz.files.header import Header
from tiedviz.words.refusals.file import DamagedFile, HostileHeader, ShardOutside

MAX_SHARDS = 10_000


def weight_map(index: Mapping[str, object], name: str) -> dict[str, str]:
    """The file that holds each tensor, from a `*.index.json`; only plain names of files.

    Raises:
        DamagedFile: there is no such map in it.
        ShardOutside: a file is named by a path, so it could lie anywhere.
        HostileHeader: there are more files than any model has.
    """
    found = index.get("weight_map")
    if not isinstance(found, dict) or not found:
        raise DamagedFile(name, "it has no weight_map")
    for shard in found.values():
        if not isinstance(shard, str):
            raise DamagedFile(name, "a file in its weight_map has no name")
    shards = dict.fromkeys(found.values())
    for shard in shards:
        if not _is_plain_name(shard):
            raise ShardOutside(name, shard)
    if len(shards) > MAX_SHARDS:
        raise HostileHeader(name, f"more than {MAX_SHARDS:,} files")
    return found


def join_shards(
    shards: Sequence[Header], files: Mapping[str, str], metadata: Mapping[str, object]
) -> Header:
    """One header for all shards.

    A tensor that lies in several shards is taken from the one that the index names. What the index
    names and no shard holds is kept in `absent`.
    """
    tensors = tuple(
        tensor
        for shard in shards
        for tensor in shard.tensors
        if files.get(tensor.name, tensor.file) == tensor.file
    )
    held = {tensor.name for tensor in tensors}
    absent = tuple(name for name in files if name not in held)
    groups = tuple(group for shard in shards for group in shard.shared_storage)
    return Header(shards[0].format, tensors, metadata, groups, absent)


def _is_plain_name(name: str) -> bool:
    """Whether it is one word in a folder, to any system: no path, and no drive as in `C:`."""
    if not name.isprintable() or name in ("", ".", ".."):
        return False
    has_drive = name[1:2] == ":" and name[0].isascii() and name[0].isalpha()
    return not has_drive and "/" not in name and "\\" not in name
