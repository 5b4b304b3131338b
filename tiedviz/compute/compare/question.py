"""What each kind of model reads of one prompt, so that all answer the same question.

The question is what comes next. A masked model is asked by a mask at the end of the prompt; models
that write read what stands before the mask.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tiedviz.models.loaded import LoadedModel, ModelKind
from tiedviz.words.refusals.continuation import ContinuationRefusal

MASKS = ("[MASK]", "<mask>")
"""Spellings of a gap that every model here understands, whatever its own mask is called."""


@dataclass(frozen=True)
class Question:
    """What one model reads.

    Attributes:
        text: the prompt for it.
        note: how that differs from what was typed, as a sentence; empty where it does not.
    """

    text: str
    note: str = ""


def question(loaded: LoadedModel, prompt: str) -> Question:
    """What `loaded` reads of `prompt`.

    Raises:
        ContinuationRefusal: it cannot be asked what comes next by this prompt.
    """
    own = loaded.tokenizer.mask_token if loaded.kind is ModelKind.MASKED else None
    masks = [*MASKS, *([own] if own else [])]
    before, mask, after = _cut(prompt, masks)
    if loaded.kind is ModelKind.MASKED:
        return _to_fill(loaded.title, own, before, mask, after)
    if not mask:
        return Question(prompt)
    if re.search(r"\w", after):
        why = f"it reads from left to right, and “{after.strip()}” stands behind the gap"
        raise ContinuationRefusal.another_question(loaded.title, why)
    return Question(before.rstrip(), f"It reads what stands before {mask}.")


def _to_fill(title: str, own: str | None, before: str, mask: str, after: str) -> Question:
    if own is None:
        why = "it fills gaps, and its tokenizer has no mark for one"
        raise ContinuationRefusal.another_question(title, why, has_mask=False)
    if not mask:
        why = "it fills gaps, and the prompt has none"
        raise ContinuationRefusal.another_question(title, why)
    if any(each in after for each in (*MASKS, own)):
        raise ContinuationRefusal.another_question(title, "the prompt has several gaps")
    behind = after.strip()
    note = f"It fills the gap, and sees the “{behind}” behind it." if behind else ""
    return Question(f"{before}{own}{after}", note or "It is read at the mask.")


def _cut(prompt: str, masks: list[str]) -> tuple[str, str, str]:
    """The prompt before its first mask, that mask, and what follows; no mask: all, "", ""."""
    found = re.search("|".join(re.escape(mask) for mask in masks), prompt)
    if found is None:
        return prompt, "", ""
    return prompt[: found.start()], found[0], prompt[found.end() :]
