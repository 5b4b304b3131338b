"""What is asked of the model before a gradient: which text, under which names, at what cost."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
from torch import nn

from tiedviz.models.loaded import LoadedModel, ModelKind, decoder_start
from tiedviz.models.memory import HEADROOM, available_memory
from tiedviz.models.prompt import Bos, encode, mask_position
from tiedviz.words.refusals.gradient import GradientRefusal
from tiedviz.words.refusals.prompt import PromptRefusal, require_row
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
        PromptRefusal, PromptTooLong: as `models.prompt.encode`.
        GradientRefusal: a causal model and one token, or more than `LONGEST` tokens.
        PromptRefusal: nothing says how an answer of this encoder–decoder model begins.
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
        raise GradientRefusal.nothing_to_predict(prompt.tokens[0].shown)
    return Sentence(
        prompt.text, prompt.tokens, ids[:-1], None, "", ids[1:],
        "Each token is asked for the next one; the last is only asked for.", prompt.notes,
    )  # fmt: skip


def _target_ids(loaded: LoadedModel, text: str) -> tuple[int, ...]:
    """The tokens the decoder is asked for, with the marks its tokenizer puts around a target."""
    with loaded.lock:
        ids = tuple(loaded.tokenizer(text_target=encodable(text), verbose=False)["input_ids"])
    if not ids:
        raise PromptRefusal.empty(loaded.title)
    _require_length(len(ids))
    require_row(max(ids), loaded.scoring_matrix.shape[0])
    return ids


def _require_length(tokens: int) -> None:
    if tokens > LONGEST:
        raise GradientRefusal.too_long(tokens, LONGEST)


_PLAIN = (torch.float32, torch.bfloat16, torch.float16, torch.float64)


@dataclass(frozen=True)
class Sides:
    """Where the two jobs are done.

    Attributes:
        read: names of the parameter that is looked up.
        scored: names of the one that the output matrix multiplies by.
        reads: the tensor behind `read`, (V, d).
        scores: the one behind `scored`; the same tensor where the two jobs share one.
    """

    read: tuple[str, ...]
    scored: tuple[str, ...]
    reads: torch.Tensor
    scores: torch.Tensor

    @property
    def tied(self) -> bool:
        """Whether one matrix does both jobs."""
        return self.reads is self.scores


def sides_of(loaded: LoadedModel) -> Sides:
    """Found by identity in the live model, whatever its modules are called.

    Where the output matrix is also looked up, that matrix is taken: in a model whose encoder has a
    table of its own, it is the decoder's that does both jobs.

    Raises:
        ModelRefusal: a table was not in the files, so that it is random.
        GradientRefusal: no gradient can flow; or the model does not read tokens, or its tables are
            no parameters.
    """
    model = loaded.model
    _require_differentiable(loaded)
    reads = getattr(model, "main_input_name", "input_ids")
    if reads != "input_ids":
        raise GradientRefusal.sides_not_separate(loaded.title, f"it reads {reads}, not tokens")
    head = model.get_output_embeddings()
    modules = model.named_modules(remove_duplicate=False)
    inside = tuple(f"{name}." for name, module in modules if module is head and name)
    named = list(model.named_parameters(remove_duplicate=False))
    W, E = loaded.scoring_matrix, loaded.embedding
    scored = tuple(name for name, parameter in named if parameter is W and name.startswith(inside))
    also_read = tuple(name for name, parameter in named if parameter is W and name not in scored)
    read = also_read or tuple(name for name, parameter in named if parameter is E)
    if not scored or not read:
        reason = "its tables are no parameters of their own"
        raise GradientRefusal.sides_not_separate(loaded.title, reason)
    return Sides(read, scored, W if also_read else E, W)


def _require_differentiable(loaded: LoadedModel) -> None:
    named = list(loaded.model.named_parameters())
    if absent := [name for name, parameter in named if parameter.is_meta]:
        raise GradientRefusal.not_all_in_memory(loaded.title, absent)
    for name, parameter in named:
        plain = type(parameter) is nn.Parameter and parameter.dtype in _PLAIN
        if not plain:
            held = str(parameter.dtype).removeprefix("torch.")
            special = type(parameter) is not nn.Parameter
            raise GradientRefusal.not_differentiable(
                loaded.title, name, f"{type(parameter).__name__} ({held})" if special else held
            )


_PROBE_ROWS = 8192
_SECONDS = "gradient seconds"


def bytes_needed(loaded: LoadedModel, sides: Sides, sentence: Sentence) -> int:
    """An upper estimate of the memory at the worst moment, beyond what the model holds.

    Gradients: autograd adds its own up from two into a third, or holds two where there are two
    matrices, and the output side stands beside what is left. Logits: what goes
    in and out of the softmax on the way there and back. States: what goes in and out of each matrix
    is kept for the way back, and with it about as much again by norms and activations.
    """
    gradients = 2 * sides.scores.nbytes + sides.reads.nbytes
    length = max(len(sentence.ids), len(sentence.targets))
    logits = 4 * 4 * len(sentence.targets) * sides.scores.shape[0]
    tables = {sides.reads, sides.scores}
    widths = sum(
        sum(parameter.shape)
        for parameter in loaded.model.parameters()
        if parameter.dim() == 2 and parameter not in tables
    )
    heads = getattr(loaded.model.config.get_text_config(), "num_attention_heads", None)
    scores = length * length * (heads if isinstance(heads, int) else 32) * (loaded.layers or 1)
    return int(gradients + logits + 4 * (2 * length * widths + 2 * scores))


def require_room(loaded: LoadedModel, sides: Sides, sentence: Sentence) -> None:
    """Nothing, or a refusal.

    Raises:
        GradientRefusal: with what is needed and what is free.
    """
    needed, free = bytes_needed(loaded, sides, sentence) + HEADROOM // 4, available_memory()
    if needed > free:
        raise GradientRefusal.too_large(loaded.title, needed, free)


def seconds_needed(loaded: LoadedModel, sides: Sides, sentence: Sentence) -> float:
    """About how long it will take: from an earlier split of this model, else from a small product.

    Each weight takes part in one product there and one back; the output matrix also in the one that
    gives its own gradient; and all that twice.
    """
    length = len(sentence.read)
    with loaded.lock:
        if _SECONDS in loaded.memo:
            seconds, then = loaded.memo[_SECONDS]
            return float(seconds * max(1.0, length / then))
        each = _seconds_a_weight(sides.scores, length)
    body = loaded.parameters - sides.scores.numel() - (0 if sides.tied else sides.reads.numel())
    return each * (4 * body + 10 * sides.scores.numel())


def _seconds_a_weight(matrix: torch.Tensor, length: int) -> float:
    """Of one product of `length` states with some rows of the matrix."""
    rows = matrix.detach()[:_PROBE_ROWS]
    states = torch.ones(length, rows.shape[1], dtype=rows.dtype, device=rows.device)
    taken = []
    for _ in range(3):
        begun = time.perf_counter()
        torch.mm(states, rows.T)
        taken.append(time.perf_counter() - begun)
    return min(taken) / rows.numel()


def remember_seconds(loaded: LoadedModel, sentence: Sentence, seconds: float) -> None:
    """Keep how long the quickest split a token took, for the next estimate: others were held up."""
    length = len(sentence.read)
    before = loaded.memo.get(_SECONDS)
    if before is None or seconds / length < before[0] / before[1]:
        loaded.memo[_SECONDS] = (seconds, length)
