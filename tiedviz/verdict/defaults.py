"""What does a class of transformers make of a flag that config.json leaves out, or sets?

The answer is a table that `python -m tiedviz.verdict.class_defaults` measures and writes. Where
another version of transformers is installed than the table is of, that one is asked instead, in a
process of its own, and what it says of a class is kept in the cache under its version.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

TABLE = os.path.join(os.path.dirname(__file__), "class_defaults.tsv")

# Where models of several parts keep the settings of the one that writes text, in this order.
TEXT_PARTS = (
    *("text_config", "language_config", "llm_config", "thinker_config"),
    *("decoder", "decoder_config"),
)

_CASES = tuple((outer, inner) for outer in (None, True, False) for inner in (True, False))
_PATIENCE = 120  # seconds for another interpreter to import transformers; it takes about four
_LETTERS = {"T": True, "F": False, "-": None, "X": None}


@cache
def _text() -> str:
    """The table as it is kept: on each line a part, a name, and what is said of it as JSON."""
    with open(TABLE, encoding="utf-8") as file:
        return "\n" + file.read()


def _entry(part: str, name: object) -> Any:
    """What one part of the table says of a name, else None; the other lines are not parsed."""
    if not isinstance(name, str) or "\n" in name:
        return None
    found = _text().partition(f"\n{part}\t{name}\t")[2]
    return json.loads(found[: found.index("\n")]) if found else None


def _rows() -> Iterator[list[str]]:
    return (line.split("\t") for line in _text().splitlines() if line)


def table() -> Mapping[str, Mapping[str, Any]]:
    """The whole table: parts, and what each says of a name."""
    found: dict[str, dict[str, Any]] = {}
    for part, name, value in _rows():
        found.setdefault(part, {})[name] = json.loads(value)
    return found


def table_version() -> str:
    """The version of transformers that the table was measured on."""
    return str(_entry("transformers", "version"))


def installed_facts(model_type: object) -> Mapping[str, Any] | None:
    """What the installed transformers, of another version than the table's, makes of a class.

    Returns:
        As `class_facts`, with the `version` they are of beside them; None where that version is
        the table's own or not installed, where it does not know the class, and where it could not
        be asked (see `version_note`).
    """
    version = installed_version()
    if version in (None, table_version()) or not isinstance(model_type, str):
        return None
    from tiedviz.models.cache import cache_root, writing

    kept = cache_root() / "class_defaults" / f"{version}.json"
    try:
        known = json.loads(kept.read_text("utf-8"))
    except (OSError, ValueError):
        known = {}
    if model_type not in known:
        answer = _ask_installed(model_type)
        if answer is None:
            return None
        known[model_type] = answer["facts"]
        with writing():
            kept.parent.mkdir(parents=True, exist_ok=True)
            unfinished = kept.with_suffix(f".{os.getpid()}")
            unfinished.write_text(json.dumps(known), "utf-8")
            unfinished.replace(kept)
    facts: dict[str, Any] | None = known[model_type]
    return None if facts is None else facts | {"version": version}


def _ask_installed(model_type: str) -> Any:
    """`{"facts": …}` from a process that imports transformers; None where that fails."""
    import subprocess

    command = [sys.executable, "-m", "tiedviz.verdict.class_defaults", model_type]
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    paths = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE,
            env=os.environ | {"PYTHONPATH": paths},
        )  # fmt: skip
        return json.loads(ended.stdout) if ended.returncode == 0 else None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def version_note(version: str) -> str:
    """A clause where `version` is not that of the installed transformers; else empty."""
    installed = installed_version()
    if installed is None:
        return "; none is installed here"
    return "" if installed == version else f"; {installed} is installed, and may differ"


def installed_version() -> str | None:
    """The version of transformers that is installed, from the name of its folder of metadata.

    importlib.metadata knows of rarer ways to install; to import it takes as long as all the rest.
    """
    begin, end = "transformers-", ".dist-info"
    for place in sys.path:
        try:
            names = [entry.name for entry in os.scandir(place or ".")]
        except OSError:
            continue
        for name in names:
            if name.startswith(begin) and name.endswith(end):
                return name[len(begin) : -len(end)]
    import importlib.metadata

    try:
        return importlib.metadata.version("transformers")
    except importlib.metadata.PackageNotFoundError:
        return None


def class_facts(model_type: object) -> Mapping[str, Any] | None:
    """The facts (`default`, `forced`, `also`, `part`, `outcomes`) of a `model_type`, if known."""
    found: Mapping[str, Any] | None = _entry("model_types", model_type)
    return found


def model_type_of(architecture: object) -> str | None:
    """The `model_type` under which transformers lists the class, or None."""
    found: str | None = _entry("scoring", architecture) or _entry("others", architecture)
    return found


def scores_tokens(architecture: str | None, model_type: object) -> bool | None:
    """Whether models of this class have an output over tokens; None where nobody knows.

    Of a class that is not listed, the end of its name decides if all listed classes with the same
    end agree. Where no class is named, the language model of the `model_type` is meant.
    """
    if architecture is None:
        return True if _entry("language", model_type) else None
    if _entry("scoring", architecture):
        return True
    if _entry("others", architecture):
        return False
    end = _end(architecture)
    listed = ((part, name) for part, name, _ in _rows() if part in ("scoring", "others"))
    votes = {part for part, name in listed if _end(name) == end}
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
