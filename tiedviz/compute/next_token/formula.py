"""The formula of a model's logits, as it was measured: in LaTeX, and in one line of text."""

from __future__ import annotations

from dataclasses import dataclass

from tiedviz.compute.unembedding import AfterHead, Unembedding
from tiedviz.compute.unembedding.after_head import Factor
from tiedviz.compute.unembedding.path import ResidualPath


@dataclass(frozen=True)
class _Notation:
    """How each part of a formula is written; `z` is what has been written so far."""

    product: str
    scaled: str
    capped: str


_TEXT = _Notation("{state} @ {matrix}.T", "{scale:.6g}·({z})", "{cap:g}·tanh(({z})/{cap:g})")
_LATEX = _Notation(
    r"{state}\,{matrix}^{{\mathsf{{T}}}}",
    r"{scale:.6g}\;{z}",
    r"{cap:g}\,\tanh\!\left(\frac{{{z}}}{{{cap:g}}}\right)",
)


def formula_text(after: AfterHead, *, tied: bool, state: str = "h_L") -> str:
    """As "30·tanh((h_L @ E.T)/30)", with only the parts that are there."""
    return _written(after, tied, _TEXT, state)


def formula_latex(after: AfterHead, *, tied: bool, state: str = "h_L") -> str:
    """The same for `st.latex`."""
    name, _, layer = state.partition("_")
    symbol = state if len(layer) == 1 else f"{name}_{{{layer}}}"
    return f"z = {_written(after, tied, _LATEX, symbol)}"


def _written(after: AfterHead, tied: bool, notation: _Notation, state: str) -> str:
    """The parts in the order in which the model applies them, from the product outwards."""
    z = notation.product.format(state=state, matrix="E" if tied else "W")
    if not after.scale.is_one:
        z = notation.scaled.format(scale=after.scale.value, z=z)
    if after.bias is not None:
        z += " + b"
    if after.cap is not None:
        z = notation.capped.format(cap=after.cap.value, z=z)
    return z


def formula_notes(unembedding: Unembedding, layer: int | None = None) -> list[str]:
    """Where each part comes from: what h has passed, the config field or tensor of the rest.

    `layer` is the layer that h is of, the last where none is given. Each is a clause that can stand
    at the beginning of a sentence or after a semicolon.
    """
    notes = []
    if unembedding.path is not None:
        notes.append(_path_note(unembedding.path, *_origin(unembedding, layer)))
    after = unembedding.after
    if after is not None:
        if not after.scale.is_one:
            notes.append(f"the factor is {after.scale.name}")
        if after.bias is not None:
            notes.append(f"b is {after.bias_name}")
        if after.cap is not None:
            notes.append(f"the cap is {after.cap.name}")
    return notes


def _origin(unembedding: Unembedding, layer: int | None) -> tuple[str, str]:
    """What the state of this layer is called, and which residual state it is made from."""
    if layer is None or layer == unembedding.layers:
        return "h_L", "the last block's output"
    return f"h_{layer}", f"the output of block {layer}" if layer else "what enters block 1"


def _path_note(path: ResidualPath, state: str, origin: str) -> str:
    steps = []
    for stage in path.stages:
        if not stage.scale.is_one:
            steps.append(_factor_words(stage.scale))
        if stage.module is not None and not stage.idle:
            inside = f" ({', '.join(stage.inside)})" if stage.inside else ""
            steps.append(stage.name + inside)
    if not steps:
        return f"{state} is {origin} as it is"
    return f"{state} is {origin} after {', then '.join(steps)}"


def _factor_words(factor: Factor) -> str:
    named = "" if factor.name == "measured" else f" ({factor.name})"
    return f"a factor {factor.value:.6g}{named}"
