"""Every colour of the app, by meaning and the same on every page: changed here, nowhere else.

`.streamlit/config.toml` has to repeat a few, as Streamlit reads it before any Python of ours runs;
`tests/charts/test_palette.py` holds it against these. The map's JavaScript is sent its colours. The
screenshots in `docs/` show the old ones until they are taken again.
"""

from __future__ import annotations

from tiedviz.words.token_kinds import TokenKind

# Each at least 3:1 on white and on dark.
SHARED = "#3b6fd4"  # E where it does both jobs
INPUT = "#1f8a5f"  # the side that embeds
OUTPUT = "#9b6fd0"  # the side that scores
LIVE = "#c07a00"  # amber: the vector or row under inspection
OTHER = "#7d879c"

BUTTONS = {"light": "#2f5fc4", "dark": "#4a7ae0"}  # what can be pressed, in either theme

# What is saved as a picture is drawn on white, whatever the theme.
PAPER, INK = "#ffffff", "#1b2233"
BLANK = "#d5d9e2"  # the part of a bar that nothing is said about

# The body of a model is told apart by lightness and order; the vocabulary has its own colours.
ATTENTION, BLOCKS, POSITIONS, NORMS, LEFTOVER = (
    "#5f6b80",
    "#8d97ab",
    "#b08968",
    "#b98aa0",
    "#a3a3a3",
)

# No meaning above fits one of several models; a letter goes with each.
MODELS = ("#2a8a9e", "#a8632f", "#a0568f", OTHER)

# Cells of the lens are the same on a white page and on a dark one, so that the text on them can be
# chosen to be read.
FAINT, STRONG = "#e9eefb", "#2450a8"
DARK_INK, LIGHT_INK = "#10182b", "#ffffff"

KIND_COLOURS = {
    TokenKind.WORD_START: SHARED,
    TokenKind.CONTINUATION: "#2a9d8f",
    TokenKind.BYTE: "#a9744f",
    TokenKind.DIGIT: "#7a8f1f",
    TokenKind.PUNCTUATION: OTHER,
    TokenKind.WHITESPACE: "#00a0c8",
    TokenKind.SCRIPT: "#a05fb8",
    TokenKind.SPECIAL: "#d0668f",
    TokenKind.NO_TOKEN: "#6b7280",
}
"""One for each kind of token; amber and red keep the meanings they have on every page."""

RAMP = ("#3f6fb5", "#4f9fa5", "#8fae5a", "#c9a227")
"""From low to high, for norms and ids."""


def scoring_colour(tied: bool) -> str:
    """The colour of the matrix that scores: shared where tied, else the output side's."""
    return SHARED if tied else OUTPUT


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue, from 0 to 255."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def faded(colour: str, opacity: float) -> str:
    """The colour as CSS takes it, partly transparent."""
    return f"rgba({','.join(map(str, rgb(colour)))},{opacity})"
