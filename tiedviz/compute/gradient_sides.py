"""The names under which the live model reads a matrix, and the one under which it scores."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.gradient import NotAllInMemory, NotDifferentiable, SidesNotSeparate
from tiedviz.words.refusals.model import HeadMissing

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
        HeadMissing: a table was not in the files, so that it is random.
        NotAllInMemory, NotDifferentiable: no gradient can flow.
        SidesNotSeparate: the model does not read tokens, or has no such parameters.
    """
    model = loaded.model
    if random := loaded.random_tables:
        raise HeadMissing(loaded.title, random)
    _require_differentiable(loaded)
    reads = getattr(model, "main_input_name", "input_ids")
    if reads != "input_ids":
        raise SidesNotSeparate(loaded.title, f"it reads {reads}, not tokens")
    head = model.get_output_embeddings()
    modules = model.named_modules(remove_duplicate=False)
    inside = tuple(f"{name}." for name, module in modules if module is head and name)
    named = list(model.named_parameters(remove_duplicate=False))
    W, E = loaded.scoring_matrix, loaded.embedding
    scored = tuple(name for name, parameter in named if parameter is W and name.startswith(inside))
    also_read = tuple(name for name, parameter in named if parameter is W and name not in scored)
    read = also_read or tuple(name for name, parameter in named if parameter is E)
    if not scored or not read:
        raise SidesNotSeparate(loaded.title, "its tables are no parameters of their own")
    return Sides(read, scored, W if also_read else E, W)


def _require_differentiable(loaded: LoadedModel) -> None:
    named = list(loaded.model.named_parameters())
    if absent := [name for name, parameter in named if parameter.is_meta]:
        raise NotAllInMemory(loaded.title, absent)
    for name, parameter in named:
        plain = type(parameter) is nn.Parameter and parameter.dtype in _PLAIN
        if not plain:
            held = str(parameter.dtype).removeprefix("torch.")
            special = type(parameter) is not nn.Parameter
            raise NotDifferentiable(
                loaded.title, name, f"{type(parameter).__name__} ({held})" if special else held
            )
