"""The tokens nearest to a state: by logit, by cosine, by distance, and where these disagree.

`nearest_tokens` is the table, `inspection` the same numbers as plain values for exports and the
command line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import pandas as pd
import torch

from tiedviz.compute.next_token.formula import formula_text
from tiedviz.compute.next_token.state import Scored, ScoredState
from tiedviz.compute.unembedding import reproduced_unembedding
from tiedviz.compute.unembedding.product import row_norms
from tiedviz.models.loaded import LoadedModel
from tiedviz.models.prompt import Prompt
from tiedviz.words.tokens import Token


class By(StrEnum):
    """What "nearest" means."""

    LOGIT = "logit"  # the model's own answer
    COSINE = "cosine"  # direction alone
    DISTANCE = "distance"  # ordinary Euclidean distance


@dataclass(frozen=True)
class Nearest:
    """The rows found nearest to a state, from which every column of the candidates is made.

    Attributes:
        loaded: the model.
        state: what they are nearest to.
        ids: (n,) the rows, nearest first.
        scores: for each measure a score of every row, (V,), larger is nearer.
        distance: (n,) float64, ‖h − e‖.
        temperature: of the probabilities.
    """

    loaded: LoadedModel
    state: Scored
    ids: torch.Tensor
    scores: dict[By, torch.Tensor]
    distance: torch.Tensor
    temperature: float

    @cached_property
    def tokens(self) -> list[Token]:
        """What the rows stand for."""
        return self.loaded.vocabulary.tokens(self.ids.tolist())

    @property
    def probabilities(self) -> torch.Tensor:
        """(n,) softmax over all V of logit / temperature."""
        logits = self.state.logits.double() / self.temperature
        return (logits[self.ids] - torch.logsumexp(logits, 0)).exp()

    def ranks(self, by: By) -> list[int]:
        """The place of each by one measure, 1 is nearest."""
        competing = _competing(self.loaded, self.scores, by)
        # one comparison for each token shown is far cheaper than sorting the whole vocabulary
        ranks = [torch.count_nonzero(competing > self.scores[by][id]) + 1 for id in self.ids]
        return [int(rank) for rank in ranks]


@dataclass(frozen=True)
class Column:
    """One column of the candidates.

    Attributes:
        name: in the data frame and its CSV.
        values: what stands in it.
        title: its head in a table on a page.
        format: of its numbers there; empty for text.
        help: what it means.
        place: from the left in the table of Next token; 0 leaves it out there.
        percent: whether a page shows 100 times the number.
    """

    name: str
    values: Callable[[Nearest], Sequence[object]]
    title: str = ""
    format: str = ""
    help: str | None = None
    place: int = 0
    percent: bool = False


COLUMNS = (
    Column("rank", lambda found: range(1, len(found.ids) + 1), "rank", "%d"),
    Column("id", lambda found: found.ids.tolist(), "id", "%d", place=2),
    Column("text", lambda found: [token.shown for token in found.tokens], "token", place=1),
    Column("piece", lambda found: [token.piece for token in found.tokens]),
    Column("bytes", lambda found: [token.hex for token in found.tokens]),
    Column("logit", lambda found: found.state.logits[found.ids].tolist(), "logit", "%.2f", place=3),
    Column(
        "probability", lambda found: found.probabilities.tolist(), "prob.", "%.1f %%",
        place=4, percent=True,
    ),
    Column(
        "cosine", lambda found: found.scores[By.COSINE][found.ids].tolist(), "cos", "%.3f", place=5
    ),
    Column("distance", lambda found: found.distance.tolist(), "distance", "%.3f"),
    Column(
        "norm", lambda found: row_norms(found.loaded)[found.ids].tolist(), "‖e‖", "%.3f",
        "length of the token's row", place=8,
    ),
    Column("rank_logit", lambda found: found.ranks(By.LOGIT)),
    Column(
        "rank_cosine", lambda found: found.ranks(By.COSINE), "by cos", "%d", "rank by cosine",
        place=6,
    ),
    Column(
        "rank_distance", lambda found: found.ranks(By.DISTANCE), "by dist", "%d",
        "rank by distance", place=7,
    ),
)  # fmt: skip
"""The one place for a column: its numbers, and how a page prints them."""


def nearest_tokens(
    loaded: LoadedModel,
    state: Scored,
    *,
    by: By = By.LOGIT,
    top: int = 10,
    temperature: float = 1.0,
) -> pd.DataFrame:
    """The `top` rows of the scoring matrix nearest to h, nearest first.

    A row that no token uses (a padded vocabulary has some) scores as a logit, since the model may
    choose it, but is nobody's neighbour by cosine or distance.

    Columns: those of `COLUMNS`; text as printed, bytes in hex, the ranks by cosine and by distance
    among rows that have a token.
    """
    scores = _scores(loaded, state)
    competing = _competing(loaded, scores, by)
    ids = torch.topk(competing, min(top, len(competing))).indices
    # from the rows themselves, in float64: near a row the expanded square is all rounding
    rows = loaded.scoring_matrix.detach()[ids].cpu().double()
    distance = (rows - state.h.double()).norm(dim=1)
    if by is By.DISTANCE:
        order = distance.argsort(stable=True)
        ids, distance = ids[order], distance[order]
    found = Nearest(loaded, state, ids, scores, distance, temperature)
    return pd.DataFrame({column.name: column.values(found) for column in COLUMNS})


def _competing(loaded: LoadedModel, scores: dict[By, torch.Tensor], by: By) -> torch.Tensor:
    """The scores that are ranked: of all rows by logit, else of those that have a token."""
    return scores[by] if by is By.LOGIT else scores[by][: loaded.vocabulary.size]


def likeliest(state: Scored) -> tuple[int, float]:
    """The token with the largest logit, and its probability over all V at temperature 1."""
    best = int(state.logits.argmax())
    logits = state.logits.double()
    return best, float((logits[best] - torch.logsumexp(logits, 0)).exp())


def _scores(loaded: LoadedModel, state: Scored) -> dict[By, torch.Tensor]:
    """Three scores for each row, (V,), larger is nearer.

    All three come from the one product: cos = h·e / ‖h‖‖e‖, and ‖h − e‖² = ‖h‖² − 2 h·e + ‖e‖².
    """
    norms = row_norms(loaded)
    h_norm = state.h.norm()
    cosine = state.product / (norms * h_norm).clamp_min(1e-12)
    distance = -(h_norm**2 - 2 * state.product + norms**2).clamp_min(0).sqrt()
    return {By.LOGIT: state.logits, By.COSINE: cosine, By.DISTANCE: distance}


def mass_without_token(loaded: LoadedModel, state: ScoredState) -> float:
    """The probability the model gives to rows that no token uses (padded vocabularies)."""
    return mass_beyond(state.logits, loaded.vocabulary.size)


def mass_beyond(logits: torch.Tensor, tokens: int) -> float:
    """The probability of rows beyond the tokenizer's, from the logits of one position, (V,)."""
    if tokens >= len(logits):
        return 0.0
    return float(torch.softmax(logits.detach().double(), dim=-1)[tokens:].sum())


