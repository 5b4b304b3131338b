"""How the table learns twice: the gradient of E, split into what came in and what went out.

For a tied matrix the chain rule gives dL/dE as a sum. The *input side* comes from the lookups and
is zero but for the rows that were read; the *output side* comes from the product h·Eᵀ, is
Σ (p − y) hᵀ / n over the n positions for plain cross-entropy, and reaches every row, since softmax
gives every token some probability (Press & Wolf 2017, section 3).

`gradient_task` says what is read and asked for, and finds E's names; `gradient_passes`
runs the model with two views of E, and once more with one, the ordinary way; `gradient_split` here
compares the two, and the tables below it are what a page, a file and the command line show.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch

from tiedviz.compute.forward import within_length
from tiedviz.compute.gradient_passes import (
    TwoSides,
    later_tokens_move,
    ordinary_gradients,
    two_sides,
)
from tiedviz.compute.gradient_task import Sentence, Sides, remember_seconds, require_room, sides_of
from tiedviz.compute.next_token.candidates import token_record
from tiedviz.compute.unembedding.product import worst
from tiedviz.models.loaded import LoadedModel
from tiedviz.models.progress import Report, Stage, silent
from tiedviz.words.numbers import or_none


@dataclass(frozen=True)
class GradientSplit:
    """dL/dE of one sentence by side. The dense gradients themselves are not kept.

    Attributes:
        tied: whether one matrix does both jobs, so that the two sides are added up.
        losses: (n,) float32, −ln p of each target; L is their mean.
        read_rows: (k,) ids of the rows that were read, ascending.
        input_norms: (k,) float64, lengths of their input sides.
        output_norms: (V,) float64, lengths of all rows of the output side.
        cosines: (k,) float64, of the two sides of each row that was read; nan where one is zero or
            the two are rows of different matrices.
        input_rows_touched, output_rows_touched: rows with any number other than zero.
        input_norm, output_norm: Frobenius norms.
        cosine: of the two sides as wholes; None where they are gradients of different matrices.
        sum_norm: Frobenius norm of their sum as autograd gives it; None likewise.
        max_abs_difference: largest difference, over all entries, between the two sides put together
            and what autograd gives in the ordinary way.
        tolerance: what rounding explains of it.
        dtype: the dtype of the matrix and of its gradient.
        later_tokens_move: by how much a later token moves the logits before it, measured on a
            probe: above 0 this is no loss of next tokens. None where none is asked for.
        seconds: what it took.
    """

    tied: bool
    losses: torch.Tensor
    read_rows: torch.Tensor
    input_norms: torch.Tensor
    output_norms: torch.Tensor
    cosines: torch.Tensor
    input_rows_touched: int
    output_rows_touched: int
    input_norm: float
    output_norm: float
    cosine: float | None
    sum_norm: float | None
    max_abs_difference: float
    tolerance: float
    dtype: str
    later_tokens_move: float | None
    seconds: float

    @property
    def loss(self) -> float:
        """L, the mean cross-entropy in nats."""
        return float(self.losses.double().mean())

    @property
    def output_share(self) -> float:
        """‖output‖ / (‖input‖ + ‖output‖); a half where both are zero."""
        both = self.input_norm + self.output_norm
        return self.output_norm / both if both else 0.5

    @property
    def agrees(self) -> bool:
        """Whether rounding explains the whole difference."""
        return self.max_abs_difference <= self.tolerance


def gradient_split(
    loaded: LoadedModel,
    sentence: Sentence,
    *,
    report: Report = silent,
    pause: Callable[[], Any] = lambda: None,
) -> GradientSplit:
    """Split dL/dE of a sentence and check the split against autograd.

    Args:
        loaded: the model; its parameters, flags and buffers are the same afterwards, bit for bit.
        sentence: what is read and asked for.
        report: told before each pass; may raise to stop.
        pause: called once the lock is held; may raise, where the run was superseded meanwhile.

    Raises:
        ModelRefusal, GradientRefusal: as `sides_of`, or it would not fit in memory.
        PromptTooLong: the model cannot be run on so many tokens.
    """
    with loaded.lock:
        pause()
        sides = sides_of(loaded)
        require_room(loaded, sides, sentence)
        begun = time.perf_counter()
        with within_length(loaded, max(len(sentence.ids), len(sentence.decoder_ids or ()))):
            # this one first: autograd adds its gradient up from two tables of E's size into a third
            report(Stage("Forward and back in the ordinary way, to compare with", 0, 2, "passes"))
            whole = ordinary_gradients(loaded.model, sides, sentence, loaded.title)
            report(Stage("Forward and back, with two views of the matrix", 1, 2, "passes"))
            parts = two_sides(loaded.model, sides, sentence, loaded.title)
            moved = later_tokens_move(loaded)
            measured = _measured(parts, sides) | {"later_tokens_move": moved}
            proof = _proof(parts, whole, max(Counter(sentence.read).values()))
        seconds = time.perf_counter() - begun
        remember_seconds(loaded, sentence, seconds)
    return GradientSplit(**measured, **proof, tied=sides.tied, seconds=seconds)


def _measured(parts: TwoSides, sides: Sides) -> dict[str, Any]:
    """Norms, rows, cosines of the two sides."""
    input_norms, output_norms = _row_norms(parts.values), _row_norms(parts.output)
    input_norm, output_norm = float(input_norms.norm()), float(output_norms.norm())
    cosines = torch.full_like(input_norms, math.nan)
    cosine = None
    if sides.tied:
        read = parts.output[parts.rows].cpu().double()
        dots = (parts.values.cpu().double() * read).sum(1)
        lengths = input_norms * output_norms[parts.rows.cpu()]
        cosines = torch.where(lengths > 0, dots / lengths, cosines)
        both = input_norm * output_norm
        cosine = float(dots.sum()) / both if both else 0.0
    return {
        "losses": parts.losses.cpu(),
        "read_rows": parts.rows.cpu(),
        "input_norms": input_norms,
        "output_norms": output_norms,
        "cosines": cosines,
        "input_rows_touched": _touched(parts.values),
        "output_rows_touched": _touched(parts.output),
        "input_norm": input_norm,
        "output_norm": output_norm,
        "cosine": cosine,
        "dtype": str(parts.output.dtype).removeprefix("torch."),
    }


def _proof(
    parts: TwoSides, whole: tuple[torch.Tensor, torch.Tensor | None], most_read: int
) -> dict[str, Any]:
    """The largest entry of what is left when both sides are taken from autograd's own gradient.

    Everything happens in the memory of `whole`, so that no further table of E's size is made.
    """
    first, second = whole
    largest = worst(_largest(each) for each in (parts.values, parts.output, first))
    total = float(_row_norms(first).norm()) if second is None else None
    first.index_add_(0, parts.rows, parts.values, alpha=-1)
    (first if second is None else second).sub_(parts.output)
    left = worst(_largest(each) for each in whole if each is not None)
    return {
        "sum_norm": total,
        "max_abs_difference": left,
        "tolerance": _limit(parts.output, largest, most_read),
    }


def _limit(gradient: torch.Tensor, largest: float, most_read: int) -> float:
    """What rounding explains: sums of d products on either pass, and of a row's lookups.

    The two passes multiply the same numbers, but a library may add them in another order; a sum of
    d terms is then off by about √d roundings (Higham & Mary 2019).
    """
    return torch.finfo(gradient.dtype).eps * (math.sqrt(gradient.shape[1]) + most_read) * largest


def _row_norms(gradient: torch.Tensor) -> torch.Tensor:
    """(rows,) float64 on the CPU."""
    return torch.linalg.vector_norm(gradient, dim=1, dtype=_wide(gradient)).cpu().double()


def _wide(gradient: torch.Tensor) -> torch.dtype | None:
    return torch.float32 if gradient.dtype.itemsize < 4 else None


def _touched(gradient: torch.Tensor) -> int:
    """Rows with an entry other than zero; by the largest entry, since a square may underflow."""
    return int((torch.linalg.vector_norm(gradient, ord=math.inf, dim=1) > 0).sum())


def _largest(gradient: torch.Tensor) -> float:
    """The largest |entry|."""
    return float(torch.linalg.vector_norm(gradient, ord=math.inf)) if gradient.numel() else 0.0


def row_table(
    loaded: LoadedModel, sentence: Sentence, split: GradientSplit, *, largest: int = 10
) -> pd.DataFrame:
    """One line for each row that was read or asked for, and for the `largest` output sides besides.

    Columns: id, text (as printed), read (times), asked (times), input_norm (0 where the row was not
    read), output_norm (nan where the output matrix has no such row), cosine (of the two sides; nan
    where there is none), longer (the longer of both norms, by which the table is sorted).
    """
    rows = len(split.output_norms)
    best = torch.topk(split.output_norms, min(largest, rows)).indices.tolist()
    ids = list(dict.fromkeys([*split.read_rows.tolist(), *sentence.targets, *best]))
    at = {id: place for place, id in enumerate(split.read_rows.tolist())}
    read, asked = Counter(sentence.read), Counter(sentence.targets)
    frame = pd.DataFrame(
        {
            "id": ids,
            "text": [token.shown for token in loaded.vocabulary.tokens(ids)],
            "read": [read[id] for id in ids],
            "asked": [asked[id] for id in ids],
            "input_norm": [float(split.input_norms[at[id]]) if id in at else 0.0 for id in ids],
            "output_norm": [
                float(split.output_norms[id]) if id < rows else float("nan") for id in ids
            ],
            "cosine": [float(split.cosines[at[id]]) if id in at else float("nan") for id in ids],
        }
    )
    frame["longer"] = frame[["input_norm", "output_norm"]].max(axis=1)
    return frame.sort_values("longer", ascending=False, kind="stable", ignore_index=True)


def opposed(split: GradientSplit) -> tuple[int, int]:
    """Of the rows that have both sides: in how many they pull apart (cosine < 0), and how many."""
    cosines = split.cosines[~split.cosines.isnan()]
    return int((cosines < 0).sum()), len(cosines)


def position_table(loaded: LoadedModel, sentence: Sentence, split: GradientSplit) -> pd.DataFrame:
    """One line for each position whose loss enters the mean.

    Columns: position, reads (as printed), asked (as printed), loss (−ln p in nats).
    """
    reads = sentence.decoder_ids or sentence.ids
    return pd.DataFrame(
        {
            "position": range(len(sentence.targets)),
            "reads": [token.shown for token in loaded.vocabulary.tokens(list(reads))],
            "asked": [token.shown for token in loaded.vocabulary.tokens(list(sentence.targets))],
            "loss": split.losses.tolist(),
        }
    )


def gradient_record(
    loaded: LoadedModel, sentence: Sentence, split: GradientSplit, *, largest: int = 10
) -> dict[str, Any]:
    """Everything in the split, ready for JSON.

    Keys: model, dtype, text, target (None without a decoder), tokens, tied, loss (nats),
    positions (how many enter its mean), task (in words), later_tokens_move (as in the split),
    input and output {norm, rows_touched}, cosine and sum_norm (None where the two sides are
    gradients of different matrices),
    output_share (‖output‖ / (‖input‖ + ‖output‖)), max_abs_difference, tolerance, notes, and
    rows [{id, text, read, asked, input_norm, output_norm, cosine}] as in `row_table`. `text` is the
    decoded text, so that a program can use it.
    """
    frame = row_table(loaded, sentence, split, largest=largest).drop(columns="longer")
    frame["text"] = [token.text for token in loaded.vocabulary.tokens(frame["id"].tolist())]
    return {
        "model": loaded.source,
        "dtype": split.dtype,
        "text": sentence.text,
        "target": sentence.target or None,
        "tokens": [token_record(token) for token in sentence.tokens],
        "tied": split.tied,
        "loss": split.loss,
        "positions": len(sentence.targets),
        "task": sentence.words,
        "later_tokens_move": split.later_tokens_move,
        "input": {"norm": split.input_norm, "rows_touched": split.input_rows_touched},
        "output": {"norm": split.output_norm, "rows_touched": split.output_rows_touched},
        "cosine": split.cosine,
        "sum_norm": split.sum_norm,
        "output_share": split.output_share,
        "max_abs_difference": split.max_abs_difference,
        "tolerance": split.tolerance,
        "notes": list(sentence.notes),
        "rows": [
            {key: or_none(each) if isinstance(each, float) else each for key, each in row.items()}
            for row in frame.to_dict("records")
        ],
    }
