"""Neighbours as plain values: the same for a page's export and for the command line."""

from __future__ import annotations

from typing import Any

from tiedviz.compute.token_map.neighbours import Neighbours
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.numbers import or_none


def neighbours_record(
    loaded: LoadedModel, row: int, found: Neighbours, norm: float
) -> dict[str, Any]:
    """Ready for JSON.

    Keys: model, dtype, token (id, text, norm), by, self_rank (cosine, dot, l2), neighbors: each
    with rank, id, text, cosine (None where a row has no direction), dot, distance. `text` is the
    decoded text, so that a program can use it.
    """
    tokens = loaded.vocabulary.tokens(found.ids.tolist())
    return {
        "model": loaded.source,
        "dtype": loaded.dtype,
        "token": {"id": row, "text": loaded.vocabulary.token(row).text, "norm": norm},
        "by": found.by.value,
        "self_rank": {measure.value: rank for measure, rank in found.self_rank.items()},
        "neighbors": [
            {
                "rank": place + 1,
                "id": token.id,
                "text": token.text,
                "cosine": or_none(float(found.cosine[place])),
                "dot": float(found.dot[place]),
                "distance": float(found.distance[place]),
            }
            for place, token in enumerate(tokens)
        ],
    }
