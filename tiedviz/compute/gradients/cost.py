"""What a split takes, said before it is begun: seconds and bytes."""

from __future__ import annotations

import time

import torch

from tiedviz.compute.gradients.sentence import Sentence
from tiedviz.compute.gradients.sides import Sides
from tiedviz.models.loaded import LoadedModel
from tiedviz.models.memory import HEADROOM, available_memory
from tiedviz.words.refusals.gradient import GradientTooLarge

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
        GradientTooLarge: with what is needed and what is free.
    """
    needed, free = bytes_needed(loaded, sides, sentence) + HEADROOM // 4, available_memory()
    if needed > free:
        raise GradientTooLarge(loaded.title, needed, free)


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
