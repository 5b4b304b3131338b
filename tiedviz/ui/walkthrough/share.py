"""Share & export for the page Walkthrough."""

from __future__ import annotations

from typing import Any

import streamlit as st

from tiedviz.compute.toy import Toy
from tiedviz.ui.export import permalink, show_downloads, show_link
from tiedviz.ui.frame.choice import MODEL_KEY
from tiedviz.ui.walkthrough.asking import solved
from tiedviz.ui.walkthrough.toy import current_toy


def share_and_export(step: int) -> None:
    """The popover: a link to this step, the toy as it is now, and the same in plain numpy."""
    toy = current_toy()
    with st.popover("Share & export", icon=":material/ios_share:"):
        show_link(permalink("walkthrough", model=st.session_state.get(MODEL_KEY), step=step))
        st.caption("The link leads to this step and model. The toy's numbers travel as a file.")
        st.markdown("**Python, without this app**")
        st.code(python_code(toy), language="python")
        show_downloads("toy", toy.scores(), _record(toy, step))


def _record(toy: Toy, step: int) -> dict[str, Any]:
    return {"step": step, **toy.record(), "solved": sorted(solved())}


def python_code(toy: Toy) -> str:
    """The toy's logits and probabilities in numpy."""
    return (
        "import numpy as np\n\n"
        f"words = {list(toy.words)}\n"
        f"E = np.array({toy.E.tolist()})\n"
        f"h = np.array({toy.h.tolist()})\n"
        "z = h @ E.T\n"
        "p = np.exp(z - z.max())\n"
        "p = p / p.sum()\n"
        "print([(w, float(a), float(b)) for w, a, b in zip(words, z, p)])\n"
    )
