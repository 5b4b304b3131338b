"""The first witness: what config.json declares, which flag governs, and the class default."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tiedviz.files.config import MAX_DEPTH, TIE_KEYS, tie_flags
from tiedviz.verdict.defaults import (
    TEXT_PARTS,
    class_facts,
    installed_facts,
    model_type_of,
    outcome,
    scores_tokens,
    table_version,
    version_note,
)
from tiedviz.verdict.witnesses import Declared

_FLAG = TIE_KEYS[0]
_WRITTEN = "config.json: "


class _Rule(NamedTuple):
    """Which flag or default counts, in one configuration or one part of it."""

    tied: bool | None
    path: str
    words: str
    default: bool | None = None
    forced: bool | None = None

    @property
    def written(self) -> bool:
        """Whether the file itself says it, so that no class default has a say."""
        return self.words.startswith(_WRITTEN)


# What a class makes of a flag, by its `model_type`; None for a class that is not known.
_Facts = Callable[[object], Mapping[str, Any] | None]


def declared_in(config: Mapping[str, object]) -> Declared:
    """What a raw config.json declares; `{}` where there is none.

    Nothing is taken from transformers, so that this is what the file says and not what became of
    it. Where the flag is absent the class default counts, of the transformers that would load the
    model: from a table, or from the installed one where that is another version (see `defaults`).
    """
    names = config.get("architectures")
    first = names[0] if isinstance(names, list) and names else None
    architecture = first if isinstance(first, str) else None
    model_type = config.get("model_type") or model_type_of(architecture)
    rule = _rule(config, model_type, "", class_facts)
    if config and not rule.written:
        rule = _rule(config, model_type, "", _of_the_installed)
    return Declared(
        raw=tie_flags(config),
        class_default=rule.default,
        forced=rule.forced,
        tied=rule.tied,
        path=rule.path,
        governed_by=rule.words if config else "nothing: there is no config.json",
        architecture=architecture,
        scores=scores_tokens(architecture, model_type),
    )


def inferred(stores_head: bool) -> Declared:
    """What a GGUF file amounts to: it has no flag, and loaders go by what it holds."""
    words = "one" if stores_head else "no"
    return Declared(
        tied=not stores_head,
        path="output.weight",
        governed_by=f"inferred, not read: the file holds {words} output matrix",
        inferred=True,
        scores=True,
    )


def _of_the_installed(model_type: object) -> Mapping[str, Any] | None:
    return installed_facts(model_type) or class_facts(model_type)


def _rule(config: Mapping[str, object], model_type: object, prefix: str, facts_of: _Facts) -> _Rule:
    facts = facts_of(model_type)
    if facts is None:
        return _unknown_class(config, prefix, facts_of)
    version = facts.get("version") or table_version()
    inner = _inner_rule(config, facts, prefix, facts_of)
    if facts["default"] is None:
        return inner or _without_default(config, model_type, prefix, version)
    default, forced = facts["default"], facts.get("forced")
    key, own = _own(config, facts.get("also"))
    lifted = None
    if inner is not None and inner.tied is not None:
        lifted = outcome(facts, own if type(own) is bool else None, inner.tied)
    if inner is not None and lifted is not None and lifted is inner.tied and lifted is not own:
        default = default if inner.written else inner.default
        return _Rule(lifted, inner.path, inner.words, default, forced)
    if own is None and key is None:
        words = _default_words(model_type, default, version)
        return _Rule(default, prefix + _FLAG, words, default, forced)
    words = f"{_WRITTEN}{prefix}{key}" + _forced_words(model_type, own, forced, version)
    return _Rule(own if type(own) is bool else None, f"{prefix}{key}", words, default, forced)


def _inner_rule(
    config: Mapping[str, object], facts: Mapping[str, object], prefix: str, facts_of: _Facts
) -> _Rule | None:
    """The rule in the part that writes text, if that part has a say in this class."""
    name = facts.get("part")
    if name is None or prefix.count(".") > MAX_DEPTH:
        return None
    part = config.get(str(name))
    part = part if isinstance(part, Mapping) else {}
    model_type = part.get("model_type") or facts["part_type"]
    return _rule(part, model_type, f"{prefix}{name}.", facts_of)


def _own(config: Mapping[str, object], also: object) -> tuple[str | None, object]:
    """The flag at this level and its key; (None, None) where there is none."""
    for key in (_FLAG, also):
        if isinstance(key, str) and key in config:
            return key, config[key]
    return None, None


def _unknown_class(config: Mapping[str, object], prefix: str, facts_of: _Facts) -> _Rule:
    """A class that transformers does not list: only what is written counts."""
    for key in TIE_KEYS:
        if key in config:
            value = config[key]
            tied = value if type(value) is bool else None
            return _Rule(tied, f"{prefix}{key}", f"{_WRITTEN}{prefix}{key}")
    for name in TEXT_PARTS:
        part = config.get(name)
        if isinstance(part, Mapping) and prefix.count(".") <= MAX_DEPTH:
            rule = _rule(part, part.get("model_type"), f"{prefix}{name}.", facts_of)
            if rule.tied is not None:
                return rule
    words = "nothing: the flag is absent, and the default of this class is not known"
    return _Rule(None, prefix + _FLAG, words)


def _without_default(
    config: Mapping[str, object], model_type: object, prefix: str, version: str
) -> _Rule:
    """A class that has no such setting: written, it counts; absent, transformers 5 takes false."""
    key, own = _own(config, None)
    if key is not None:
        tied = own if type(own) is bool else None
        return _Rule(tied, f"{prefix}{key}", f"{_WRITTEN}{prefix}{key}", False)
    return _Rule(False, prefix + _FLAG, _default_words(model_type, False, version), False)


def _default_words(model_type: object, default: bool, version: str) -> str:
    value = "true" if default else "false"
    return (
        f"class default: the flag is absent → {value} ({model_type}, transformers "
        f"{version}{version_note(version)})"
    )


def _forced_words(model_type: object, own: object, forced: bool | None, version: str) -> str:
    if forced is None or own is forced:
        return ""
    value = "true" if forced else "false"
    return f" (but {model_type} sets it to {value} when it is read, transformers {version})"
