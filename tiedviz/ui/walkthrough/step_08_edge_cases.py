"""Step 8: special rows, unknown words, position, and what models add."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.compute.counts.catalogue_frame import share_frame, where_families_stop_tying
from tiedviz.compute.toy import Toy, byte_ids, word_ids
from tiedviz.ui.frame.opened_model import opened_or_invited
from tiedviz.ui.prompt_bar import DEFAULT_PROMPT
from tiedviz.ui.walkthrough.halves import current_toy, real_prompt, toy_editor, word_pills
from tiedviz.ui.walkthrough.step import Choice, Question, Step
from tiedviz.words.numbers import count, percent
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel

_POSITIONS = ((0.0, 0.1, 0.0), (0.1, 0.0, -0.1))
_FAMILIES = ("Qwen2.5", "Gemma 3", "GPT-2")


def _toy_half() -> None:
    """A sentence by words and by bytes; the same word at two positions."""
    text = st.text_input(
        "Type a sentence", "the llama ran", key="toy unknown", persist_state="session"
    )
    _by_words(text, current_toy())
    _by_bytes(text)
    _position(toy_editor(state=False))


def _by_words(text: str, toy: Toy) -> None:
    pieces = word_ids(text, toy.words)
    cells = [
        f"{markdown_safe(word)} → {id}"
        if id is not None
        else f":orange[{markdown_safe(word)} → UNK]"
        for word, id in pieces
    ]
    lost = sum(id is None for _, id in pieces)
    st.markdown(
        f"**By words** ({toy.V} rows, and one for UNK): {' · '.join(cells) or 'nothing typed'}"
    )
    st.caption(
        f"{lost} of {len(pieces)} became UNK: what they said is gone before the model begins."
        if lost
        else "Every word has a row. Type one the toy does not know."
    )


def _by_bytes(text: str) -> None:
    ids = byte_ids(text)
    shown = " ".join(str(id) for id in ids[:24])
    more = f" … ({len(ids)} in all)" if len(ids) > 24 else ""
    st.markdown(f"**By bytes** (256 rows): {shown or 'nothing typed'}{more}")
    st.caption("Never unknown: every text is bytes. Real tokenizers join frequent runs of them.")


def _position(toy: Toy) -> None:
    row = word_pills(toy, "The same word at two positions")
    lines = []
    for at, position in enumerate(_POSITIONS):
        h = ",\\ ".join(f"{a + b:.4g}" for a, b in zip(toy.E[row], position, strict=True))
        lines.append(rf"t={at}:\quad E[{row}] + P[{at}] &= ({h})")
    st.latex(r"\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}")
    st.caption(
        f"With P[0] = {_POSITIONS[0]} and P[1] = {_POSITIONS[1]}, as GPT-2 does it. E is the same "
        "for both, and the output never adds P: it scores against E alone."
    )


def _real_half() -> None:
    """Its marks, its unknown, and what it adds on the way in and out; each measured."""
    loaded = opened_or_invited("Then its special rows are listed and its extras measured.")
    if loaded is not None:
        _marks(loaded)
        _unknown(loaded)
        _extras(loaded)
    _untied()


def _marks(loaded: LoadedModel) -> None:
    from tiedviz.compute.walkthrough_rows import other_marks, special_rows

    columns = {
        "role": st.column_config.TextColumn("mark", width="small"),
        "text": st.column_config.TextColumn("token"),
        "id": st.column_config.NumberColumn("ID", format="%d", width="small"),
        "length": st.column_config.NumberColumn("‖e‖", format="%.3f", width="small"),
    }
    st.dataframe(
        special_rows(loaded),
        hide_index=True,
        column_order=list(columns),
        column_config=columns,
        alt="The special tokens of this tokenizer, their rows and the length of each",
    )
    st.caption(
        f"Ordinary rows of E, used as marks. {count(other_marks(loaded))} more have no role."
    )


def _unknown(loaded: LoadedModel) -> None:
    from tiedviz.compute.walkthrough_rows import pieces_of, spells_bytes

    pieces = pieces_of(loaded, "blorptangle 🦙")
    unknown = loaded.tokenizer.unk_token_id
    lost = sum(token.id == unknown for token in pieces) if unknown is not None else 0
    shown = " · ".join(markdown_safe(token.shown) for token in pieces)
    kind = "It spells bytes, so nothing is unknown." if spells_bytes(loaded) else ""
    st.markdown(f"“blorptangle 🦙” becomes {shown}: **{lost}** unknown. {kind}")


def _extras(loaded: LoadedModel) -> None:
    """One line for each thing, with the factor that was measured."""
    rows = [*_on_the_way_in(loaded), *_on_the_way_out(loaded)]
    lines = ["| | here |", "|---|---|", *(f"| {name} | {found} |" for name, found in rows)]
    st.markdown("\n".join(lines))
    st.caption("Measured on the open model by running it, not looked up by its name.")


def _on_the_way_in(loaded: LoadedModel) -> list[tuple[str, str]]:
    from tiedviz.compute.walkthrough_model import entrance_of

    found = entrance_of(loaded)
    if found is None:
        return [("h_0", "not reproduced")]
    width = f"E is {count(found.width)} wide, the blocks {count(found.block_width)}"
    rows = [("factorised table", f"yes: {width}" if found.factorised else "no")]
    if not found.sum_of_parts:
        return [*rows, ("h_0", "no plain sum: a norm or a projection stands before block 1")]
    factor = f"**{found.scale.value:.6g}** ({markdown_safe(found.scale.name)})"
    rows.append(("input scale", "none" if found.scale.is_one else factor))
    if found.adds_position:
        added = ", ".join(f"{length:.3f}" for length in found.added[:3])
        rows.append(
            ("position", f"added to the row: ‖p‖ = {added}, … (‖e‖ {found.row_length:.3f})")
        )
    elif found.adds_anything:
        rows.append(("position", f"not added; one vector is, ‖p‖ = {found.added[0]:.3f}"))
    else:
        rows.append(("position", "nothing is added to the row; it enters elsewhere, in the blocks"))
    return rows


def _on_the_way_out(loaded: LoadedModel) -> list[tuple[str, str]]:
    from tiedviz.compute.next_token.candidates import mass_without_token
    from tiedviz.compute.unembedding import unembedding_of

    after = unembedding_of(loaded).after
    if after is None:
        return [("logits", "not reproduced")]
    bias, cap = "none", "none"
    if after.bias is not None:
        bias = f"{markdown_safe(after.bias_name)}, up to {float(after.bias.abs().max()):.4g}"
    if after.cap is not None:
        cap = f"**{after.cap.value:g}** ({markdown_safe(after.cap.name)})"
    scale = f"**{after.scale.value:.6g}** ({markdown_safe(after.scale.name)})"
    rows = [
        ("output scale", "none" if after.scale.is_one else scale),
        ("bias", bias),
        ("softcap", cap),
    ]
    spare = loaded.scoring_matrix.shape[0] - loaded.vocabulary.size
    if spare <= 0:
        return [*rows, ("padded rows", "none")]
    _, found = real_prompt(loaded, DEFAULT_PROMPT)
    mass = percent(mass_without_token(loaded, found), 4)
    return [*rows, ("padded rows", f"{count(spare)} without a token; they get {mass} here")]


def _untied() -> None:
    """Why large models stop tying, from the catalogue."""
    stops = where_families_stop_tying(share_frame())
    ordered = sorted(stops, key=lambda stop: stop.family not in _FAMILIES)
    st.markdown("**When it is not tied.** " + " ".join(stop.sentence for stop in ordered[:1]))
    st.caption(
        "A table grows with d, the blocks with L·d². In a large model the second table is a small "
        "part, and two tables may differ where it helps."
    )
    st.page_link(
        "../pages/embedding_share.py", label="Embedding share", icon=":material/arrow_forward:"
    )


def _question(toy: Toy) -> Question:
    return Choice(
        "step 8",
        "A byte-level vocabulary meets a word nobody ever wrote. What happens?",
        (
            "It becomes UNK",
            "It is cut into smaller pieces, bytes if need be",
            "It gets a new row of E",
            "The model refuses it",
        ),
        1,
        "Every text is a sequence of bytes, and there are only 256 of them.",
        "It is cut into pieces that exist. With a piece for each byte nothing is ever unknown.",
    )


STEP = Step(
    title="Edge cases",
    idea=(
        "Some rows are marks, not text. Some words have no row. Position is added elsewhere or "
        "not at all. And many models put something between E and the block, or between the "
        "product and the logit."
    ),
    task="Type a word the toy does not know.",
    toy_half=_toy_half,
    real_half=_real_half,
    question=_question,
)
