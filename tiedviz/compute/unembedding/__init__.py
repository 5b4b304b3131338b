"""From the residual stream to the logits, as this very model does it: measured, never guessed.

Between the output of the last block and the logits stand, depending on the model, a norm, a
transform, a projection, scalars, the matrix, a bias, a softcap. No list of architectures says
which. One forward pass on a fixed probe is recorded (`record`), the way from the last block to the
matrix is read off it and replayed (`path`), what comes after the matrix is measured by feeding
known numbers through it (`after_head`), and the whole is compared with the model's own logits
(`measure`), recomputed by a plain product (`product`) within what rounding explains (`tolerance`).
What does not come out equal is not offered. `states` catches what a prompt leaves on the way.
"""

from tiedviz.compute.unembedding.after_head import AfterHead
from tiedviz.compute.unembedding.measure import Unembedding, reproduced_unembedding, unembedding_of

__all__ = ["AfterHead", "Unembedding", "reproduced_unembedding", "unembedding_of"]
