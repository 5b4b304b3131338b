"""What each of the four witnesses says, in plain values: no torch is needed to decide on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from tiedviz.files.config import Flag
from tiedviz.files.fit import Fit
from tiedviz.files.header import StoredTensor

Near = Literal["", "rounding", "quantisation"]

COMPARING = "comparing"
"""How the clause begins that says what a comparison that was not made would read."""


class Declared(NamedTuple):
    """What config.json says, read raw, and what the class makes of it."""

    raw: tuple[Flag, ...] = ()
    """Every flag about tying in the json, at any depth, the outermost first."""
    class_default: bool | None = None
    """What the class takes where the flag is absent; None where the class is not known."""
    forced: bool | None = None
    """What the class sets whatever the json says, if it does."""
    tied: bool | None = None
    """The declaration that counts: the governing raw flag, else the class default."""
    path: str = "tie_word_embeddings"
    """The flag to change in config.json, with dots."""
    governed_by: str = ""
    """Which flag or default that was, in words."""
    inferred: bool = False
    """GGUF: there is no flag, and `tied` is read off what the file holds."""
    architecture: str | None = None
    """The class that config.json names."""
    scores: bool | None = None
    """Whether that class has an output over tokens; None where nobody knows."""


class Comparison(NamedTuple):
    """Two stored matrices, number by number, as stored."""

    same_bytes: bool
    differing_elements: int
    differing_rows: int
    max_abs: float | None
    """Largest |difference|; None where the shapes differ or some difference is not a number."""
    relative_error: float | None
    """‖W − E‖ / ‖E‖."""
    min_row_cosine: float | None
    near: Near = ""
    """Equal up to what: the rounding, or the quantisation, of the coarser type. "" where not."""
    within: str = ""
    """The coarser type, such as BF16 or Q4_0, where the types differ."""
    far_rows: int = 0
    """Rows that differ by more than the types explain."""


class Stored(NamedTuple):
    """What the files hold, by their headers, and by their numbers where there are two copies."""

    format: str
    embedding: StoredTensor | None = None
    """E."""
    head: StoredTensor | None = None
    """W, where one is stored under a name of its own."""
    shares_storage: bool = False
    """Whether E and W are two names of one run of numbers inside a .bin file."""
    decoder_table: StoredTensor | None = None
    """The decoder's input table, where the encoder has another one."""
    copies: tuple[StoredTensor, ...] = ()
    """Further tables of E's shape for tokens."""
    apart: tuple[str, ...] = ()
    """Those of an encoder or a decoder that were compared with E and hold other numbers."""
    unheard: tuple[str, ...] = ()
    """Those that were not compared with E."""
    alias: str = ""
    """The name, E's or W's, that the file's own metadata gives the one stored matrix besides."""
    comparison: Comparison | None = None
    uncompared: str = ""
    """Why two copies were not compared, as a clause."""
    to_read: int = 0
    """Bytes that comparing them reads."""
    adapters: tuple[str, ...] = ()
    """Adapter tensors, or layers an adapter is meant for, on E or W."""
    absent: tuple[str, ...] = ()
    """Names that an index promises and no file holds."""
    fit: Fit | None = None
    """Whether the headers fit config.json, as far as they can say; None of GGUF."""
    empty: tuple[str, ...] = ()
    """Tables, E's or W's by their names, that are stored without a number."""
    one_way: bool = False
    """GGUF: the file says that its attention is not causal, so that it writes no tokens."""
    unpacked_bytes: int = 0
    """Bytes of weights packed several to a number, which count as what they hold."""
    uncounted: bool = False
    """Whether what some of them hold cannot be told, so that `parameters` is too small."""
    unpacked: Mapping[str, int] = {}
    """Parameters in E and W by name, where these are packed."""
    parameters: int = 0
    """In the files, each once, without masks and other buffers."""
    stored_numbers: int = 0
    """Numbers in the files as stored, with them."""

    def numbers(self, tensor: StoredTensor | None) -> int:
        """Parameters in E or W; 0 where there is none."""
        return 0 if tensor is None else self.unpacked.get(tensor.name, tensor.numbers)

    @property
    def partner(self) -> StoredTensor | None:
        """The input table that W would be tied to."""
        return self.decoder_table or self.embedding

    @property
    def comparable(self) -> bool:
        """Whether two copies can be compared, at whatever cost."""
        return not self.uncompared or self.uncompared.startswith(COMPARING)

    @property
    def two_copies(self) -> bool:
        """Whether there are two runs of numbers that may or may not be one matrix."""
        both = self.partner is not None and self.head is not None
        return both and not self.shares_storage


class Loaded(NamedTuple):
    """What a live model shares."""

    has_head: bool = True
    """Whether it has an output over tokens at all."""
    same_object: bool = False
    """Whether E and W are one Parameter."""
    same_storage: bool = False
    """Whether they are the same numbers in memory: storage, place, shape and stride."""
    overlapping: bool = False
    """Whether they share memory without being the same: one is a slice or a view of the other."""
    same_values: bool | None = None
    """None where they cannot be compared: on the meta device, or quantised by another library."""
    dtype: str = ""
    """Of E, as "float32"."""
    on_meta: bool = False
    """Whether E or W has no numbers in memory: built on meta, or offloaded."""
    quantised: str = ""
    """How W is kept, where it is not a plain matrix: "qint8", or the class of its module."""
    strange: str = ""
    """Why the layer that the model names as its output cannot be W, as a clause."""
    near: Near = ""
    """"quantisation" where a quantised W equals E within its step."""
    adapters: tuple[str, ...] = ()
    """The sides an adapter changes: "input", "output"."""
    missing: tuple[str, ...] = ()
    """Parameters that the files did not hold, so that they are random; only those of E and W."""
    effective: bool | None = None
    """The flag after transformers read the configuration, where the class that ties looks."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Names of the same numbers in memory: all ties of the model."""
    embedding_name: str = ""
    head_name: str = ""
    parameters: int = 0
    """Each number in memory once."""
    embedding: int = 0
    """Numbers in E."""
    head: int = 0
    """Numbers in W where it is a matrix of its own, else 0."""
    version: str = ""
    """Of transformers."""


class Measured(NamedTuple):
    """Logits recomputed from h_L and the matrix, against the model's own."""

    formula: str | None
    max_abs_error: float | None
    tolerance: float | None
    reproduced: bool
    reason: str = ""
    """Why not, as a clause."""
    dtype: str = "float32"
    scored_by: Literal["", "E", "W", "neither"] = ""
    """Whose rows move the logits: E's (which may be W too), a W of its own's, or those of neither.
    "" where that was not found out."""
