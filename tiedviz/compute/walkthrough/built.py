"""Both versions of the two ends, built in PyTorch: two matrices, and then one."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class Built:
    """One version, after it was run once.

    Attributes:
        input_shape: of the embedding's weight.
        output_shape: of the output layer's weight, as PyTorch stores it.
        logits_shape: of what came out.
        parameters: each shared number once.
        same: whether `head.weight is embedding.weight`.
    """

    input_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    logits_shape: tuple[int, ...]
    parameters: int
    same: bool


CODE = """\
embedding = nn.Embedding(V, d)
head = nn.Linear(d, V, bias=False)
logits = head(embedding(ids))         # untied
head.weight = embedding.weight        # tied
logits = head(embedding(ids))"""


def build_both(V: int, d: int, *, tokens: int = 5, device: str = "cpu") -> tuple[Built, Built]:
    """Untied, and the same tied; run on `tokens` IDs. Blocks would stand between, d to d.

    Args:
        V: rows.
        d: width.
        tokens: how many IDs are read.
        device: "meta" gives shapes and counts without memory, whatever the size.
    """
    # the default dtype is the process's, and somebody may be opening a model just now
    with torch.inference_mode():
        ids = torch.zeros(1, tokens, dtype=torch.long, device=device)
        embedding = nn.Embedding(V, d, dtype=torch.float32, device=device)
        head = nn.Linear(d, V, bias=False, dtype=torch.float32, device=device)
        untied = _run(embedding, head, ids)
        head.weight = embedding.weight
        return untied, _run(embedding, head, ids)


def _run(embedding: nn.Embedding, head: nn.Linear, ids: torch.Tensor) -> Built:
    logits = head(embedding(ids))
    return Built(
        input_shape=tuple(embedding.weight.shape),
        output_shape=tuple(head.weight.shape),
        logits_shape=tuple(logits.shape),
        parameters=sum(each.numel() for each in {embedding.weight, head.weight}),
        same=head.weight is embedding.weight,
    )
