"""How things are said: tokens, numbers, refusals, and the facts of known models. Standard library only."""
