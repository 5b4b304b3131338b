"""What does a class of transformers make of a flag that config.json leaves out, or sets?

The answer is a table that `python -m tiedviz.models.class_defaults` measures and writes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("class_defaults.json")

# Where models of several parts keep the settings of the one that writes text, in this order.
TEXT_PARTS = (
    *("text_config", "language_config", "llm_config", "thinker_config"),
    *("decoder", "decoder_config"),
)

_CASES = tuple((outer, inner) for outer in (None, True, False) for inner in (True, False))
_LETTERS = {"T": True, "F": False, "-": None, "X": None}


@cache
def table() -> Mapping[str, Any]:
    """The whole table."""
    found: dict[str, Any] = json.loads(TABLE.read_text("utf-8"))
    return found


def table_version() -> str:
    """The version of transformers that the table was measured on."""
    return str(table()["transformers"])


def version_note() -> str:
    """A clause if another version of transformers is installed than the table is of; else empty."""
    import importlib.metadata  # takes as long as all the rest, and only an absent flag needs it

    try:
        installed = importlib.metadata.version("transformers")
    except importlib.metadata.PackageNotFoundError:
        return ""
    return "" if installed == table_version() else f"; {installed} is installed, and may differ"


def class_facts(model_type: object) -> Mapping[str, Any] | None:
    """The facts (`default`, `forced`, `also`, `part`, `outcomes`) of a `model_type`, if known."""
    if not isinstance(model_type, str):
        return None
    found: Mapping[str, Any] | None = table()["model_types"].get(model_type)
    return found


def model_type_of(architecture: object) -> str | None:
    """The `model_type` under which transformers lists the class, or None."""
    for kind in ("scoring", "others"):
        if architecture in table()[kind]:
            return str(table()[kind][architecture])
    return None


def scores_tokens(architecture: str | None, model_type: object) -> bool | None:
    """Whether models of this class have an output over tokens; None where nobody knows.

    Of a class that is not listed, the end of its name decides if all listed classes with the same
    end agree. Where no class is named, the language model of the `model_type` is meant.
    """
    if architecture is None:
        return True if model_type in table()["language"] else None
    if architecture in table()["scoring"]:
        return True
    if architecture in table()["others"]:
        return False
    end = _end(architecture)
    votes = {kind for kind in ("scoring", "others") for name in table()[kind] if _end(name) == end}
    return votes == {"scoring"} if end and len(votes) == 1 else None


def outcome(facts: Mapping[str, Any], outer: bool | None, inner: bool) -> bool | None:
    """What the class makes of the two flags together; None where the inner one has no say."""
    if "outcomes" not in facts:
        return None
    return _LETTERS[facts["outcomes"][_CASES.index((outer, inner))]]


def _end(name: str) -> str:
    """As ForCausalLM of LlamaForCausalLM, or LMHeadModel of GPT2LMHeadModel; else empty."""
    if name.endswith("LMHeadModel"):
        return "LMHeadModel"
    before, found, end = name.rpartition("For")
    return found + end if before else ""
