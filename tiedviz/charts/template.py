"""Charts made from a template: specified once, then drawn again and again with other rows.

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
class TemplateChart:
    """A template, and what is put into it.

    Attributes:
        template: from `chart_template`; shared, never changed.
        rows: what is drawn.
        values: of the template's variable parameters, by name.
    """

    template: Mapping[str, Any]
    rows: pd.DataFrame
    values: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Vega-Lite as `st.vega_lite_chart` takes it, with a data frame in `datasets`."""
        parameters = [
            {**parameter, "value": self.values[parameter["name"]]}
            if parameter["name"] in self.values
            else parameter
            for parameter in self.template["params"]
        ]
        return {**self.template, "params": parameters, "datasets": {_ROWS: self.rows}}


def rows_to_come() -> alt.NamedData:
    """The data of a chart that is to be a template."""
    return alt.NamedData(_ROWS)


def chart_template(chart: alt.TopLevelMixin) -> Mapping[str, Any]:
    """The specification of a chart on `rows_to_come`, checked, without Altair's default theme."""
    return {key: value for key, value in chart.to_dict().items() if key != "config"}
