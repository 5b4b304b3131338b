"""Every refusal of the app: its own words, all three parts of them."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable

import pytest

import tiedviz.words.refusals
from tiedviz.words.refusals import Refusal

for module in pkgutil.iter_modules(tiedviz.words.refusals.__path__):
    importlib.import_module(f"tiedviz.words.refusals.{module.name}")


def all_kinds(kind: type[Refusal] = Refusal) -> list[type[Refusal]]:
    own = [each for each in kind.__subclasses__() if each.__module__.startswith("tiedviz.words")]
    return [every for each in own for every in (each, *all_kinds(each))]


def all_sentences() -> dict[str, Callable[..., Refusal]]:
    """What makes a refusal from facts, by name: classes, and the named constructors of others."""
    found: dict[str, Callable[..., Refusal]] = {}
    for kind in all_kinds():
        if "what" not in inspect.signature(kind).parameters:
            found[kind.__name__] = kind
        for name, member in vars(kind).items():
            if isinstance(member, classmethod) and not name.startswith("_"):
                found[f"{kind.__name__}.{name}"] = getattr(kind, name)
    return found


SENTENCES = all_sentences()
each_kind = pytest.mark.parametrize("kind", SENTENCES.values(), ids=SENTENCES)


def example(name: str, annotation: str) -> object:
    """A value for one fact of a refusal, by its type."""
    if annotation.startswith("str"):
        return f"the {name} of it"
    if annotation.startswith("int"):
        return 1234
    if annotation.startswith("float"):
        return 0.5
    if annotation.startswith("bool"):
        return True
    if annotation.startswith("tuple[int"):
        return (3, 4)
    if annotation.startswith(("tuple", "list", "Sequence", "Iterable")):
        return (f"one {name}", f"other {name}")
    if annotation.startswith(("dict", "Mapping")):
        return {f"the {name}": 1}
    if "Exception" in annotation or "Error" in annotation:
        return ValueError(f"the {name}")
    raise NotImplementedError(f"{name}: {annotation}")


def made(kind: Callable[..., Refusal]) -> Refusal:
    facts = inspect.signature(kind).parameters.values()
    wanted = [fact for fact in facts if fact.default is fact.empty]
    positional = [f for f in wanted if f.kind is not f.KEYWORD_ONLY]
    named = {f.name: example(f.name, f.annotation) for f in wanted if f.kind is f.KEYWORD_ONLY}
    return kind(*(example(fact.name, fact.annotation) for fact in positional), **named)


def test_there_are_refusals_to_check():
    assert len(SENTENCES) > 90


@each_kind
def test_a_refusal_says_what_and_why_and_what_to_try(kind):
    refusal = made(kind)
    for part in (refusal.what, refusal.why, refusal.remedy):
        assert part.strip() == part and len(part) > 8


@each_kind
def test_what_to_try_is_a_sentence_or_ends_in_a_command(kind):
    assert made(kind).remedy.endswith((".", example("command", "str")))


@each_kind
def test_its_parts_fit_into_one_line(kind):
    refusal = made(kind)
    assert str(refusal) == f"{refusal.what}: {refusal.why}. {refusal.remedy}"
    assert "\n" not in str(refusal) and ".." not in str(refusal).replace("...", "")


@each_kind
def test_its_maker_says_in_one_sentence_when_it_is_raised(kind):
    assert kind.__doc__ and kind.__doc__.strip().splitlines()[0].endswith(".")


@each_kind
def test_it_can_be_copied_as_any_exception_can(kind):
    refusal = made(kind)
    again = pickle.loads(pickle.dumps(refusal))
    assert type(again) is type(refusal) and str(again) == str(refusal)


def test_no_two_refusals_have_the_same_words():
    said: dict[str, str] = {}
    for name, kind in SENTENCES.items():
        refusal = made(kind)
        words = f"{refusal.what}: {refusal.why}"
        assert said.setdefault(words, name) == name, words


def test_a_refusal_keeps_its_three_parts_apart():
    refusal = Refusal("it was not done", "there was no time", "Try tomorrow.")
    assert (refusal.what, refusal.why, refusal.remedy) == refusal.args
    assert str(refusal) == "it was not done: there was no time. Try tomorrow."
