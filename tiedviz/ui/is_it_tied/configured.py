"""Where tying is configured: the class, the field, the file in the installed library."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel


def three_lines(loaded: LoadedModel) -> str:
    """The class with its tied keys, the config field, the file in the installed library."""
    kind = type(loaded.model)
    keys = getattr(kind, "_tied_weights_keys", None)
    flag = getattr(loaded.model.config.get_text_config(), "tie_word_embeddings", None)
    return (
        f"{kind.__name__}._tied_weights_keys = {keys}\n"
        f"model.config.tie_word_embeddings == {flag}\n"
        f"# {_written_at(kind)}"
    )


def _written_at(kind: type) -> str:
    """`transformers/…/modeling_gpt2.py, line 690`: where a class is written.

    `inspect.getsourcelines` is not asked: it parses the whole file through a cache of lines that
    all threads share, and failed once while eight visitors were served at the same time.
    """
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    shown = kind.__module__.replace(".", "/") + ".py"  # never the folder it is installed in
    if file is None:
        return shown
    source = Path(file).read_text(encoding="utf-8")
    found = re.search(rf"^class {kind.__name__}\b", source, re.MULTILINE)
    return f"{shown}, line {source.count(chr(10), 0, found.start()) + 1}" if found else shown
