"""The pieces of the page Next token, in the order in which they stand on it."""

from tiedviz.ui.next_token.answer import headline, proof
from tiedviz.ui.next_token.any_vector import read_any_vector
from tiedviz.ui.next_token.arithmetic import logit_as_arithmetic
from tiedviz.ui.next_token.candidates import candidates
from tiedviz.ui.next_token.difference import difference_of_two
from tiedviz.ui.next_token.go_on import go_on
from tiedviz.ui.next_token.layer import chosen_layer
from tiedviz.ui.next_token.share import share_and_export

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
