"""Writes the table of what each configuration class of transformers says about tying.

    python -m tiedviz.verdict.class_defaults [MODEL_TYPE]

With a `model_type` it writes nothing, and prints as JSON what that class says.

The table is data for `verdict.declared`, which must not import transformers. It is measured,
not copied: every configuration class is built with and without the flag, outside and in its part
that writes text, and asked what it made of it.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import transformers
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from tiedviz.models.building import building, quiet_library
from tiedviz.verdict.defaults import TABLE, TEXT_PARTS

# The kinds of class that score tokens, by transformers' own lists; all its other lists do not.
_SCORING = (
    *("CAUSAL_LM", "MASKED_LM", "SEQ_TO_SEQ_CAUSAL_LM", "SPEECH_SEQ_2_SEQ"),
    *("IMAGE_TEXT_TO_TEXT", "MULTIMODAL_LM"),
)
_FLAG = "tie_word_embeddings"
_CASES = tuple((outer, inner) for outer in (None, True, False) for inner in (True, False))
_LETTERS = {True: "T", False: "F", None: "-"}


def class_defaults() -> dict[str, dict[str, Any]]:
    """The whole table: parts, and what each says of a name."""
    scoring = _names(f"MODEL_FOR_{kind}_MAPPING_NAMES" for kind in _SCORING)
    lists = [name for name in dir(modeling_auto) if name.startswith("MODEL_")]
    every = _names(name for name in lists if name.endswith("MAPPING_NAMES"))
    others = {name: kind for name, kind in every.items() if name not in scoring}
    for name in [name for name in others if name.endswith("ForPreTraining") and _ties(name)]:
        scoring[name] = others.pop(name)
    with building(), quiet_library():
        listed = {*scoring.values(), *others.values(), *_language_types()}
        kinds = sorted(listed & set(CONFIG_MAPPING.keys()))
        facts = {kind: _facts(CONFIG_MAPPING[kind]) for kind in kinds}
    return {
        "transformers": {"version": transformers.__version__},
        "model_types": {kind: fact for kind, fact in facts.items() if fact is not None},
        "language": dict.fromkeys(_language_types(), True),
        "scoring": scoring,
        "others": others,
    }


def write() -> None:
    """Replace the file: a line for each name, so that one is found without parsing the others."""
    lines = (
        f"{part}\t{name}\t{json.dumps(value, sort_keys=True)}\n"
        for part, entries in sorted(class_defaults().items())
        for name, value in sorted(entries.items())
    )
    Path(TABLE).write_text("".join(lines), "utf-8")


def _names(lists: Iterable[str]) -> dict[str, str]:
    """Class name → the model_type it is listed under, the one it is called after if there are more.

    `GPT2LMHeadModel` is listed under gpt-sw3 before gpt2.
    """
    found: dict[str, list[str]] = {}
    for name in lists:
        for kind, listed in getattr(modeling_auto, name, {}).items():
            for one in (listed,) if isinstance(listed, str) else listed:
                found.setdefault(one, []).append(kind)
    return {
        name: max(kinds, key=lambda kind: _likeness(name, kind)) for name, kinds in found.items()
    }


def _likeness(name: str, kind: str) -> int:
    plain = kind.replace("-", "").replace("_", "")
    return len(plain) if name.lower().startswith(plain) else 0


def _language_types() -> list[str]:
    """Every model_type that has a class which scores tokens."""
    lists = (getattr(modeling_auto, f"MODEL_FOR_{kind}_MAPPING_NAMES", {}) for kind in _SCORING)
    return sorted({model_type for listed in lists for model_type in listed})


def _ties(name: str) -> bool:
    """Whether the class has an output over tokens: pretraining classes are of every kind."""
    return bool(getattr(getattr(transformers, name, None), "_tied_weights_keys", None))


def _facts(kind: Any) -> dict[str, Any] | None:
    """What one configuration class does; None where it cannot be built without arguments."""
    try:
        plain = kind()
    except Exception:
        return None
    default = getattr(plain, _FLAG, None)
    told = [_outcome(kind, {_FLAG: value}) for value in (True, False)]
    facts: dict[str, Any] = {"default": default}
    forced = {value for value in told if value != "X"}
    if len(forced) == 1 and forced <= {True, False}:
        facts["forced"] = forced.pop()
    elif default is not None and _outcome(kind, {"tie_embedding": not default}) is not default:
        facts["also"] = "tie_embedding"
    return facts | _part_facts(kind, plain, default)


def _part_facts(kind: Any, plain: Any, default: bool | None) -> dict[str, Any]:
    """The part that writes text, where its flag or its default has a say."""
    parts = getattr(kind, "sub_configs", {})
    part = next((name for name in TEXT_PARTS if name in parts), None)
    inner = getattr(plain, part, None) if part else None
    model_type = getattr(inner, "model_type", None)
    outcomes = _outcomes(kind, str(part), model_type) if part else ""
    lifts = any(outcomes[i] != outcomes[i + 1] for i in range(0, len(outcomes), 2))
    if part is None or not (lifts or default is None):
        return {}
    return {"part": part, "part_type": model_type} | ({"outcomes": outcomes} if lifts else {})


def _outcomes(kind: Any, part: str, model_type: str | None) -> str:
    """T, F, - (no flag) or X (refused) for each pair of an outer and an inner flag."""
    letters = ""
    for outer, inner in _CASES:
        raw: dict[str, Any] = {
            part: {_FLAG: inner} | ({"model_type": model_type} if model_type else {})
        }
        value = _outcome(kind, raw | ({} if outer is None else {_FLAG: outer}))
        letters += "X" if value == "X" else _LETTERS[value]
    return letters


def _outcome(kind: Any, raw: Mapping[str, Any]) -> Any:
    """The flag of a configuration made of `raw`; None where it has none, "X" where it refuses."""
    try:
        value = getattr(kind(**copy.deepcopy(dict(raw))), _FLAG, None)
    except Exception:
        return "X"
    return value if value is None else bool(value)


def facts_of(model_type: str) -> dict[str, Any] | None:
    """What one class says, as in the table; None for a class that transformers does not know."""
    with building(), quiet_library():
        known = model_type in CONFIG_MAPPING.keys()
        return _facts(CONFIG_MAPPING[model_type]) if known else None


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.stdout.write(json.dumps({"facts": facts_of(sys.argv[1])}))
    else:
        write()
