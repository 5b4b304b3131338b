"""What is said when a configuration cannot be counted. One cause, one class, one text."""

from __future__ import annotations

from tiedviz.words.numbers import count
from tiedviz.words.refusals import Refusal


class CountRefusal(Refusal):
    """The parameters of a configuration cannot be counted; subclasses know why."""


class TooManyParameters(CountRefusal):
    """Nobody has trained a model of this size; a slip, or meant to harm."""

    def __init__(self, title: str, limit: int) -> None:
        super().__init__(
            f"{title} was not counted",
            f"it asks for more than {count(limit)} parameters",
            "Check the sizes in its config.json.",
        )


class SizeOutOfBounds(CountRefusal):
    """One number of the configuration is beyond anything real."""

    def __init__(self, title: str, path: str, value: str, limit: int) -> None:
        super().__init__(
            f"{title} was not counted",
            f"its {path} is {value}, and more than {count(limit)} is not built here",
            "Check that number in its config.json.",
        )


class TooManyTensors(CountRefusal):
    """Building it would take minutes, even without a single weight."""

    def __init__(self, title: str, limit: int) -> None:
        super().__init__(
            f"{title} was not counted",
            f"it is made of more than {count(limit)} separate tensors",
            "Check how many layers and experts its config.json asks for.",
        )


class CannotBuild(CountRefusal):
    """The class refuses this configuration, or falls over it."""

    def __init__(self, title: str, architecture: str, said: str) -> None:
        super().__init__(
            f"{title} cannot be built from its config.json",
            f"{architecture} says: {said}",
            "Check that all sizes are there, are whole numbers and fit together.",
        )


class NoTokenTable(CountRefusal):
    """A model without tokens, such as one of images."""

    def __init__(self, title: str, architecture: str) -> None:
        super().__init__(
            f"{title} has no table of tokens",
            f"{architecture} turns something else into vectors",
            "Count a language model.",
        )


class NoConfig(CountRefusal):
    """A repository without config.json."""

    def __init__(self, repo: str) -> None:
        super().__init__(
            f"“{repo}” cannot be counted",
            "the repository holds no config.json",
            "Name the repository of the original model, in the transformers layout.",
        )


class GgufWithoutConfig(CountRefusal):
    """A single `.gguf` file, which carries no config.json."""

    def __init__(self, title: str) -> None:
        super().__init__(
            f"{title} cannot be counted part by part",
            "a .gguf file carries no config.json",
            "Name the model it was made from; what its header holds stands in the sidebar.",
        )


class NothingPasted(CountRefusal):
    """An empty box."""

    def __init__(self) -> None:
        super().__init__(
            "There is nothing to count yet",
            "no text was given",
            "Paste the whole text of a config.json, from { to }.",
        )
