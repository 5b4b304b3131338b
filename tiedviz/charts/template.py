"""Charts that are specified once and filled again and again.

Altair takes longer to write and check a specification than a page takes for all else, and for one
kind of chart it writes the same each time but for the rows and a few values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

_ROWS = "rows"


@dataclass(frozen=True)
class FilledChart:
    """A specification, and what is put into it.

    Attributes:
        specification: from `specified`; shared, never changed.
        rows: what is drawn.
        values: of the specification's variable parameters, by name.
    """

    specification: Mapping[str, Any]
    rows: pd.DataFrame
    values: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Vega-Lite as `st.vega_lite_chart` takes it, with a data frame in `datasets`."""
        parameters = [
            {**parameter, "value": self.values[parameter["name"]]}
            if parameter["name"] in self.values
            else parameter
            for parameter in self.specification["params"]
        ]
        return {**self.specification, "params": parameters, "datasets": {_ROWS: self.rows}}


def no_rows() -> alt.NamedData:
    """What a chart is built on that is to be filled."""
    return alt.NamedData(_ROWS)


def names_axis(limit: int, **options: Any) -> alt.Axis:
    """An axis of rows numbered from 1 that shows a name for each: those of the parameter `names`.

    Args:
        limit: of a name, in pixels.
        options: further properties of the axis.
    """
    return alt.Axis(
        labelExpr="names[datum.value - 1]",
        labelLimit=limit,
        labelOverlap=False,
        labelFlush=False,
        title=None,
        ticks=False,
        domain=False,
        **options,
    )


def specified(chart: alt.TopLevelMixin) -> Mapping[str, Any]:
    """The specification of a chart on `no_rows`, checked, without Altair's default theme."""
    return {key: value for key, value in chart.to_dict().items() if key != "config"}
