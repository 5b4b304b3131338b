"""What every layer would say: the unembedding applied to each r_k, over the whole vocabulary.

One forward pass catches the residual stream and what enters the matrix (`unembedding.states`); each
r_k below L goes through u once, and what entered the matrix at L is taken as it was, never normed
again. Then the rows of the matrix are gone through once, a block at a time (`stream`): from each
block's logits the running top, sum and ranks are updated (`tally`), and the block is forgotten. A
table of (layers · positions) × V, which a notebook would make, never exists. `lens` puts it
together, `table` and `record` are what a page, a file and the command line show of it.
"""

from tiedviz.compute.lens.lens import Lens, lens

__all__ = ["Lens", "lens"]
