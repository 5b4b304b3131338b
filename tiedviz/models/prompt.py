"""A prompt as the model will read it: tokens, marks, and what a person should know of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from torch import nn

from tiedviz.models.loaded import LoadedModel
from tiedviz.words.numbers import count
from tiedviz.words.prompt_refusals import EmptyPrompt, PromptTooLong
from tiedviz.words.tokens import Token

# The most tokens run past a rotary model's trained length: attention grows with their square.
LONGEST_UNTRAINED = 4096


class Bos(StrEnum):
    """What to do about the mark at the beginning."""

    DEFAULT = "default"  # what the tokenizer does by itself
    ADD = "add"
    OMIT = "omit"


@dataclass(frozen=True)
class Prompt:
    """A text cut into tokens.

    Attributes:
        text: what was typed.
        tokens: what the model reads, in order.
        notes: what a person should know before believing the answer, as sentences.
    """

    text: str
    tokens: tuple[Token, ...]
    notes: tuple[str, ...] = ()

    @property
    def ids(self) -> list[int]:
        """The rows of E that are read."""
        return [token.id for token in self.tokens]


def encode(loaded: LoadedModel, text: str, bos: Bos = Bos.DEFAULT) -> Prompt:
    """`text` as tokens of this model.

    Raises:
        EmptyPrompt: there is no token to read.
        PromptTooLong: the model has no position for the last ones.
    """
    text = text.encode("utf-8", "replace").decode()  # lone surrogates are no text
    with loaded.lock:
        ids = _ids(loaded.tokenizer, text, bos)
        by_default = _ids(loaded.tokenizer, text, Bos.DEFAULT)
    if not ids:
        raise EmptyPrompt(loaded.title)
    notes = _length_notes(loaded, len(ids))
    notes += _bos_notes(loaded.tokenizer.bos_token_id, ids, by_default)
    notes += _text_notes(text, loaded.tokenizer.unk_token_id, ids)
    return Prompt(text, tuple(loaded.vocabulary.tokens(ids)), tuple(notes))


def _ids(tokenizer: Any, text: str, bos: Bos) -> list[int]:
    ids = list(tokenizer(text, add_special_tokens=bos is not Bos.OMIT, verbose=False)["input_ids"])
    mark = tokenizer.bos_token_id
    if bos is Bos.ADD and mark is not None and ids[:1] != [mark]:
        ids.insert(0, mark)
    return ids


def _length_notes(loaded: LoadedModel, tokens: int) -> list[str]:
    trained = loaded.positions
    if trained is None or tokens <= trained:
        return []
    if _has_position_table(loaded, trained):
        raise PromptTooLong(tokens, trained, f"{loaded.title} has a learned vector for each of")
    if tokens > max(trained, LONGEST_UNTRAINED):
        limit = max(trained, LONGEST_UNTRAINED)
        raise PromptTooLong(tokens, limit, f"for {loaded.title} the longest that is run here is")
    return [
        f"{count(tokens)} tokens is past the {count(trained)} this model was trained for: "
        "it still answers, but nothing says how well."
    ]


def _has_position_table(loaded: LoadedModel, positions: int) -> bool:
    """Whether positions are rows of a learned table, which ends, or are computed, which do not."""
    tables = {loaded.model.get_input_embeddings(), loaded.model.get_output_embeddings()}
    return any(
        isinstance(module, nn.Embedding)
        and module not in tables
        # OPT, BART and RoBERTa keep two rows more than positions
        and positions <= module.num_embeddings <= positions + 8
        for module in loaded.model.modules()
    )


def _bos_notes(mark: int | None, ids: list[int], by_default: list[int]) -> list[str]:
    if mark is None:
        return []
    found = next((index for index, id in enumerate(ids) if id != mark), len(ids))
    if found > 1:
        return [f"BOS stands {found} times at the beginning; the model was trained with one."]
    if found == 0 and by_default[:1] == [mark]:
        return ["This tokenizer puts BOS in front by default; without it the answer suffers."]
    if found == len(ids):
        return ["The model reads BOS alone: this is how it would begin any text."]
    return []


def _text_notes(text: str, unknown: int | None, ids: list[int]) -> list[str]:
    notes = []
    if text.endswith(" ") and text.strip():
        notes.append(
            "The prompt ends in a space. Words usually bring their own leading space, "
            "so the model expects something else here than a word."
        )
    if unknown is not None and (lost := ids.count(unknown)):
        notes.append(f"{lost} of the tokens are “unknown”: this vocabulary has no piece for them.")
    return notes
