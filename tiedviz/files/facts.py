"""What is known about a model before anything is loaded: sizes, types, E and W."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from tiedviz.files.access import StrPath, folder_of, is_file, is_folder
from tiedviz.files.config import CONFIG, Description, Dimensions, description, read_config
from tiedviz.files.formats import FORMATS, read_header
from tiedviz.files.header import Header, StoredTensor
from tiedviz.files.packing import Packing, packing_of
from tiedviz.files.roles import find_copies, find_embedding, find_head, is_parameter

_BLOCK = r"\b(?:layers?|h|blocks?|blk)\.(\d{1,5})\."  # most config.json state the layers


class ModelFacts(NamedTuple):
    """A model as its headers and its configuration describe it."""

    format: str
    """The name of their format, as in `formats.FORMATS`."""
    architecture: str | None
    """`architectures[0]`, else `model_type`; for GGUF `general.architecture`."""
    V: int | None
    """Rows of E, which may be more than the tokenizer has tokens."""
    d: int | None
    """Width of E."""
    layers: int | None
    positions: int | None
    parameters: int
    """Each once, unpacked, without masks and other buffers."""
    stored_numbers: int
    """Each stored number once, as stored, with them."""
    dtype: str
    """The type of most numbers."""
    dtypes: tuple[str, ...]
    """All types, the one of most numbers first."""
    nbytes: int
    """Bytes of all numbers in the files."""
    embedding: StoredTensor | None
    """E, if it is stored."""
    head: StoredTensor | None
    """W, if the files hold one under a name of its own."""
    head_shares_storage: bool
    """Whether E and W are two names of the same numbers in a .bin file."""
    copies: tuple[StoredTensor, ...]
    """Further tables of E's shape for tokens, such as an encoder's and a decoder's."""
    packed: bool = False
    """Whether weights are packed several to a number."""
    unpacked_bytes: int = 0
    """Bytes of the packed weights that were counted by what they hold."""
    uncounted: bool = False
    """Whether the headers do not tell what some of them hold, so that `parameters` is too small."""
    unpacked: Mapping[str, int] = {}
    """Parameters in E and W by name, where these are packed."""
    counted_from: Literal["headers"] = "headers"

    def numbers(self, tensor: StoredTensor) -> int:
        """Parameters in E or W."""
        return self.unpacked.get(tensor.name, tensor.numbers)

    @property
    def float32_bytes(self) -> int:
        """Memory of the parameters in float32; of uncounted ones, as if four bits held each."""
        unpacked = self.nbytes * 8 if self.uncounted else 0
        return max(self.parameters * 4, unpacked)

    @property
    def bfloat16_bytes(self) -> int:
        """Memory of the parameters in bfloat16."""
        return self.parameters * 2


def read_facts(path: StrPath) -> ModelFacts:
    """The facts about a model folder or a single weights file.

    Raises:
        FileRefusal: the files cannot be read; says what is there instead.
    """
    header = read_header(path)
    folder = folder_of(path)
    needs_config = is_folder(path) and not FORMATS[header.format].describes
    has_config = needs_config or is_file(Path(folder) / CONFIG)
    return gather_facts(header, read_config(folder) if has_config else {})


def gather_facts(header: Header, config: Mapping[str, object]) -> ModelFacts:
    """The facts from a header and a raw config.json; `{}` where there is none, as for GGUF."""
    architecture, sizes = _described(header, config)
    tensors = header.tensors
    embedding = find_embedding(tensors, sizes.vocab_size)
    head = find_head(tensors, embedding, sizes.vocab_size)
    matrix = embedding or head
    packing = _packing(header, config)
    numbers = packing.numbers if packing else {}
    beside = packing.beside if packing else frozenset()
    kept = [t for t in header.distinct if is_parameter(t) and t.name not in beside]
    dtypes = _dtypes(header)
    packed = bool(packing and (numbers or packing.unclear))
    return ModelFacts(
        format=header.format,
        architecture=architecture,
        V=matrix.shape[0] if matrix else sizes.vocab_size,
        d=_width(matrix, sizes, packed),
        layers=sizes.layers,
        positions=sizes.positions,
        parameters=sum(numbers.get(tensor.name, tensor.numbers) for tensor in kept),
        stored_numbers=header.stored_numbers,
        dtype=dtypes[0] if dtypes else "",
        dtypes=dtypes,
        nbytes=header.nbytes,
        embedding=embedding,
        head=head,
        head_shares_storage=_share(header, embedding, head),
        copies=find_copies(tensors, embedding),
        packed=packed,
        unpacked_bytes=sum(t.nbytes for t in header.distinct if t.name in numbers),
        uncounted=bool(packing and packing.unclear),
        unpacked={t.name: numbers[t.name] for t in (embedding, head) if t and t.name in numbers},
    )


def _packing(header: Header, config: Mapping[str, object]) -> Packing | None:
    """How packed weights count; None where there are none, or where shapes are stated unpacked."""
    whole = any(tensor.dtype[0] in "IU" for tensor in header.tensors)
    if FORMATS[header.format].describes or not whole:
        return None
    return packing_of(header.tensors, config)


def _described(header: Header, config: Mapping[str, object]) -> Description:
    """What the files say of themselves, else config.json, else the names of the tensors."""
    beside = description(config)
    if describes := FORMATS[header.format].describes:
        inside = describes(header)
        return Description(inside.architecture or beside.architecture, inside.sizes)
    if beside.sizes.layers:
        return beside
    return beside._replace(sizes=beside.sizes._replace(layers=_numbered_blocks(header)))


def _numbered_blocks(header: Header) -> int | None:
    """How many blocks the names count, where config.json leaves it to the class's default."""
    found = (re.search(_BLOCK, tensor.name) for tensor in header.tensors)
    return len({int(block[1]) for block in found if block}) or None


def _width(matrix: StoredTensor | None, sizes: Dimensions, packed: bool) -> int | None:
    if matrix is None or (packed and matrix.dtype[0] in "IU"):
        return sizes.embedding_width
    return matrix.shape[1]


def _dtypes(header: Header) -> tuple[str, ...]:
    numbers: Counter[str] = Counter()
    for tensor in header.distinct:
        numbers[tensor.dtype] += tensor.numbers
    return tuple(dtype for dtype, _ in numbers.most_common())


def _share(header: Header, one: StoredTensor | None, other: StoredTensor | None) -> bool:
    if one is None or other is None:
        return False
    return any({one.name, other.name} <= set(group) for group in header.shared_storage)
