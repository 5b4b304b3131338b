"""The lens at Gemma 3 270M's shape, on random numbers: 19 layers × 12 tokens."""

from collections.abc import Iterator

import torch

from benchmarks.peak import peak_above
from benchmarks.timing import Row, ratio_row
from tiedviz.compute.lens_stream import block_width, stream
from tiedviz.compute.unembedding.after_head import ONE, AfterHead

_ROWS, _WIDTH, _STATES, _POSITIONS, _TRACKED = 262_144, 640, 19 * 12, 12, 3
_AFTER = AfterHead(None, "", ONE, None)


def rows() -> Iterator[Row]:
    """Time against the bare product in the same blocks, memory against softmax(H @ E.T)."""
    torch.manual_seed(0)
    matrix, h = torch.randn(_ROWS, _WIDTH) * 0.05, torch.randn(_STATES, _WIDTH)
    tracked = torch.randint(0, _ROWS, (_STATES, _TRACKED))
    own = h[-_POSITIONS:] @ matrix.T

    def mine() -> None:
        stream(h, matrix, _AFTER, tracked, own=own)

    def bare() -> None:
        width = block_width(_STATES, _ROWS)
        out = torch.empty(_STATES, width)
        for first in range(0, _ROWS, width):
            block = matrix[first : first + width]
            torch.mm(h, block.T, out=out[:, : len(block)])

    def notebook() -> None:
        torch.softmax(h @ matrix.T, -1).topk(10)

    with torch.inference_mode():
        what = "lens, top-10 + log p + entropy + ranks of 3, over bare blocked H·E^T"
        yield ratio_row(what, mine, bare, 1.5)
        part = peak_above(mine) + own.nbytes
        whole = peak_above(notebook)
    yield Row(
        "lens, extra memory over the notebook way's",
        f"{part / 1e6:.0f} MB / {whole / 1e6:.0f} MB = {part / whole:.3f}",
        "<= 0.2",
        part <= whole / 5,
    )
