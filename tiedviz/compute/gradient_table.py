"""The rows worth showing: those that were read or asked for, and the longest on the output side."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import torch

from tiedviz.compute.gradient_sentence import Sentence
from tiedviz.compute.gradients import GradientSplit
from tiedviz.models.loaded import LoadedModel


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
