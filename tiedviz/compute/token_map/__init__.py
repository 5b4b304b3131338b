"""The rows of E as points: where they lie, who is near whom, and how much a flat picture keeps.

`rows` says which rows can be drawn, `projection` finds the axes and the coordinates, `signs` keeps
them from mirroring, `box` cuts the view, `table` puts names to the points. `neighbours` and
`walks` (king − man + woman) work on whole rows, never on the picture. `kept` and `spread` say how
far the picture can be trusted; `path` follows the state h_k of a prompt through the same map. A
V × V array never exists.
"""

from tiedviz.compute.token_map.neighbours import Measure, Neighbours, neighbours_of
from tiedviz.compute.token_map.projection import Projection, View, project
from tiedviz.compute.token_map.rows import MapRows, map_rows

__all__ = [
    "MapRows",
    "Measure",
    "Neighbours",
    "Projection",
    "View",
    "map_rows",
    "neighbours_of",
    "project",
]
