"""The pieces of the page Next token, in the order in which they stand on it."""

from tiedviz.ui.continuing import go_on
from tiedviz.ui.next_token.answer import chosen_layer, headline, proof, share_and_export
from tiedviz.ui.next_token.arithmetic import difference_of_two, logit_as_arithmetic
from tiedviz.ui.next_token.candidates import candidates, read_any_vector

__all__ = [
    "candidates",
    "chosen_layer",
    "difference_of_two",
    "go_on",
    "headline",
    "logit_as_arithmetic",
    "proof",
    "read_any_vector",
    "share_and_export",
]
