"""The ways a tied checkpoint gets broken, in words; `verdict.break_one` does them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BreakWords:
    """One way: what is done, and how it happens to people."""

    title: str
    story: str


BREAK_WORDS: dict[str, BreakWords] = {
    "whole": BreakWords("Leave it whole", "As the library saves a tied model: one matrix."),
    "flag": BreakWords(
        "Flip the flag", "Somebody edits config.json, or a converter writes the wrong default."
    ),
    "resize": BreakWords(
        "Add three tokens",
        "resize_token_embeddings before fine-tuning: the new rows have not learned anything.",
    ),
    "by hand": BreakWords(
        "Tie by hand and save",
        "lm_head.weight = embed_tokens.weight where the flag is false: the head is not saved.",
    ),
    "twice": BreakWords(
        "Write both copies",
        "A script saves the state dict as it stands: the same matrix twice.",
    ),
    "merge": BreakWords(
        "Merge a LoRA on the head",
        "The merged head is stored beside the table, while the flag still says tied.",
    ),
}
