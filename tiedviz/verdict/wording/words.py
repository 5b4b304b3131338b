"""The ten words a verdict can be, how alarming each is, and what may be said of each."""

from __future__ import annotations

from typing import Literal

Word = Literal[
    "tied",
    "twin",
    "near_twin",
    "untied",
    "contradiction",
    "broken",
    "partly_tied",
    "no_head",
    "adapter",
    "cannot_tell",
]
Tone = Literal["calm", "amber", "red", "grey"]

TONES: dict[Word, Tone] = {
    "tied": "calm",
    "twin": "amber",
    "near_twin": "amber",
    "untied": "calm",
    "contradiction": "red",
    "broken": "red",
    "partly_tied": "amber",
    "no_head": "calm",
    "adapter": "amber",
    "cannot_tell": "grey",
}
