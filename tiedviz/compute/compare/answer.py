"""One model's answer to one prompt: all that a comparison needs once the model is gone again.

All answer the same question, what comes next, though kinds of model read it differently. A masked
model is asked by a mask at the end of the prompt; models that write read what stands before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tiedviz.compute.next_token.candidates import inspection
from tiedviz.compute.next_token.state import score_state
from tiedviz.models.loaded import LoadedModel, ModelKind
from tiedviz.models.prompt import Bos, Prompt, encode
from tiedviz.verdict.audit import Audit, hear_files, local_files
from tiedviz.verdict.live import live_witnesses
from tiedviz.words.refusals.continuation import ContinuationRefusal

MASKS = ("[MASK]", "<mask>")
"""Spellings of a gap that every model here understands, whatever its own mask is called."""

# Two stored copies are compared for the verdict up to this many bytes, as on other pages.
_COMPARED_AT_ONCE = 100_000_000


@dataclass(frozen=True)
class ModelPrompt:
    """What one model reads.

    Attributes:
        text: the prompt for it.
        note: how that differs from what was typed, as a sentence; empty where it does not.
    """

    text: str
    note: str = ""


def prompt_for(loaded: LoadedModel, prompt: str) -> ModelPrompt:
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
        return ModelPrompt(prompt)
    if re.search(r"\w", after):
        why = f"it reads from left to right, and “{after.strip()}” stands behind the gap"
        raise ContinuationRefusal.another_question(loaded.title, why)
    return ModelPrompt(before.rstrip(), f"It reads what stands before {mask}.")


def _to_fill(title: str, own: str | None, before: str, mask: str, after: str) -> ModelPrompt:
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
    return ModelPrompt(f"{before}{own}{after}", note or "It is read at the mask.")


def _cut(prompt: str, masks: list[str]) -> tuple[str, str, str]:
    """The prompt before its first mask, that mask, and what follows; no mask: all, "", ""."""
    found = re.search("|".join(re.escape(mask) for mask in masks), prompt)
    if found is None:
        return prompt, "", ""
    return prompt[: found.start()], found[0], prompt[found.end() :]


@dataclass(frozen=True)
class Answer:
    """What one model says to one prompt. Holds no weights.

    Attributes:
        source: what the model was asked for as.
        title: what it is called.
        kind: what it does with a text.
        prompt: the tokens it read.
        position: where it was read.
        notes: what a person should know of the answer, as sentences.
        probabilities: (V,) float64 of every row, at temperature 1.
        shape: V and d.
        layers: L.
        record: as the command `inspect` gives it, with `verdict` and `parameters`.
        audit: the verdict, all four witnesses heard.
        class_name: of the model.
    """

    source: str
    title: str
    kind: ModelKind
    prompt: Prompt
    position: int
    notes: tuple[str, ...]
    probabilities: np.ndarray
    shape: tuple[int, int]
    layers: int | None
    record: dict[str, Any]
    audit: Audit
    class_name: str


def answer(
    loaded: LoadedModel,
    text: str,
    *,
    bos: str = "default",
    decoder: str = "",
    top: int = 10,
    pause: Callable[[], Any] = lambda: None,
) -> Answer:
    """The answer of `loaded` to `text`: at its end, or at its gap for a model that fills gaps.

    Args:
        loaded: the model.
        text: what is asked.
        bos: what to do about the mark at the beginning.
        decoder: what a model with a decoder has written so far; others do not read it.
        top: how many tokens the record holds.
        pause: called where the work may be stopped.

    Raises:
        ContinuationRefusal: the model cannot be asked this.
        PromptRefusal, PromptTooLong, ModelRefusal: as
            `encode` and `score_state`.
    """
    asked = prompt_for(loaded, text)
    prompt = encode(loaded, asked.text, Bos(bos), decoder)
    reading = score_state(
        loaded, prompt.ids, decoder_ids=prompt.decoder_ids, position=prompt.place, pause=pause
    )
    audit = _audit_opened(loaded)
    costs = audit.verdict.costs
    record = inspection(loaded, prompt, reading, top=top)
    notes = tuple(filter(None, (asked.note, *prompt.notes)))
    record |= {
        "verdict": audit.verdict.word,
        "parameters": {
            "total": costs.total,
            "embedding": costs.embedding,
            "head": costs.head,
            "share": costs.share,
        },
        "notes": list(notes),
    }
    rows, width = loaded.scoring_matrix.shape
    probabilities = torch.softmax(reading.logits.double(), 0).numpy()
    probabilities.setflags(write=False)
    return Answer(
        source=loaded.source,
        title=loaded.title,
        kind=loaded.kind,
        prompt=prompt,
        position=reading.position,
        notes=notes,
        probabilities=probabilities,
        shape=(rows, width),
        layers=loaded.layers,
        record=record,
        audit=audit,
        class_name=type(loaded.model).__name__,
    )


def _audit_opened(loaded: LoadedModel) -> Audit:
    """All four witnesses of an open model; heard once and kept with it."""
    with loaded.lock:
        if "audit" not in loaded.memo:
            files = local_files(loaded.source) or loaded.folder
            found = hear_files(files, most=_COMPARED_AT_ONCE)
            loaded.memo["audit"] = live_witnesses(loaded).with_files(loaded.source, *found)
        audit: Audit = loaded.memo["audit"]
        return audit
