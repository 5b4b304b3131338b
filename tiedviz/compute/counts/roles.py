"""To which part of a model does a parameter belong? Told by its module's class and its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from torch import nn

from tiedviz.words.parts import PARTS

_NORM = re.compile(r"norm", re.IGNORECASE)
_POSITIONS = re.compile(
    r"position|pos_emb|wpe|token_type|relative_attention_bias|rel_emb", re.IGNORECASE
)
_ATTENTION = re.compile(r"att(n|ention)|mixer|\bssm\b|mamba|recurrent", re.IGNORECASE)
_FEED_FORWARD = re.compile(
    r"mlp|ffn|feed_?forward|densereludense|intermediate|expert|router|\bmoe\b|\bfc\w*\d?\b"
    r"|\boutput\.dense|\b(gate|up|down)_proj|\blin(ear)?_?[12]\b",
    re.IGNORECASE,
)
_IN_A_BLOCK = re.compile(r"\.\d+\.")


def count_parts(model: nn.Module, table: nn.Parameter, head: nn.Parameter | None) -> dict[str, int]:
    """Part → numbers in it, each shared parameter once; the keys are those of `PARTS`.

    Args:
        model: the whole model.
        table: E.
        head: W where it is another matrix than E, else None.
    """
    found: Counter[str] = Counter()
    for name, module, parameter in distinct_parameters(model):
        if parameter is table:
            part = "embedding"
        elif parameter is head:
            part = "head"
        else:
            part = _part(name, module, rows=table.shape[0])
        found[part] += parameter.numel()
    total = sum(parameter.numel() for parameter in set(model.parameters()))
    assert found.total() == total, f"parts add up to {found.total():,}, the model has {total:,}"
    return {part: found[part] for part in PARTS}


def distinct_parameters(model: nn.Module) -> Iterator[tuple[str, nn.Module, nn.Parameter]]:
    """Name, owner and parameter; one that has several names comes once, under the first."""
    seen: set[int] = set()
    for path, module in model.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            if id(parameter) not in seen:
                seen.add(id(parameter))
                yield f"{path}.{name}", module, parameter


def _part(name: str, module: nn.Module, rows: int) -> str:
    """The part of a parameter that is neither E nor W. The first that fits.

    A further table with a row for each token is no table of positions.
    """
    if _NORM.search(type(module).__name__):
        return "norms"
    if _POSITIONS.search(name):
        return "positions"
    if isinstance(module, nn.Embedding):
        return "other" if module.num_embeddings == rows else "positions"
    if _ATTENTION.search(name):
        return "attention"
    if _FEED_FORWARD.search(name) and _IN_A_BLOCK.search(name):
        return "feed_forward"
    return "other"
