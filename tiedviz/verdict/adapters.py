"""Does an adapter (LoRA or similar) sit on the input or the output matrix?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from tiedviz.files.access import StrPath, is_file
from tiedviz.files.config import ADAPTER_CONFIG, CONFIG_LIMIT, read_object
from tiedviz.files.header import StoredTensor
from tiedviz.files.roles import ADAPTER_MARKS, EMBEDDINGS, HEADS, POSSIBLE_HEADS

_ADAPTER = (
    r"\.(lora_\w+|modules_to_save|oft_\w+|boft_\w+|hada_\w+|lokr_\w+|ia3_\w+|vera_\w+"
    r"|trainable_tokens_\w+|token_adapter)(\.|$)"
)
_LAYERS = (*EMBEDDINGS, *HEADS, *POSSIBLE_HEADS)


def adapter_layers(tensors: Iterable[StoredTensor]) -> tuple[str, ...]:
    """Layers of E or W that have adapter tensors beside them."""
    names = [tensor.name for tensor in tensors]
    together = "\n".join(names)
    if not any(mark in together for mark in ADAPTER_MARKS):
        return ()  # as most models; the expression takes its time to compile, and to search
    found = dict.fromkeys(
        name[: match.start()] for name in names if (match := re.search(_ADAPTER, name))
    )
    return tuple(layer for layer in found if _is_table(layer))


def adapter_targets(folder: StrPath) -> tuple[str, ...]:
    """Layers of E or W that an adapter_config.json beside the weights is meant for."""
    path = os.path.join(folder, ADAPTER_CONFIG)
    if not is_file(path):
        return ()
    config = read_object(path, CONFIG_LIMIT)
    named: list[str] = []
    for key in ("target_modules", "modules_to_save", "trainable_token_indices"):
        value = config.get(key)
        if isinstance(value, list | dict):
            named += [layer for layer in value if isinstance(layer, str)]
    return tuple(layer for layer in dict.fromkeys(named) if _is_table(layer))


def _is_table(layer: str) -> bool:
    if re.search(r"\.\d+\.", layer):
        return False
    return any(layer == end or layer.endswith(f".{end}") for end in _LAYERS)
