"""What the walkthrough asks of the rows of E: pieces of a text, neighbours, marks, a lookup."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import torch
from torch.nn import functional

from tiedviz.compute.unembedding.product import embedding_norms, plain_product
from tiedviz.models.loaded import LoadedModel
from tiedviz.models.prompt import bare_ids
from tiedviz.words.refusals.prompt import PromptRefusal, require_row
from tiedviz.words.tokens import Alphabet, Token

# More pills than this bury the page.
LONGEST = 40


def pieces_of(loaded: LoadedModel, text: str) -> list[Token]:
    """The tokens of `text`, the first `LONGEST` of them.

    Raises:
        PromptRefusal: there are none, or the tokenizer has more tokens than E has rows.
    """
    ids = bare_ids(loaded, text)
    if not ids:
        raise PromptRefusal.empty(loaded.title)
    require_row(max(ids), loaded.embedding.shape[0])
    return loaded.vocabulary.tokens(ids[:LONGEST])


def cosines_to(loaded: LoadedModel, row: int) -> torch.Tensor:
    """The cosine of every row of E with one of them, (V,) float32; 0 where a row is all zeros.

    Raises:
        PromptRefusal: E has fewer rows.
    """
    E = loaded.embedding.detach()
    require_row(row, E.shape[0])
    lengths = embedding_norms(loaded)
    return plain_product(E[row], E) / (lengths * lengths[row]).clamp_min(1e-12)


def next_by_id(loaded: LoadedModel, row: int, around: int = 2) -> pd.DataFrame:
    """The rows numbered just below and above, without the row itself.

    Columns: id, text (as printed), cosine.

    Raises:
        PromptRefusal: E has fewer rows.
    """
    E = loaded.embedding.detach()
    rows = E.shape[0]
    require_row(row, rows)
    near = range(row - around, row + around + 1)
    ids = [id for id in near if 0 <= id < rows and id != row]
    cosine = torch.cosine_similarity(E[ids].float(), E[row][None].float())
    return _frame(loaded, ids, cosine.tolist())


def next_by_meaning(loaded: LoadedModel, row: int, top: int = 4) -> pd.DataFrame:
    """The rows that point most the same way, without the row itself and rows without a token.

    Columns: as above.
    """
    cosine = cosines_to(loaded, row)
    # a damaged row has no direction, and would come first
    among = cosine[: loaded.vocabulary.size].nan_to_num(nan=-2.0)
    if row < len(among):
        among[row] = -2.0
    best = among.topk(min(top, len(among) - 1))
    return _frame(loaded, best.indices.tolist(), cosine[best.indices].tolist())


def _frame(loaded: LoadedModel, ids: list[int], cosine: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": ids,
            "text": [token.shown for token in loaded.vocabulary.tokens(ids)],
            "cosine": cosine,
        }
    )


def rows_around(
    loaded: LoadedModel, row: int, *, around: int = 4, columns: int = 32
) -> pd.DataFrame:
    """The first numbers of the rows next to `row`, one line of the frame for each number.

    Columns: row, label (the token as printed), column, value, lit (whether it is `row`).

    Raises:
        PromptRefusal: E has fewer rows.
    """
    E = loaded.embedding.detach()
    rows, width = E.shape
    require_row(row, rows)
    first = max(0, min(row - around, rows - 2 * around - 1))
    ids = range(first, min(rows, first + 2 * around + 1))
    values = E[first : ids.stop, : min(columns, width)].float().cpu()
    labels = [token.shown for token in loaded.vocabulary.tokens(list(ids))]
    return pd.DataFrame(
        [
            (id, label, column, float(value), id == row)
            for id, label, line in zip(ids, labels, values, strict=True)
            for column, value in enumerate(line)
        ],
        columns=["row", "label", "column", "value", "lit"],
    )


@dataclass(frozen=True)
class LookupTimed:
    """Both ways to get row x.

    Attributes:
        row: x.
        lookup_seconds, product_seconds: medians; the product's vector of zeros is made beforehand.
        repeats: of how many.
        max_abs_difference: between the two results.
        products: multiplications in one_hot·E, V·d.
        wasted: how many of them are with 0, (V − 1)·d.
        rows_with_gradient: rows of E that a gradient through the lookup touches.
    """

    row: int
    lookup_seconds: float
    product_seconds: float
    repeats: int
    max_abs_difference: float
    products: int
    wasted: int
    rows_with_gradient: tuple[int, ...]


def time_lookup(loaded: LoadedModel, row: int, *, repeats: int = 5) -> LookupTimed:
    """Time both on the model's own E.

    Raises:
        PromptRefusal: E has fewer rows.
    """
    E = loaded.embedding.detach()
    rows, width = E.shape
    require_row(row, rows)
    hot = torch.zeros(rows, dtype=E.dtype, device=E.device)
    hot[row] = 1.0
    with torch.inference_mode():
        lookup, read = _median(lambda: E[row].clone(), repeats)
        product, made = _median(lambda: hot @ E, repeats)
    return LookupTimed(
        row=row,
        lookup_seconds=lookup,
        product_seconds=product,
        repeats=repeats,
        max_abs_difference=float((read.float() - made.float()).abs().max()),
        products=rows * width,
        wasted=(rows - 1) * width,
        rows_with_gradient=_rows_with_gradient(E, row),
    )


def _median(work: Callable[[], torch.Tensor], repeats: int) -> tuple[float, torch.Tensor]:
    """Median seconds after one call for warming up, and what came out."""
    result = work()
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds), result


def _rows_with_gradient(E: torch.Tensor, row: int) -> tuple[int, ...]:
    """Where autograd sends the gradient of a sum over the row that was read.

    Sparse, so that a gradient as large as E is never made; it shares E's memory.
    """
    with torch.enable_grad():
        table = E.detach().requires_grad_()
        functional.embedding(
            torch.tensor([row], device=E.device), table, sparse=True
        ).sum().backward()
    gradient = table.grad
    assert gradient is not None
    return tuple(sorted(set(gradient.coalesce().indices()[0].tolist())))


ROLES = {
    "pad": "fills up short texts",
    "unk": "stands for what has no row",
    "bos": "begins a text",
    "eos": "ends a text",
    "mask": "is to be filled",
    "sep": "separates two texts",
    "cls": "collects the whole text",
}

_ALWAYS = ("pad", "unk", "bos", "eos")


def special_rows(loaded: LoadedModel) -> pd.DataFrame:
    """One row for PAD, UNK, BOS and EOS, and for each other role this tokenizer names.

    Columns: role (PAD, …), job, id (None where this tokenizer has no such token), text, length (‖e‖
    of its row of E).
    """
    E, rows = loaded.embedding.detach(), []
    for role, job in ROLES.items():
        id = getattr(loaded.tokenizer, f"{role}_token_id", None)
        if id is not None and not 0 <= id < E.shape[0]:
            id = None  # a tokenizer may name more than the table holds
        if id is None and role not in _ALWAYS:
            continue
        rows.append(
            {
                "role": role.upper(),
                "job": job,
                "id": id,
                "text": "none" if id is None else loaded.vocabulary.token(id).shown,
                "length": None if id is None else float(E[id].float().norm()),
            }
        )
    return pd.DataFrame(rows).astype({"id": "Int64"})


def other_marks(loaded: LoadedModel) -> int:
    """How many further special tokens there are beyond those with a role."""
    named = {getattr(loaded.tokenizer, f"{role}_token_id", None) for role in ROLES}
    return len(loaded.vocabulary.special_ids - named)


def spells_bytes(loaded: LoadedModel) -> bool:
    """Whether this vocabulary can write any text, byte by byte if need be."""
    return loaded.vocabulary.alphabet in (Alphabet.BYTE_LEVEL, Alphabet.BYTE_FALLBACK)
