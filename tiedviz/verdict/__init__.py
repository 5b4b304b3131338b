"""Is it tied? The two witnesses that files can give, and the verdict on all four.

`declared` reads the raw config.json, `stored` the headers and, where there are two copies, their
numbers (`copies`); `decide` turns those two and what `compute.witnesses` heard from a live model
into one of ten words, with evidence and advice. Deciding is pure and needs the standard library
only.
"""
