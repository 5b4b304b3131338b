"""Step 4: a table at the entrance, a matrix at the exit, and what stands between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from tiedviz.compute.toy import Toy
from tiedviz.ui.frame.opened_model import opened_or_invited
from tiedviz.ui.walkthrough.halves import toy_editor
from tiedviz.ui.walkthrough.step import Choice, Question, Step
from tiedviz.words.numbers import count, short_count

if TYPE_CHECKING:
    from tiedviz.compute.walkthrough_model import TwoEnds
    from tiedviz.models.loaded import LoadedModel

_BUILT_KEY = "both versions built"


def _toy_half() -> None:
    """The shapes; a block that may not change its width; both versions in PyTorch."""
    toy = toy_editor(state=True)
    _shapes(toy)
    _one_block(toy)
    _build(toy)


def _shapes(toy: Toy) -> None:
    V, d = toy.V, toy.d
    st.markdown(
        "| | as a map | stored |\n|---|---|---|\n"
        f"| E_in, the entrance | ID → {d} numbers | V × d = {V} × {d} |\n"
        f"| blocks | {d} → {d} numbers | weights of their own |\n"
        f"| W_out, the exit | {d} numbers → {V} scores | V × d = {V} × {d} |\n"
    )
    st.latex(
        rf"\underbrace{{h_L}}_{{1\times {d}}}\;\underbrace{{W^{{\mathsf T}}}}_{{{d}\times {V}}}"
        rf"=\underbrace{{z}}_{{1\times {V}}}"
    )


def _one_block(toy: Toy) -> None:
    """A block adds to its input; NumPy says what it thinks of another width."""
    width = st.segmented_control(
        "A block adds this many numbers to h",
        [toy.d - 1, toy.d, toy.d + 1],
        default=toy.d,
        key="width of a block",
        required=True,
        persist_state="session",
    )
    added = np.full(int(width or toy.d), 0.1)
    try:
        numbers = ", ".join(f"{number:.4g}" for number in toy.h + added)
        st.success(f"h + (0.1, …) = ({numbers}). It fits, and so would any further block.")
    except ValueError as error:
        st.error(f"NumPy says: {error}. A block's result is added to its input, so both have d.")
    st.caption(
        "That is why every block keeps d. Blocks have one shape but not one set of weights: each "
        "learns its own numbers, which costs L times the parameters and buys L different steps."
    )


def _build(toy: Toy) -> None:
    if st.button("Build both in PyTorch", icon=":material/construction:", type="primary"):
        from tiedviz.compute.walkthrough_model import build_both

        with st.spinner("Building", show_time=True):
            st.session_state[_BUILT_KEY] = build_both(toy.V, toy.d)
    if _BUILT_KEY in st.session_state:
        from tiedviz.compute.walkthrough_model import TWO_ENDS_CODE

        st.code(TWO_ENDS_CODE, language="python")
        _show_built(st.session_state[_BUILT_KEY])


def _show_built(built: tuple[TwoEnds, TwoEnds]) -> None:
    untied, tied = built
    rows = (
        ("embedding.weight", _shape(untied.input_shape), _shape(tied.input_shape)),
        ("head.weight", _shape(untied.output_shape), _shape(tied.output_shape)),
        ("**logits**", f"**{_shape(untied.logits_shape)}**", f"**{_shape(tied.logits_shape)}**"),
        ("parameters", count(untied.parameters), count(tied.parameters)),
        ("head.weight `is` embedding.weight", str(untied.same), str(tied.same)),
    )
    lines = ["| | untied | tied |", "|---|--:|--:|"]
    st.markdown("\n".join(lines + [f"| {name} | {one} | {two} |" for name, one, two in rows]))
    st.caption("The logits keep their shape: nothing that comes after can tell the two apart.")


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(count(each) for each in shape)


def _real_half() -> None:
    """Its two ends, its blocks, and both versions at its size."""
    loaded = opened_or_invited("Then its two matrices and its blocks are measured here.")
    if loaded is None:
        return
    from tiedviz.compute.walkthrough_model import build_both

    rows, width = loaded.embedding.shape
    head = loaded.scoring_matrix.shape
    st.markdown(
        f"| | stored |\n|---|--:|\n| E, the entrance | {count(rows)} × {count(width)} |\n"
        f"| W, the exit | {count(head[0])} × {count(head[1])} |\n"
    )
    _blocks(loaded)
    st.markdown("**Both versions at this size**, built without memory (on PyTorch's meta device):")
    _show_built(build_both(rows, width, device="meta"))
    st.caption(
        f"This model is {'tied' if loaded.tied else 'not tied'}. These are its two ends alone; its "
        "blocks are the same either way."
    )


def _blocks(loaded: LoadedModel) -> None:
    from tiedviz.compute.walkthrough_model import blocks_of

    blocks = blocks_of(loaded)
    if blocks is None:
        st.caption("Its blocks could not be told apart from the rest, so they are not counted.")
        return
    once = loaded.parameters - blocks.parameters + blocks.largest
    if blocks.shared:
        words = (
            f"A state passes a block **{blocks.calls} times**, but there are only "
            f"**{blocks.modules}** with weights of their own: they are shared."
        )
    else:
        words = (
            f"**{blocks.calls} blocks**, each with weights of its own: together "
            f"{count(blocks.parameters)} of {count(loaded.parameters)} parameters. One block "
            f"called {blocks.calls} times would leave {short_count(once)}, compute as much, and "
            f"learn one step instead of {blocks.calls}."
        )
    st.markdown(words)


def _question(toy: Toy) -> Question:
    n = 5  # words
    return Choice(
        "step 4",
        f"The toy reads {n} words at once, so h_L has shape {n} × {toy.d}. What shape have the "
        "logits?",
        (
            f"{n} × {toy.d}",
            f"{toy.V} × {toy.d}",
            f"{n} × {toy.V}",
            f"{toy.V} × {toy.V}",
        ),
        2,
        "Each position gets one score for each word of the vocabulary.",
        f"({n} × {toy.d}) times ({toy.d} × {toy.V}) is {n} × {toy.V}, tied or not.",
    )


STEP = Step(
    title="Two jobs, two shapes",
    idea=(
        "A table stands at the entrance (E_in: ID → vector) and a matrix at the exit (W_out: "
        "vector → V scores). Between them L blocks turn h_0 into h_L, all d wide. Stored row by "
        "row, both are V × d; written as maps, each has the transpose of the other's shape."
    ),
    task="Try to make a block wider, then build both versions.",
    toy_half=_toy_half,
    real_half=_real_half,
    question=_question,
)
