"""A split as plain values: the same for the page's export and for the command line."""

from __future__ import annotations

from typing import Any

from tiedviz.compute.gradient_sentence import Sentence
from tiedviz.compute.gradient_table import row_table
from tiedviz.compute.gradients import GradientSplit
from tiedviz.compute.next_token.inspection import token_record
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.numbers import or_none


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
