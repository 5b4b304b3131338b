"""How many parameters does a model have, and in which parts do they lie?

`count_config` builds the architecture without a single weight (torch's meta device) and counts.
This package itself imports no torch: the table of known models and the bounds need none.
"""
