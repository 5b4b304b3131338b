"""Is a model that was loaded what its files hold, and is the library as it was before?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from transformers import PreTrainedModel

from tiedviz.files.facts import ModelFacts
from tiedviz.models.building import intact
from tiedviz.words.refusals.checkpoint import NotALanguageModel
from tiedviz.words.refusals.opening import BrokenLoad, TableElsewhere


def check_loaded(model: PreTrainedModel, facts: ModelFacts, title: str) -> None:
    """Nothing, or a refusal where the library left the model or itself in a state it should not.

    Raises:
        BrokenLoad: numbers lack, one matrix became two, or the library is not as it was.
        NotALanguageModel: nothing in it scores tokens.
        TableElsewhere: E or W is not at hand between two calls.
    """
    waiting = _elsewhere(getattr(model, "hf_device_map", {}))
    on_meta = [
        name
        for name, parameter in model.named_parameters()
        if parameter.is_meta and not name.startswith(waiting)
    ]
    if on_meta:
        raise BrokenLoad(title, f"{len(on_meta)} parameters got no numbers, first {on_meta[0]}")
    head = model.get_output_embeddings()
    if head is None:
        raise NotALanguageModel(title, type(model).__name__)
    if any(getattr(side.weight, "is_meta", False) for side in (model.get_input_embeddings(), head)):
        raise TableElsewhere(title)
    declared = bool(getattr(model.config.get_text_config(), "tie_word_embeddings", False))
    one_matrix = facts.head is None and facts.embedding is not None
    if declared and one_matrix and not _is_a_table(head.weight, model):
        raise BrokenLoad(title, "its one stored matrix came back as two")
    if not intact():
        raise BrokenLoad(title, "transformers was left half way through a load")


def _elsewhere(places: Mapping[str, Any]) -> tuple[str, ...]:
    """How the names begin of what accelerate brings in for a call and keeps on meta meanwhile.

    That is what lies on disk, and where there are accelerators what lies in memory.
    """
    kept = {"disk"} if set(places.values()) <= {"cpu", "disk"} else {"cpu", "disk"}
    return tuple(f"{name}." if name else "" for name, place in places.items() if place in kept)


def _is_a_table(matrix: torch.Tensor, model: PreTrainedModel) -> bool:
    """Whether a matrix is one that tokens are read from: E, or a decoder's own table."""
    tables = [m for m in model.modules() if isinstance(m, torch.nn.Embedding)]
    return any(table.weight is matrix for table in (model.get_input_embeddings(), *tables))
