"""How things are said: tokens, numbers, refusals, known models. Standard library only."""
