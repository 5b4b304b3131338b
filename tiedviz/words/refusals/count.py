"""What is said when a configuration cannot be counted. One cause, one constructor, one text."""

from __future__ import annotations

from tiedviz.words.numbers import count
from tiedviz.words.refusals import Refusal


class CountRefusal(Refusal):
    """The parameters of a configuration cannot be counted."""

    @classmethod
    def too_many_parameters(cls, title: str, limit: int) -> CountRefusal:
        """Nobody has trained a model of this size; a slip, or meant to harm."""
        return cls(
            f"{title} was not counted",
            f"it asks for more than {count(limit)} parameters",
            "Check the sizes in its config.json.",
        )

    @classmethod
    def size_out_of_bounds(cls, title: str, path: str, value: str, limit: int) -> CountRefusal:
        """One number of the configuration is beyond anything real."""
        return cls(
            f"{title} was not counted",
            f"its {path} is {value}, and more than {count(limit)} is not built here",
            "Check that number in its config.json.",
        )

    @classmethod
    def too_many_tensors(cls, title: str, limit: int) -> CountRefusal:
        """Building it would take minutes, even without a single weight."""
        return cls(
            f"{title} was not counted",
            f"it is made of more than {count(limit)} separate tensors",
            "Check how many layers and experts its config.json asks for.",
        )

    @classmethod
    def cannot_build(cls, title: str, architecture: str, said: str) -> CountRefusal:
        """The class refuses this configuration, or falls over it."""
        return cls(
            f"{title} cannot be built from its config.json",
            f"{architecture} says: {said}",
            "Check that all sizes are there, are whole numbers and fit together.",
        )

    @classmethod
    def no_token_table(cls, title: str, architecture: str) -> CountRefusal:
        """A model without tokens, such as one of images."""
        return cls(
            f"{title} has no table of tokens",
            f"{architecture} turns something else into vectors",
            "Count a language model.",
        )

    @classmethod
    def no_config(cls, repo: str) -> CountRefusal:
        """A repository without config.json."""
        return cls(
            f"“{repo}” cannot be counted",
            "the repository holds no config.json",
            "Name the repository of the original model, in the transformers layout.",
        )

    @classmethod
    def gguf_without_config(cls, title: str) -> CountRefusal:
        """A single `.gguf` file, which carries no config.json."""
        return cls(
            f"{title} cannot be counted part by part",
            "a .gguf file carries no config.json",
            "Name the model it was made from; what its header holds stands in the sidebar.",
        )

    @classmethod
    def nothing_pasted(cls) -> CountRefusal:
        """An empty box."""
        return cls(
            "There is nothing to count yet",
            "no text was given",
            "Paste the whole text of a config.json, from { to }.",
        )
