"""What needs a converted model in the cache: reopening it, and its lens."""

from collections.abc import Iterator

from benchmarks.timing import Row, seconds
from tiedviz.models.loading import load
from tiedviz.models.sources import find_source


def rows() -> Iterator[Row]:
    """Reopening each shelf model that is here, and one whole lens on it."""
    for name, bound in (("smollm2", 1.5), ("gemma-3-270m", 4.0)):
        if find_source(name).files_here() is None:
            yield Row(f"{name}", "not in the cache: python -m tiedviz fetch " + name, "", True)
            continue
        [(wall, _)] = seconds(lambda name=name: load(name))
        yield Row(f"reopening {name}", f"{wall:.2f} s", f"<= {bound:g} s", wall <= bound)
        yield _lens_row(name)


def _lens_row(name: str) -> Row:
    from tiedviz.compute.lens import lens
    from tiedviz.models.prompt import encode

    loaded = load(name)
    ids = encode(loaded, "one two three four five six seven eight nine ten").ids[:12]
    [(wall, _)] = seconds(lambda: lens(loaded, ids))
    return Row(f"whole lens of {name}, {len(ids)} tokens", f"{wall:.2f} s", "", True)
