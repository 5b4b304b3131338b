"""tiedviz: one embedding matrix, two jobs, shown on real language models."""

__version__ = "0.1.0"
