"""What the lens says: one sentence, a picture, lines along the layers, one cell; and the proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.charts.lens import MEASURES, PICK, lens_cells, lens_lines, shades
from tiedviz.ui.drawing import draw
from tiedviz.ui.layers.controls import LAYER_KEY, WATCH_KEY
from tiedviz.ui.plain_code import layer_code
from tiedviz.ui.prompt_bar import bos_to_share, choose_position, decoder_to_share
from tiedviz.ui.share import options, share
from tiedviz.words.numbers import count, plural, scientific
from tiedviz.words.refusals.prompt import ModelRefusal
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    import pandas as pd

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


_CHART_KEY = "lens cells"
_HELP = {
    "rank": "Darker: the answer that this column ends in stands higher among all tokens already.",
    "probability": "Darker: this layer is surer of the token it shows, right or wrong.",
    "entropy": "Darker: this layer's probability lies on fewer tokens.",
}


def picture(
    loaded: LoadedModel, prompt: Prompt, found: Lens, layer: int, position: int
) -> pd.DataFrame:
    """Draw it. A click on a cell makes its state the one under inspection. Returns the cells."""
    from tiedviz.compute.lens_tables import cells

    ways = shades(loaded.scoring_matrix.shape[0])
    chosen = st.segmented_control(
        "Colour by",
        list(ways),
        default="rank",
        key="lens colour",
        required=True,
        persist_state="session",
        help="rank: of the final answer of that column. probability and entropy: of what the "
        "layer itself would say.",
    )
    by, frame = str(chosen or "rank"), cells(found, loaded)
    read = [prompt.read[each].shown for each in found.positions]
    place = prompt.place
    draw(
        st,
        lens_cells(frame, ways[by], read, (layer, position)),
        key=_CHART_KEY,
        alt=f"Layers 0 to {found.layers} upwards, positions across; in each cell the token that "
        "layer would say there",
        on_select=lambda: _take_cell(place),
    )
    st.caption(f"{_HELP[by]} Click a cell to look into it; its edge turns amber.")
    return frame


def _take_cell(place: int) -> None:
    """Make the clicked cell the one under inspection.

    Args:
        place: the position that is read where nobody chooses, which links call −1.
    """
    chosen = st.session_state[_CHART_KEY]["selection"].get(PICK) or []
    if chosen:
        position = int(chosen[0]["position"])
        st.session_state[LAYER_KEY] = int(chosen[0]["layer"])
        choose_position(-1 if position == place else position)


def through_the_layers(loaded: LoadedModel, found: Lens, layer: int, position: int) -> None:
    """The lines of the final answer and of the watched tokens, with a switch; where it appears."""
    from tiedviz.compute.lens_tables import lines

    st.subheader("The final answer through the layers", anchor=False)
    st.markdown(_appearance(loaded, found, position))
    measure = st.segmented_control(
        "Show",
        list(MEASURES),
        default="rank",
        key="lens measure",
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    frame, shown = lines(found, loaded, position), str(measure or "rank")
    draw(
        st,
        lens_lines(frame, shown, layer),
        key="lens lines",
        alt=f"The {shown} of the final answer and of the watched tokens at layers 0 to "
        f"{found.layers}",
    )


def _appearance(loaded: LoadedModel, found: Lens, position: int) -> str:
    """Where the final answer first comes first, and from where on it stays there."""
    from tiedviz.compute.lens_tables import first_appearance

    first, stays = first_appearance(found, position)
    answer = loaded.vocabulary.token(int(found.final[found.positions.index(position)])).shown
    named = f"At position {position} the model ends in :orange[{markdown_safe(answer)}]."
    if first == stays:
        return f"{named} It comes first from **layer {first}** of {found.layers} on."
    return (
        f"{named} It first comes first at **layer {first}**, loses the place again, and keeps it "
        f"from **layer {stays}** of {found.layers} on."
    )


def cell(loaded: LoadedModel, prompt: Prompt, found: Lens, layer: int, position: int) -> None:
    """Its ten largest logits, its entropy, the length of its state."""
    from tiedviz.compute.lens_tables import best

    read = markdown_safe(prompt.read[position].shown)
    st.subheader(f"Layer {layer}, position {position} ({read})", anchor=False)
    column = found.positions.index(position)
    st.markdown(
        f"‖r_{layer}‖ = **{float(found.norms[layer, column]):.3f}** · entropy "
        f"**{float(found.entropy[layer, column]):.3f}** nats · the final answer has rank "
        f"**{int(found.tracked_ranks[layer, column, 0]):,}** here ({loaded.dtype})"
    )
    frame = best(found, loaded, layer, position)
    columns = {
        "rank": st.column_config.NumberColumn("rank", format="%d"),
        "text": st.column_config.TextColumn("token"),
        "id": st.column_config.NumberColumn("id", format="%d"),
        "logit": st.column_config.NumberColumn("logit", format="%.2f"),
        "percent": st.column_config.NumberColumn("prob.", format="%.1f %%"),
    }
    st.dataframe(
        frame.assign(percent=frame["probability"] * 100),
        hide_index=True,
        key="lens table",
        height="content",
        column_order=list(columns),
        column_config=columns,
        alt="The ten largest logits of this layer and position",
    )
    own = layer == found.layers
    st.page_link(
        "../pages/next_token.py",
        label="This is the model's own answer: take it apart on Next token"
        if own
        else f"Take h_{layer} apart on Next token",
        icon=":material/arrow_forward:",
    )


def share_and_export(
    loaded: LoadedModel,
    prompt: Prompt,
    found: Lens,
    frame: pd.DataFrame,
    layer: int,
    position: int,
) -> None:
    """The popover. What it offers gives the numbers that are on the screen now."""
    from tiedviz.compute.lens_tables import lens_record

    bos, decoder = bos_to_share(), decoder_to_share(prompt)
    name, note = "layers", ""
    if len(found.positions) < len(prompt.read):
        first, last = found.positions[0], found.positions[-1]
        name = f"layers-positions-{first}-to-{last}"
        note = (
            f"The files hold the {len(found.positions)} positions shown, {first} to {last}, of "
            f"{len(prompt.read)}; the command gives all."
        )
    said = {
        "--prompt": prompt.text,
        "--decoder": decoder,
        "--bos": bos,
        "--watch": [f"id:{id}" for id in found.watched],
    }
    share(
        "layers",
        link={
            "model": loaded.source,
            "prompt": prompt.text,
            "bos": bos,
            "decoder": decoder,
            "pos": None if position == prompt.place else position,
            "layer": None if layer == found.layers else layer,
            WATCH_KEY: st.session_state.get(WATCH_KEY) or [],
        },
        commands=[["lens", loaded.source, *options(said)]],
        note=note,
        code=layer_code(loaded, prompt, layer, position),
        name=name,
        table=frame,
        record=lens_record(loaded, prompt, found),
    )
