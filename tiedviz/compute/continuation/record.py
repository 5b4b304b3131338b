"""A continuation as plain values: the same for the pages' exports and for the command line."""

from __future__ import annotations

from typing import Any

from tiedviz.compute.continuation import Continuation, Way
from tiedviz.models.loaded import LoadedModel


def continuation_record(loaded: LoadedModel, found: Continuation, way: Way) -> dict[str, Any]:
    """A continuation as plain values ready for JSON.

    Keys: way {sampled, temperature, top_p, seed}, text, ended, tokens [{id, text, probability,
    drawn_with, rank}]; `drawn_with` is the probability after temperature and top-p.
    """
    vocabulary = loaded.vocabulary
    raw = b"".join(vocabulary.token(id).raw for id in found.text_ids)
    return {
        "way": {
            "sampled": way.sampled,
            "temperature": way.temperature,
            "top_p": way.top_p,
            "seed": way.seed,
        },
        "text": raw.decode("utf-8", "replace"),
        "ended": found.ended,
        "tokens": [
            {
                "id": token.id,
                "text": vocabulary.token(token.id).text,
                "probability": token.probability,
                "drawn_with": token.drawn,
                "rank": token.rank,
            }
            for token in found.tokens
        ],
    }
