"""The numbers to hold, measured in one run: `python -m benchmarks`.

Each time is a ratio of two medians of at least five runs that take turns, after one warm-up of
each, so that a busy machine slows both alike. Wall time and the time of this process on all
processors are both given: on a machine that others use, the second is the steadier one. Memory is
the peak of the resident set above what was resident before, read from the kernel (`peak`). No test
asserts a time. Rows that need a model on disk are left out, with a word, where it is not there;
nothing is downloaded.
"""