_TOP = ("rank", "id", "text", "logit", "probability", "cosine", "distance")


def inspection(
    loaded: LoadedModel,
    prompt: Prompt,
    state: ScoredState,
    *,
    top: int = 10,
    by: By = By.LOGIT,
    temperature: float = 1.0,
    nearest: pd.DataFrame | None = None,
) -> dict[str, Any]:
    """Tokens, h, formula, error and the `top` next tokens, as plain values ready for JSON.

    `nearest` is the table of `nearest_tokens` with these settings, where there is one already.

    Keys: model, dtype, prompt, tokens, decoder_tokens (None without a decoder), h, formula,
    max_abs_error, tolerance, notes, by (what the nearest were chosen by), temperature (of the
    probabilities), top. `text` is the decoded text here, not the printed form, so
    that a program can use it.
    """
    _, after = reproduced_unembedding(loaded)
    if nearest is None:
        nearest = nearest_tokens(loaded, state, by=by, top=top, temperature=temperature)
    columns = {name: nearest[name].tolist() for name in _TOP}
    columns["text"] = [loaded.vocabulary.token(id).text for id in columns["id"]]
    return {
        **prompt_record(loaded, prompt),
        "h": {
            "norm": float(state.h.norm()),
            "width": len(state.h),
            "layer": state.layer,
            "position": state.position,
        },
        "formula": formula_text(after, tied=loaded.tied, state=state.name),
        "max_abs_error": state.max_abs_error,
        "tolerance": state.tolerance,
        "notes": list(prompt.notes),
        "by": by.value,
        "temperature": temperature,
        "top": [dict(zip(_TOP, row, strict=True)) for row in zip(*columns.values(), strict=True)],
    }


def prompt_record(loaded: LoadedModel, prompt: Prompt) -> dict[str, Any]:
    """What was asked of which model: model, dtype, prompt, tokens, decoder_tokens."""
    written = prompt.written
    return {
        "model": loaded.source,
        "dtype": loaded.dtype,
        "prompt": prompt.text,
        "tokens": [token_record(token) for token in prompt.tokens],
        "decoder_tokens": None if written is None else [token_record(token) for token in written],
    }


def token_record(token: Token) -> dict[str, Any]:
    """A token as plain values: id, text (decoded), piece, bytes (hex)."""
    return {"id": token.id, "text": token.text, "piece": token.piece, "bytes": token.hex}
