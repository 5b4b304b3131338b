"""The rows that are marks instead of text, and what becomes of a word nobody knows."""

from __future__ import annotations

import pandas as pd

from tiedviz.models.loaded import LoadedModel
from tiedviz.words.tokens import Alphabet

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
