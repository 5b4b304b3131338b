"""Counting a model: its parts, what tying saves or would save, how often each number is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from torch import nn
from transformers import PretrainedConfig, PreTrainedModel

from tiedviz.compute.counts.counts import Counts
from tiedviz.compute.counts.roles import count_parts, distinct_parameters
from tiedviz.models.building import unweighted_model
from tiedviz.models.checkpoint import kind_of
from tiedviz.models.loaded import layers_of, stated
from tiedviz.words.parts import PartCounts
from tiedviz.words.refusals.count import NoTokenTable

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
        NoTokenTable: it does not read tokens.
    """
    table = _weight(_input(model))
    if table is None:
        raise NoTokenTable(title, type(model).__name__)
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
    calls = _calls_of_a_shared_block(config)
    experts, chosen = stated(config, _EXPERTS), stated(config, _CHOSEN)
    total = 0
    for name, _, parameter in distinct_parameters(model):
        numbers = parameter.numel()
        if experts and chosen and ".experts." in name:
            numbers = numbers * min(chosen, experts) // experts
        total += numbers * (calls if "layer_groups." in name else 1)
    return total


def _calls_of_a_shared_block(config: PretrainedConfig) -> int:
    """How often each stored block is called, in models that share blocks (ALBERT)."""
    groups, layers = getattr(config, "num_hidden_groups", None), layers_of(config)
    return layers // groups if groups and layers else 1
