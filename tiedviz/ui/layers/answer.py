"""What the lens says in one sentence, and the proof that its last row is the model's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.words.numbers import count, plural, scientific
from tiedviz.words.refusals.prompt import ModelRefusal
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.compute.lens import Lens
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt


def require_lens(loaded: LoadedModel) -> None:
    """End the page here where this model's unembedding was not reproduced.

    Raises:
        ModelRefusal: with the reason.
    """
    from tiedviz.compute.unembedding import unembedding_of

    unembedding = unembedding_of(loaded)
    if unembedding.after is None:
        raise ModelRefusal.not_reproduced(
            loaded.title, unembedding.reason, unembedding.max_abs_error
        )
    if unembedding.path is None:
        raise ModelRefusal.no_lens(loaded.title, unembedding.reason)


def headline(prompt: Prompt, found: Lens) -> None:
    """As in: Layer 0 gives your prompt back at 5 of 5 positions."""
    from tiedviz.compute.lens_tables import given_back

    back = given_back(found, [token.id for token in prompt.read])
    what = "your prompt" if prompt.written is None else "the answer so far"
    shown = "" if len(found.positions) == len(prompt.read) else " shown"
    places = plural(len(found.positions), "position")
    st.subheader(f"Layer 0 gives {what} back at {back} of {places}{shown}.", anchor=False)


def proof(loaded: LoadedModel, found: Lens) -> None:
    """The formula, how close it comes, and what each row is."""
    from tiedviz.compute.next_token.formula import formula_latex, formula_notes
    from tiedviz.compute.unembedding import unembedding_of

    unembedding = unembedding_of(loaded)
    assert unembedding.after is not None  # a lens exists only where it was reproduced
    left, right = st.columns([2, 5], vertical_alignment="center")
    left.latex(formula_latex(unembedding.after, tied=loaded.tied))
    rows = loaded.scoring_matrix.shape[0]
    notes = "; ".join(formula_notes(unembedding))
    right.caption(
        f"Layer {found.layers}: max |Δ| = **{scientific(found.max_abs_error)}** between this "
        f"product and the model's own {count(rows)} logits at "
        f"{plural(len(found.positions), 'position')}, limit {scientific(found.tolerance)} "
        f"({loaded.dtype}).  \nHere {markdown_safe(notes)}. Layers below {found.layers} go the "
        f"same way once; layer {found.layers} is what entered the matrix and is not normed again."
        + _own_list(unembedding.shift, found.layers)
    )
    if not found.agrees:
        st.warning("The product differs from the model by more than rounding: believe the model.")


def _own_list(shift: int, layers: int) -> str:
    """What the model's own list of hidden states holds, which others number their layers by."""
    if shift == 0:
        return (
            f"  \nLayer k is what block k gave: hidden_states[k] of the model's own list, whose "
            f"last entry is r_{layers} only if the model does not norm it first."
        )
    return (
        "  \nLayer k is what block k gave. The model's own list leaves out what enters the first "
        f"block, so layer k is hidden_states[k − {-shift}] there and layer 0 is not in it."
    )
