"""A prompt as the model will read it: tokens, marks, and what a person should know of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from torch import nn

from tiedviz.models.loaded import LoadedModel, ModelKind, decoder_start
from tiedviz.words.numbers import count
from tiedviz.words.refusals.prompt import NotAToken, PromptRefusal, PromptTooLong, require_row
from tiedviz.words.tokens import Token, encodable


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
        written: what the decoder has written so far, for a model that has one; else None.
        place: the position that is read where nobody chooses another, in `read`.
    """

    text: str
    tokens: tuple[Token, ...]
    notes: tuple[str, ...] = ()
    written: tuple[Token, ...] | None = None
    place: int = -1

    @property
    def read(self) -> tuple[Token, ...]:
        """The tokens at whose positions the model answers: the decoder's where there is one."""
        return self.tokens if self.written is None else self.written

    @property
    def decoder_ids(self) -> list[int] | None:
        """The decoder's tokens as rows of E, or None."""
        return None if self.written is None else [token.id for token in self.written]

    @property
    def ids(self) -> list[int]:
        """The rows of E that are read."""
        return [token.id for token in self.tokens]


def encode(loaded: LoadedModel, text: str, bos: Bos = Bos.DEFAULT, decoder: str = "") -> Prompt:
    """`text` as tokens of this model.

    Args:
        loaded: the model.
        text: what was typed.
        bos: what to do about the mark at the beginning.
        decoder: for a model with a decoder, what it has written so far, after its own first mark.

    Raises:
        PromptRefusal: there is no token to read.
        PromptTooLong: the model has no position for the last ones.
        PromptRefusal: the tokenizer has more tokens than the matrix has rows.
    """
    text = encodable(text)
    with loaded.lock:
        ids = _ids(loaded.tokenizer, text, bos)
        by_default = _ids(loaded.tokenizer, text, Bos.DEFAULT)
    if not ids:
        raise PromptRefusal.empty(loaded.title)
    require_row(max(ids), loaded.embedding.shape[0])
    notes = length_notes(loaded, len(ids))
    notes += _bos_notes(loaded.tokenizer.bos_token_id, ids, by_default)
    notes += _text_notes(text, loaded.tokenizer.unk_token_id, ids)
    written, place = None, len(ids) - 1
    if loaded.kind is ModelKind.SEQ2SEQ:
        answer = [decoder_start(loaded.model), *bare_ids(loaded, decoder)]
        require_row(max(answer), loaded.embedding.shape[0])
        notes += length_notes(loaded, len(answer))
        written = tuple(loaded.vocabulary.tokens(answer))
        place = len(written) - 1
    elif loaded.kind is ModelKind.MASKED:
        place, note = mask_position(ids, loaded.tokenizer.mask_token_id)
        notes += [note] if note else []
    return Prompt(text, tuple(loaded.vocabulary.tokens(ids)), tuple(notes), written, place)


def bare_ids(loaded: LoadedModel, text: str) -> list[int]:
    """The ids of `text` without the marks that the tokenizer puts around a prompt; perhaps none."""
    with loaded.lock:
        found = loaded.tokenizer(encodable(text), add_special_tokens=False, verbose=False)
    return list(found["input_ids"])


def _ids(tokenizer: Any, text: str, bos: Bos) -> list[int]:
    ids = list(tokenizer(text, verbose=False)["input_ids"])
    mark = tokenizer.bos_token_id
    if mark is None or bos is Bos.DEFAULT:
        return ids
    if bos is Bos.ADD:
        return ids if ids[:1] == [mark] else [mark, *ids]
    bare = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    # one that the text itself begins with is text, and stays; so do other marks, such as EOS
    return ids[1:] if _leading(ids, mark) > _leading(bare, mark) else ids


def _leading(ids: list[int], mark: int) -> int:
    """How many times `mark` stands at the beginning."""
    return next((index for index, id in enumerate(ids) if id != mark), len(ids))


def _bos_notes(mark: int | None, ids: list[int], by_default: list[int]) -> list[str]:
    if mark is None:
        return []
    found = _leading(ids, mark)
    if found > 1:
        return [
            f"BOS stands {found} times at the beginning; the model was trained with one. "
            "The text begins with BOS itself: take it out there, or switch BOS to “omit”."
        ]
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


def mask_position(ids: Sequence[int], mask: int | None) -> tuple[int, str]:
    """Where a model that fills gaps is read: at the first mask of its prompt.

    Returns the position, and a sentence where a person should know more: there is no mask, so that
    the last position is read, or there are several.

    Args:
        ids: the prompt.
        mask: the id of the tokenizer's mask, or None.
    """
    masks = [position for position, id in enumerate(ids) if id == mask]
    if not masks:
        return len(ids) - 1, (
            "This model fills gaps, and the prompt has no mask to fill; it is read at its last "
            "position."
        )
    if len(masks) > 1:
        return masks[0], f"The prompt has {len(masks)} masks; the first is read."
    return masks[0], ""


def one_token(loaded: LoadedModel, text: str) -> Token:
    """The one token that `text` is; `id:123` names a row by number.

    Raises:
        NotAToken: the tokenizer makes none or several of it.
        PromptRefusal: the matrix has fewer rows.
    """
    if re.fullmatch(r"id:[0-9]{1,12}", text):
        ids = [int(text[3:])]
    else:
        ids = bare_ids(loaded, text)
    if len(ids) != 1:
        raise NotAToken(encodable(text), len(ids))
    require_row(ids[0], loaded.embedding.shape[0])
    return loaded.vocabulary.token(ids[0])


# The most tokens run past a rotary model's trained length: attention grows with their square.
LONGEST_UNTRAINED = 4096


def most_tokens(loaded: LoadedModel) -> int:
    """The longest sequence that is run here: what the model has positions for, within reason."""
    trained = loaded.positions
    if trained is None:
        return LONGEST_UNTRAINED
    rows = _position_limit(loaded, trained)
    return max(trained, LONGEST_UNTRAINED) if rows is None else rows


def length_notes(loaded: LoadedModel, tokens: int) -> list[str]:
    """What a person should know of an answer to so many tokens, as sentences.

    Raises:
        PromptTooLong: the model has no position for the last ones, or it would take too long.
    """
    trained, most = loaded.positions, most_tokens(loaded)
    if tokens > most:
        learned = trained is not None and _position_limit(loaded, trained) is not None
        has = f"{loaded.title} has a learned vector for each of"
        runs = f"for {loaded.title} the longest that is run here is"
        raise PromptTooLong(tokens, most, has if learned else runs)
    if trained is None or tokens <= trained:
        return []
    return [
        f"{count(tokens)} tokens is past the {count(trained)} this model was trained for: "
        "it still answers, but nothing says how well."
    ]


def _position_limit(loaded: LoadedModel, positions: int) -> int | None:
    """The tokens that a learned table of positions has rows for; None where none is looked up.

    Args:
        loaded: the model.
        positions: the longest sequence it was trained for, as its config states it.
    """
    if "position_limit" in loaded.memo:
        return loaded.memo["position_limit"]
    others = {loaded.model.get_input_embeddings(), loaded.model.get_output_embeddings()}
    usable = [
        # a table with a row for padding counts its positions from the row after that
        module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
        for module in loaded.model.modules()
        if isinstance(module, nn.Embedding)
        and module not in others
        # some tables keep two rows more than positions
        and positions <= module.num_embeddings <= positions + 8
    ]
    limit = min([positions, *usable]) if usable else None
    loaded.memo["position_limit"] = limit
    return limit
