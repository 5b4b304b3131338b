"""How something that is wrong usually came about."""

from __future__ import annotations

from tiedviz.verdict.case import Case
from tiedviz.verdict.wording.words import Word
from tiedviz.words.refusals.file import printable


def causes_of(case: Case, word: Word) -> tuple[str, ...]:
    """How a broken model usually came about, the likeliest first."""
    if word != "broken":
        return ()
    by_hand = (
        "Likely cause: the head was tied by hand (`lm_head.weight = embed_tokens.weight`) and "
        "saved with the flag false, so that it was left out of the file."
    )
    others = (
        "The flag was set to false, or deleted, in the config.json of a tied model.",
        "The head was lost in a merge, a conversion or an incomplete download.",
    )
    absent = case.stored.absent if case.stored else ()
    if case.stored and case.stored.alias:
        was = (
            f"It was tied when it was saved: the file's metadata says that "
            f"{printable(case.stored.alias)} is the stored matrix."
        )
        return (was, others[0])
    if case.stored and case.stored.empty:
        hollow = (
            f"{printable(case.stored.empty[0])} is stored without a number, as a save from parts "
            "that were not gathered leaves it (DeepSpeed ZeRO-3)."
        )
        return (hollow, *others)
    if absent:
        return (f"The index promises {printable(absent[0])}, which no file holds.", *others)
    return (by_hand, *others) if case.lone_input else others
