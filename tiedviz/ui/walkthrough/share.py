"""Share & export for the page Walkthrough."""

from __future__ import annotations

from typing import Any

import streamlit as st

from tiedviz.compute.toy import Toy, read_toy
from tiedviz.ui.export import permalink, show_downloads, show_link
from tiedviz.ui.frame import show_refusal
from tiedviz.ui.frame.model_choice import MODEL_KEY
from tiedviz.ui.share import toy_code
from tiedviz.ui.walkthrough.asking import solved
from tiedviz.ui.walkthrough.toy import current_toy, put_toy
from tiedviz.words.refusals import Refusal

_FILE_KEY = "toy file"
_SAID_KEY = "toy file said"


def share_and_export(step: int) -> None:
    """The popover: a link to this step, the toy as it is now, and the same in plain numpy."""
    toy = current_toy()
    with st.popover("Share & export", icon=":material/ios_share:"):
        show_link(permalink("walkthrough", model=st.session_state.get(MODEL_KEY), step=step))
        st.caption("The link leads to this step and model. The toy's numbers travel as a file.")
        st.markdown("**Python, without this app**")
        st.code(toy_code(toy), language="python")
        show_downloads("toy", toy.scores(), _record(toy, step))
        _upload()


def _upload() -> None:
    """A toy back from its JSON; the tables of all steps take its numbers."""
    st.file_uploader(
        "Read a toy back from its JSON",
        type="json",
        key=_FILE_KEY,
        max_upload_size=1,
        on_change=_take_file,
        help="The file of the button above, perhaps edited: E is four lists of three numbers, h_L "
        "one. The numbers of this page are replaced.",
    )
    said = st.session_state.get(_SAID_KEY)
    if isinstance(said, Refusal):
        show_refusal(said)
    elif said:
        st.caption(f":material/check: {said}")


def _take_file() -> None:
    """Runs before the page is drawn anew, so that every table shows what came."""
    file = st.session_state.get(_FILE_KEY)
    st.session_state[_SAID_KEY] = None
    if file is None:
        return
    try:
        put_toy(read_toy(file.getvalue()))
        st.session_state[_SAID_KEY] = "The tables hold the numbers of the file."
    except Refusal as refusal:
        st.session_state[_SAID_KEY] = refusal


def _record(toy: Toy, step: int) -> dict[str, Any]:
    return {"step": step, **toy.record(), "solved": sorted(solved())}
