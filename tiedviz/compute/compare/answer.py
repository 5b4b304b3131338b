"""One model's answer to one prompt: all that a comparison needs once the model is gone again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tiedviz.compute.compare.question import question
from tiedviz.compute.next_token.candidates import inspection
from tiedviz.compute.next_token.state import score_state
from tiedviz.models.loaded import LoadedModel, ModelKind
from tiedviz.models.prompt import Bos, Prompt, encode
from tiedviz.verdict.audit import Audit, hear_files, local_files
from tiedviz.verdict.live import live_witnesses

# Two stored copies are compared for the verdict up to this many bytes, as on other pages.
_COMPARED_AT_ONCE = 100_000_000


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
            `encode` and `read`.
    """
    asked = question(loaded, text)
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
