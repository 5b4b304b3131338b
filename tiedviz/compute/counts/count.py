"""Counting a model: its parts, what tying saves or would save, how often each number is used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from torch import nn
from transformers import PreTrainedModel

from tiedviz.compute.counts import Counts
from tiedviz.models.building import unweighted_model
from tiedviz.models.checkpoint import kind_of
from tiedviz.models.loaded import layers_of, stated
from tiedviz.words.catalogue import PARTS, PartCounts
from tiedviz.words.refusals.count import CountRefusal

_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
_CHOSEN = ("num_experts_per_tok", "top_k_experts", "experts_per_token", "moe_k", "moe_topk")


def count_config(
    config: Mapping[str, Any],
    title: str,
    *,
    kind: str | None = None,
    checkpoint_untied: bool = False,
    while_waiting: Callable[[], None] = lambda: None,
) -> Counts:
    """The counts of a raw config.json. No weights are needed.

    Where config.json says `tie_word_embeddings: false` and the class ties all the same (T5 v1.1,
    Flan-T5, mT5, ByT5 in transformers 5), the released checkpoint holds a head of its own, and it
    is counted.

    Args:
        config: the raw config.json.
        title: what the model is called in a refusal.
        kind: causal, seq2seq, masked or speech; by default what `architectures` names.
        checkpoint_untied: as if config.json said false.
        while_waiting: called while another thread builds a model; may raise.

    Raises:
        CountRefusal, CheckpointRefusal: it cannot be built.
    """
    counts = count_model(unweighted_model(config, title, kind, while_waiting), title)
    declared_untied = checkpoint_untied or config.get("tie_word_embeddings") is False
    return _untied(counts) if counts.tied and declared_untied else counts


def count_model(model: PreTrainedModel, title: str) -> Counts:
    """The counts of a model, with or without weights.

    Raises:
        CountRefusal: it does not read tokens.
    """
    table = _weight(_input(model))
    if table is None:
        raise CountRefusal.no_token_table(title, type(model).__name__)
    scoring = _weight(model.get_output_embeddings())
    tied = scoring is table
    parts = PartCounts(**count_parts(model, table, None if tied else scoring))
    rows, width = table.shape
    return Counts(
        architecture=type(model).__name__,
        kind=kind_of(model),
        V=rows,
        d=width,
        layers=layers_of(model.config),
        head_shape=None if scoring is None else (scoring.shape[0], scoring.shape[1]),
        tied=tied,
        parts=parts,
        listed=sum(tensor.numel() for tensor in model.state_dict().values()),
        used=_used(model) + (table.numel() if tied else 0),
    )


def _untied(counts: Counts) -> Counts:
    """The same model with a matrix of its own for the output; it was used twice already."""
    parts = replace(counts.parts, head=counts.V * counts.d)
    return replace(counts, tied=False, parts=parts)


def _input(model: PreTrainedModel) -> Any:
    try:
        return model.get_input_embeddings()
    except NotImplementedError:
        return None


def _weight(module: Any) -> nn.Parameter | None:
    weight = getattr(module, "weight", None)
    return weight if isinstance(weight, nn.Parameter) and weight.dim() == 2 else None


def _used(model: PreTrainedModel) -> int:
    """Every distinct number as often as one forward pass uses it, a tied table once."""
    config = model.config.get_text_config()
    groups, layers = getattr(config, "num_hidden_groups", None), layers_of(config)
    calls = layers // groups if groups and layers else 1  # of each stored block (ALBERT)
    experts, chosen = stated(config, _EXPERTS), stated(config, _CHOSEN)
    total = 0
    for name, _, parameter in distinct_parameters(model):
        numbers = parameter.numel()
        if experts and chosen and ".experts." in name:
            numbers = numbers * min(chosen, experts) // experts
        total += numbers * (calls if "layer_groups." in name else 1)
    return total


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
