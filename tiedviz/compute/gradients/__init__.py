"""How the table learns twice: the gradient of E, split into what came in and what went out.

For a tied matrix the chain rule gives dL/dE as a sum. The *input side* comes from the lookups and
is zero but for the rows that were read; the *output side* comes from the product h·Eᵀ, is
Σ (p − y) hᵀ / n over the n positions for plain cross-entropy, and reaches every row, since softmax
gives every token some probability (Press & Wolf 2017, section 3).

`sentence` says what is read and what is asked for; `sides` finds E's names on either side in the
live model; `passes` runs it with two views of E, and once more with one, the ordinary way; `split`
compares the two and keeps what a page shows; `table` and `record` are how it is shown; `cost` says
beforehand what it takes.
"""

from tiedviz.compute.gradients.sentence import Sentence, sentence_of
from tiedviz.compute.gradients.split import GradientSplit, gradient_split

__all__ = ["GradientSplit", "Sentence", "gradient_split", "sentence_of"]
