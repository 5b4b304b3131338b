"""The formula of a model's logits, as it was measured: in LaTeX, and in one line of text."""

from __future__ import annotations

from tiedviz.compute.unembedding import AfterHead, Unembedding
from tiedviz.compute.unembedding.path import ResidualPath

# How the product, a scale and a softcap are written; `z` is what has been written so far.
_TEXT = ("{state} @ {matrix}.T", "{scale:.6g}·({z})", "{cap:g}·tanh(({z})/{cap:g})")
_LATEX = (
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


def _written(after: AfterHead, tied: bool, notation: tuple[str, str, str], state: str) -> str:
    """The parts in the order in which the model applies them, from the product outwards."""
    product, scaled, capped = notation
    z = product.format(state=state, matrix="E" if tied else "W")
    if not after.scale.is_one:
        z = scaled.format(scale=after.scale.value, z=z)
    if after.bias is not None:
        z += " + b"
    if after.cap is not None:
        z = capped.format(cap=after.cap.value, z=z)
    return z


def formula_notes(unembedding: Unembedding, layer: int | None = None) -> list[str]:
    """Where each part comes from: what h has passed, the config field or tensor of the rest.

    `layer` is the layer that h is of, the last where none is given. Each is a clause that can stand
    at the beginning of a sentence or after a semicolon.
    """
    notes = []
    if unembedding.path is not None:
        origin = f"the output of block {layer}" if layer else "what enters block 1"
        state = f"h_{layer}"
        if layer is None or layer == unembedding.layers:
            state, origin = "h_L", "the last block's output"
        notes.append(_path_note(unembedding.path, state, origin))
    after = unembedding.after
    if after is not None:
        if not after.scale.is_one:
            notes.append(f"the factor is {after.scale.name}")
        if after.bias is not None:
            notes.append(f"b is {after.bias_name}")
        if after.cap is not None:
            notes.append(f"the cap is {after.cap.name}")
    return notes


def _path_note(path: ResidualPath, state: str, origin: str) -> str:
    steps = []
    for stage in path.stages:
        if not stage.scale.is_one:
            named = "" if stage.scale.name == "measured" else f" ({stage.scale.name})"
            steps.append(f"a factor {stage.scale.value:.6g}{named}")
        if stage.module is not None and not stage.idle:
            inside = f" ({', '.join(stage.inside)})" if stage.inside else ""
            steps.append(stage.name + inside)
    if not steps:
        return f"{state} is {origin} as it is"
    return f"{state} is {origin} after {', then '.join(steps)}"
