"""Could this configuration be built at all? Asked before anything is. Needs no torch.

Building on the meta device costs no memory for weights, but every layer is a Python object, and
some configuration classes make a list as long as the number they are given. So each number has a
bound by what its key names; what slips through is stopped while it is built, to be counted
(`models/unweighted.py`) or to be opened (`models/loading.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tiedviz.files.config import dimensions
from tiedviz.words.refusals.count import CountRefusal

MAX_PARAMETERS = 10_000_000_000_000  # ten times the largest model anybody has described
MAX_TENSORS = 12_000  # about a second of building; the largest real models have some thousands

# The first that matches the end of a key decides.
_LIMITS = (
    (re.compile(r"(layers?|blocks?|depths?|stages?|groups?)$"), 1_000),
    (re.compile(r"experts?$"), 10_000),
    (re.compile(r"(labels|heads?)$"), 1_000_000),
    (re.compile(r"vocab|n_words|num_embeddings"), 100_000_000),
    (re.compile(r"position|ctx|seq|context|theta|base|length|window"), 1_000_000_000_000),
    (re.compile(r"hidden|size|dim|width|d_|embd|inner|rank"), 10_000_000),
    (re.compile(r""), 1_000_000_000_000),
)
_SHOWN_DIGITS = 20


def check_bounds(config: Mapping[str, object], title: str) -> None:
    """Nothing, or a refusal where a number of the configuration is beyond anything real.

    Args:
        config: the raw config.json; nested configurations are checked as well.
        title: what the model is called in a refusal.

    Raises:
        CountRefusal: one number is.
        CountRefusal: V·d and d² for each layer already add up to too much.
    """
    for path, value in _whole_numbers(config, ""):
        limit = _limit(path.rpartition(".")[2])
        if abs(value) > limit:
            raise CountRefusal.size_out_of_bounds(title, path, _shown(value), limit)
    sizes = dimensions(config)
    width = sizes.d_model or 0
    if (sizes.vocab_size or 0) * width + (sizes.layers or 0) * width**2 > MAX_PARAMETERS:
        raise CountRefusal.too_many_parameters(title, MAX_PARAMETERS)


def _limit(key: str) -> int:
    return next(limit for pattern, limit in _LIMITS if pattern.search(key))


def _shown(value: int) -> str:
    """The number, or how long it is: Python will not print thousands of digits."""
    if abs(value) < 10**_SHOWN_DIGITS:
        return f"{value:,}"
    return f"a number of more than {_SHOWN_DIGITS} digits"


def _whole_numbers(value: object, path: str) -> Iterator[tuple[str, int]]:
    """Every whole number inside, with the dotted keys that lead to it; a list has its key's name.

    `read_config` and `parse_config` have refused what is nested too deep.
    """
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _whole_numbers(part, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for part in value:
            yield from _whole_numbers(part, path)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield path, value
    elif isinstance(value, float) and value.is_integer() and abs(value) < 1e18:
        yield path, int(value)
