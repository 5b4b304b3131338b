"""What the two witnesses in memory say; headers alone need neither."""

from typing import Literal, NamedTuple

from tiedviz.verdict.witnesses import Near


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
