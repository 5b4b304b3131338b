"""Finding, fetching, converting and opening models.

`load(source)` is the one way to open a model. It comes in late, so that importing this package
needs no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiedviz.models.loading import load

__all__ = ["load"]


def __getattr__(name: str) -> Any:
    if name == "load":
        from tiedviz.models.loading import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
