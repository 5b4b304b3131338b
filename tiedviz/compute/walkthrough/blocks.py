"""The blocks between the two ends: how many, whether they share weights, what that costs."""

from __future__ import annotations

from dataclasses import dataclass

from tiedviz.compute.unembedding import unembedding_of
from tiedviz.models.loaded import LoadedModel


@dataclass(frozen=True)
class Blocks:
    """The blocks on the way to the output matrix.

    Attributes:
        calls: L, how many times a state passes a block.
        modules: how many different modules those are.
        parameters: of all of them, each shared number once.
        largest: of the largest one: what would be left if one were called L times.
    """

    calls: int
    modules: int
    parameters: int
    largest: int

    @property
    def shared(self) -> bool:
        """Whether some block is called more than once."""
        return self.modules < self.calls


def blocks_of(loaded: LoadedModel) -> Blocks | None:
    """The blocks, or None where the way through this model was not reproduced."""
    path = unembedding_of(loaded).path
    if path is None:
        return None
    modules = list(dict.fromkeys(path.blocks))
    everything = {parameter for module in modules for parameter in module.parameters()}
    return Blocks(
        calls=len(path.blocks),
        modules=len(modules),
        parameters=sum(parameter.numel() for parameter in everything),
        largest=max(sum(each.numel() for each in module.parameters()) for module in modules),
    )
