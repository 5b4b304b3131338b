"""What is read, and what each position is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from tiedviz.models.loaded import LoadedModel, ModelKind, decoder_start
from tiedviz.models.prompt import Bos, encode, mask_position
from tiedviz.words.refusals.gradient import NothingToPredict, SentenceTooLong
from tiedviz.words.refusals.prompt import EmptyPrompt, require_row
from tiedviz.words.tokens import Token, encodable

# Each position holds three to four rows of V numbers until the way back: at 262,144 tokens this
# many take about a gigabyte.
LONGEST = 256


@dataclass(frozen=True)
class Sentence:
    """A text as a task: tokens in, tokens asked for.

    Attributes:
        text: what was typed.
        tokens: what the text was cut into.
        ids: the rows that are read by the model (by its encoder, where it has one).
        decoder_ids: the rows its decoder reads, or None.
        target: the text the decoder is asked for; empty without a decoder.
        targets: the token asked for at each of the n positions whose loss enters the mean.
        words: how the loss is taken, as a sentence.
        notes: what a person should know besides.
    """

    text: str
    tokens: tuple[Token, ...]
    ids: tuple[int, ...]
    decoder_ids: tuple[int, ...] | None
    target: str
    targets: tuple[int, ...]
    words: str
    notes: tuple[str, ...] = ()

    @property
    def read(self) -> tuple[int, ...]:
        """All lookups, by the encoder and the decoder."""
        return self.ids + (self.decoder_ids or ())


def sentence_of(
    loaded: LoadedModel, text: str, bos: Bos = Bos.DEFAULT, target: str = ""
) -> Sentence:
    """The task that `text` is for this kind of model.

    A causal model is asked at each token for the next one. A masked model is asked at each position
    for the token that stands there, with nothing hidden. An encoder–decoder model reads the text
    and is asked, token by token, for `target`, or where that is empty for the text itself.

    Raises:
        EmptyPrompt, PromptTooLong, NoSuchRow: as `models.prompt.encode`.
        NothingToPredict: a causal model and one token.
        SentenceTooLong: more than `LONGEST` tokens.
        NoAnswerBegun: nothing says how an answer of this encoder–decoder model begins.
    """
    prompt = encode(loaded, text, bos)
    ids = tuple(prompt.ids)
    _require_length(len(ids))
    if loaded.kind is ModelKind.SEQ2SEQ:
        wanted = target or prompt.text
        answer = _target_ids(loaded, wanted)
        begun = (decoder_start(loaded.model), *answer[:-1])
        return Sentence(
            prompt.text, prompt.tokens, ids, begun, wanted, answer,
            "The encoder reads the text; the decoder is asked for "
            + ("the text below" if target else "the same text")
            + ", at each position for the next token.", prompt.notes,
        )  # fmt: skip
    if loaded.kind is ModelKind.MASKED:
        about_masks = mask_position(ids, loaded.tokenizer.mask_token_id)[1]
        return Sentence(
            prompt.text, prompt.tokens, ids, None, "", ids,
            "This model fills gaps. Nothing is hidden here: each position is asked for the token "
            "that stands there, an easier task than the one it was trained on.",
            tuple(note for note in prompt.notes if note != about_masks),
        )  # fmt: skip
    if len(ids) == 1:
        raise NothingToPredict(prompt.tokens[0].shown)
    return Sentence(
        prompt.text, prompt.tokens, ids[:-1], None, "", ids[1:],
        "Each token is asked for the next one; the last is only asked for.", prompt.notes,
    )  # fmt: skip


def _target_ids(loaded: LoadedModel, text: str) -> tuple[int, ...]:
    """The tokens the decoder is asked for, with the marks its tokenizer puts around a target."""
    with loaded.lock:
        ids = tuple(loaded.tokenizer(text_target=encodable(text), verbose=False)["input_ids"])
    if not ids:
        raise EmptyPrompt(loaded.title)
    _require_length(len(ids))
    require_row(max(ids), loaded.scoring_matrix.shape[0])
    return ids


def _require_length(tokens: int) -> None:
    if tokens > LONGEST:
        raise SentenceTooLong(tokens, LONGEST)
