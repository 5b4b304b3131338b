"""The bounds of a configuration, where counting looks for them; opening a model asks them too."""

from tiedviz.files.bounds import MAX_PARAMETERS, MAX_TENSORS, check_bounds

__all__ = ["MAX_PARAMETERS", "MAX_TENSORS", "check_bounds"]
