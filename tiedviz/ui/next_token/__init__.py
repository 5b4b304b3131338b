"""The pieces of the page Next token, in the order in which they stand on it."""

from tiedviz.ui.next_token.answer import headline, proof
from tiedviz.ui.next_token.arithmetic import logit_as_arithmetic
from tiedviz.ui.next_token.candidates import candidates
from tiedviz.ui.next_token.go_on import go_on
from tiedviz.ui.next_token.share import share_and_export

__all__ = ["candidates", "go_on", "headline", "logit_as_arithmetic", "proof", "share_and_export"]
