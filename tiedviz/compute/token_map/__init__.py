"""The rows of E as points: where they lie, who is near whom, and how much a flat picture keeps.

`rows` says which rows can be drawn, what they are called and what holds for them in every view;
`projection` finds the axes and the coordinates, and cuts the view. `neighbours` (of a token, or of
king − man + woman) works on whole rows, never on the picture. `recall` says how far the picture can
be trusted; `path` follows the state h_k of a prompt through the same map. A V × V array never
exists.
"""

from tiedviz.compute.token_map.neighbours import Measure, Neighbours, neighbours_of
from tiedviz.compute.token_map.projection import MapView, Projection, project
from tiedviz.compute.token_map.rows import MapRows, map_rows

__all__ = [
    "MapRows",
    "MapView",
    "Measure",
    "Neighbours",
    "Projection",
    "map_rows",
    "neighbours_of",
    "project",
]
