"""How axes are labelled: names by row, parts in per cent, counts in M and B."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import altair as alt

PERCENT_LABEL = "format(datum.value * 100, '.3~g') + ' %'"

# d3 would print 10⁹ as "1G".
SIZE_LABEL = (
    "datum.value == 0 ? '0' : datum.value >= 1e12 ? datum.value/1e12 + 'T' : "
    "datum.value >= 1e9 ? datum.value/1e9 + 'B' : "
    "datum.value >= 1e6 ? datum.value/1e6 + 'M' : datum.value/1e3 + 'k'"
)


def names_axis(limit: int, names: Sequence[str] | None = None, **options: Any) -> alt.Axis:
    """An axis of rows that shows a name for each, so that two of one name stay two rows.

    Args:
        limit: of a name, in pixels.
        names: of rows numbered from 0; None: rows are numbered from 1, and the names are the
            parameter `names` of a template.
        options: further properties of the axis.
    """
    if names is None:
        expression = "names[datum.value - 1]"
        options.setdefault("labelFlush", False)
    else:
        expression = f"{json.dumps(list(names))}[datum.value]"
    return alt.Axis(
        labelExpr=expression,
        labelLimit=limit,
        labelOverlap=False,
        title=None,
        ticks=False,
        domain=False,
        **options,
    )
