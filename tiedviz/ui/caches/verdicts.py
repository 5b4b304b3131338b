"""What files say about tying."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.kept import Kept

if TYPE_CHECKING:
    from pathlib import Path

    from tiedviz.compute.witnesses.hearing import Hearing
    from tiedviz.verdict.witnesses import Declared, Stored

# Two stored copies up to this size are compared at once; more takes a button and a progress bar.
COMPARED_AT_ONCE = 100_000_000


@st.cache_resource(show_spinner=False)
def _heard() -> Kept:
    return Kept(64)


def heard_files(key: str) -> tuple[Declared, Stored] | None:
    """What was heard of the files with this identity, or None."""
    found: tuple[Declared, Stored] | None = _heard().get(key)
    return found


def remember_heard(key: str, found: tuple[Declared, Stored]) -> None:
    """Keep what was heard."""
    _heard().keep(key, found)


@st.cache_data(max_entries=64, ttl=60, show_spinner=False)
def files_verdict(name: str) -> Hearing:
    """What the files of any model say, by its name; two copies are compared up to 100 MB.

    Kept for a minute, so that a rerun reads nothing again and a repaired file is soon seen.

    Raises:
        Refusal: they cannot be read.
    """
    from tiedviz.compute.witnesses.hearing import hear
    from tiedviz.models.progress import silent

    return hear(name, load=False, report=silent, most=COMPARED_AT_ONCE)


@st.cache_data(max_entries=64, show_spinner=False)
def header_verdict(key: str, _files: Path) -> Hearing:
    """What the headers of these files say alone; reading them takes milliseconds.

    Args:
        key: identity of the files.

    Raises:
        FileRefusal: they cannot be read.
    """
    from tiedviz.compute.witnesses.hearing import hearing
    from tiedviz.verdict.audit import hear_files

    return hearing("", *hear_files(_files, most=0), None)
