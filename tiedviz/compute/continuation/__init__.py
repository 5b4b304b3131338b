"""A prompt continued, token by token, with the probability of each token.

The most probable token each time (greedy), or one that is drawn. The same as the library's
`generate` without penalties; written out here so that every step can be shown, timed and stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tiedviz.compute.continuation.stepping import Stepper
from tiedviz.compute.forward import has_decoder, sequence_read, within_length
from tiedviz.models.loaded import LoadedModel, ModelKind
from tiedviz.models.prompt import most_tokens
from tiedviz.words.refusals.continuation import ContinuationRefusal
from tiedviz.words.refusals.prompt import PromptTooLong

LONGEST = 200
"""The most tokens one continuation may have."""


@dataclass(frozen=True)
class Way:
    """How the next token is chosen.

    Attributes:
        sampled: drawn, instead of always the most probable.
        temperature: logits are divided by it before a draw.
        top_p: only the most probable tokens that together reach it are drawn from (nucleus
            sampling, Holtzman et al. 2019); 1 is all of them.
        seed: of the draws. The n-th draw depends on it and on n alone.
    """

    sampled: bool = False
    temperature: float = 1.0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.temperature <= 100:
            raise ContinuationRefusal.out_of_range(
                "The temperature", self.temperature, "above 0 and at most 100"
            )
        if not 0 < self.top_p <= 1:
            raise ContinuationRefusal.out_of_range("Top-p", self.top_p, "above 0 and at most 1")
        if self.seed < 0:
            raise ContinuationRefusal.out_of_range("The seed", self.seed, "0 or more")


GREEDY = Way()


@dataclass(frozen=True)
class Written:
    """One token that the model wrote.

    Attributes:
        id: its row.
        probability: what the model gives it, at temperature 1 over all V.
        drawn: its probability in what it was drawn from, after temperature and top-p; the same as
            `probability` where nothing was drawn.
        rank: its place among all V by logit, 1 is the most probable.
        ends: whether it is a mark that ends the text.
    """

    id: int
    probability: float
    drawn: float
    rank: int
    ends: bool


def continued(
    loaded: LoadedModel,
    ids: Sequence[int],
    *,
    decoder_ids: Sequence[int] | None = None,
    way: Way = GREEDY,
    written: Sequence[int] = (),
    most: int = 20,
) -> Iterator[Written]:
    """The tokens that follow a prompt, each as soon as it is known.

    It ends at the mark that ends a text, at `most` tokens, or where the model can read no more. The
    model's lock is held for one token at a time.

    Args:
        loaded: the model.
        ids: the prompt.
        decoder_ids: the answer so far, for a model with a decoder, which goes on with that.
        way: greedy or sampled.
        written: tokens of this continuation that are known already; it goes on after them.
        most: the most tokens of the continuation, `written` among them.

    Raises:
        ContinuationRefusal: a model that fills gaps.
        ModelRefusal: its output matrix is random.
        ContinuationRefusal: `most` is below 1 or above `LONGEST`.
    """
    if loaded.kind is ModelKind.MASKED:
        raise ContinuationRefusal.fills_gaps(loaded.title)
    if not 1 <= most <= LONGEST:
        raise ContinuationRefusal.out_of_range("The number of tokens", most, f"from 1 to {LONGEST}")
    return _tokens(loaded, list(ids), decoder_ids, way, list(written), most)


def _tokens(
    loaded: LoadedModel,
    ids: list[int],
    decoder_ids: Sequence[int] | None,
    way: Way,
    written: list[int],
    most: int,
) -> Iterator[Written]:
    read = list(sequence_read(loaded.model, ids, decoder_ids))
    draws = np.random.default_rng(way.seed).random(most)
    ends, limit = ending_ids(loaded), most_tokens(loaded)
    stepper = Stepper(loaded, ids if has_decoder(loaded.model) else None)
    while len(written) < most and len(read) + len(written) <= limit:
        with loaded.lock:
            try:
                with within_length(loaded, len(read) + len(written)):
                    logits = stepper.logits([*read, *written])
            except PromptTooLong:
                return  # tables of computed positions end without saying so
        token = choose(logits, way, float(draws[len(written)]), ends)
        written.append(token.id)
        yield token
        if token.ends:
            return


def choose(logits: torch.Tensor, way: Way, draw: float, ends: frozenset[int]) -> Written:
    """One token from the logits of one position, (V,).

    Args:
        logits: the model's own.
        way: greedy or sampled.
        draw: a number from 0 up to 1; where it falls on the added up probabilities, from the most
            probable token on, is the token that is drawn.
        ends: ids that end a text.
    """
    plain = torch.softmax(logits.double(), 0)
    if not way.sampled:
        id = int(logits.argmax())
        return Written(id, float(plain[id]), float(plain[id]), 1, id in ends)
    warm = torch.softmax(logits.double() / way.temperature, 0)
    values, order = warm.sort(descending=True, stable=True)
    up_to = values.cumsum(0)
    # the token that crosses top-p is still in: the fewest that together reach it
    kept = min(len(values), int((up_to < way.top_p).sum()) + 1)
    place = int(torch.searchsorted(up_to[:kept], draw * float(up_to[kept - 1]), right=True))
    place = min(place, kept - 1)
    id = int(order[place])
    rank = int((logits > logits[id]).sum()) + 1
    drawn = float(values[place] / up_to[kept - 1])
    return Written(id, float(plain[id]), drawn, rank, id in ends)


def ending_ids(loaded: LoadedModel) -> frozenset[int]:
    """The ids that end a text, as the generation config, the config and the tokenizer say."""
    said: list[Any] = [loaded.tokenizer.eos_token_id]
    for config in (getattr(loaded.model, "generation_config", None), loaded.model.config):
        said.append(getattr(config, "eos_token_id", None))
    flat = [id for each in said for id in (each if isinstance(each, list) else [each])]
    return frozenset(id for id in flat if isinstance(id, int))


@dataclass(frozen=True)
class Continuation:
    """What a model wrote after a prompt, so far.

    Attributes:
        tokens: in order; the mark that ended the text is the last, where there is one.
    """

    tokens: tuple[Written, ...] = ()

    @property
    def ids(self) -> list[int]:
        """Their rows."""
        return [token.id for token in self.tokens]

    @property
    def ended(self) -> bool:
        """Whether the model ended the text by itself."""
        return bool(self.tokens) and self.tokens[-1].ends

    @property
    def text_ids(self) -> list[int]:
        """The rows without the mark that ended the text."""
        return self.ids[:-1] if self.ended else self.ids


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
