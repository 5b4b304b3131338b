"""The cell under inspection: what one layer would say at one position."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.compute.lens import Lens
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt


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
