"""Sums of tokens: king − man + woman, as one vector."""

from __future__ import annotations

import re
from dataclasses import dataclass

import torch

from tiedviz.models.loaded import LoadedModel
from tiedviz.models.prompt import one_token
from tiedviz.words.refusals.map import NotArithmetic, RowNotFinite, SumIsZero
from tiedviz.words.refusals.prompt import NotAToken
from tiedviz.words.tokens import Token

_SIGN = re.compile(r"\s+([+−–-])\s+")


@dataclass(frozen=True)
class Walk:
    """A sum of rows.

    Attributes:
        terms: (sign, token) each, sign 1 or −1, in the order typed.
    """

    terms: tuple[tuple[int, Token], ...]

    @property
    def shown(self) -> str:
        """As printed: ␣king − ␣man + ␣woman."""
        first, *rest = self.terms
        words = [("− " if first[0] < 0 else "") + first[1].shown]
        words += [("+ " if sign > 0 else "− ") + token.shown for sign, token in rest]
        return " ".join(words)

    @property
    def ids(self) -> tuple[int, ...]:
        """The rows it is made of."""
        return tuple(token.id for _, token in self.terms)

    def vector(self, matrix: torch.Tensor) -> torch.Tensor:
        """(d,) float32, the sum.

        Raises:
            RowNotFinite: one of the rows is damaged.
            SumIsZero: the terms cancel.
        """
        table = matrix.detach()
        total = torch.zeros(table.shape[1], dtype=torch.float64)
        largest = 0.0
        for sign, token in self.terms:
            row = table[token.id].cpu().double()
            if not bool(row.isfinite().all()):
                raise RowNotFinite(token.shown, token.id)
            total += sign * row
            largest = max(largest, float(row.norm()))
        if float(total.norm()) <= 1e-9 * largest:
            raise SumIsZero(self.shown)
        return total.float()


def is_walk(text: str) -> bool:
    """Whether a text has a sign between two terms."""
    return bool(_SIGN.search(text.strip()))


def read_walk(loaded: LoadedModel, text: str) -> Walk:
    """The sum that `text` writes.

    A bare word is the token with a space in front where there is one, as it would stand in running
    text; `id:123` names any other row.

    Raises:
        NotArithmetic: signs and terms do not take turns.
        NotAToken, PromptRefusal: a term is no token of this model.
    """
    pieces = _SIGN.split(text.strip())
    terms, signs = pieces[0::2], ["+", *pieces[1::2]]
    if len(terms) < 2 or not all(terms) or len(terms) > 12:
        raise NotArithmetic(text)
    return Walk(
        tuple(
            (1 if sign == "+" else -1, _word(loaded, term))
            for sign, term in zip(signs, terms, strict=True)
        )
    )


def _word(loaded: LoadedModel, term: str) -> Token:
    if term.isalpha():
        try:
            return one_token(loaded, f" {term}")
        except NotAToken:
            pass  # this tokenizer marks words in another way
    return named_token(loaded, term)


def named_token(loaded: LoadedModel, text: str) -> Token:
    """The token a person means: as written, `id:123`, or the one with a space in front.

    Raises:
        NotAToken, PromptRefusal: there is none.
    """
    written = text.replace("␣", " ")
    try:
        return one_token(loaded, written)
    except NotAToken as refusal:
        if written.startswith((" ", "id:")):
            raise
        try:
            return one_token(loaded, f" {written}")
        except NotAToken:
            raise refusal from None
