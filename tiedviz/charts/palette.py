"""Colours by meaning, the same on every page; each at least 3:1 on white and on dark."""

SHARED = "#3b6fd4"  # E where it does both jobs
INPUT = "#1f8a5f"  # the side that embeds
OUTPUT = "#9b6fd0"  # the side that scores
LIVE = "#c07a00"  # the vector or row under inspection
OTHER = "#7d879c"


def scoring_colour(tied: bool) -> str:
    """The colour of the matrix that scores: shared where tied, else the output side's."""
    return SHARED if tied else OUTPUT
