"""What is said when a checkpoint is whole, but this program cannot or will not open it."""

from __future__ import annotations

from tiedviz.words.refusals import Refusal


class CheckpointRefusal(Refusal):
    """The files are there; something in them stands in the way. Subclasses know what."""


class NotALanguageModel(CheckpointRefusal):
    """The checkpoint's class has no output over a vocabulary."""

    def __init__(self, title: str, architecture: str) -> None:
        super().__init__(
            f"{title} scores no tokens",
            f"its class is {architecture}, which has no output matrix over a vocabulary",
            "Open the language-model version of this checkpoint.",
        )


class NoArchitecture(CheckpointRefusal):
    """config.json does not say which class the weights belong to."""

    def __init__(self, title: str, found: str) -> None:
        super().__init__(
            f"config.json of {title} names no class that is known here",
            f"`architectures` holds {found}, and the class decides how the weights are read",
            "Add the class the model was trained as, for example LlamaForCausalLM.",
        )


class RemoteCode(CheckpointRefusal):
    """The repository brings its own Python."""

    def __init__(self, title: str, files: str) -> None:
        super().__init__(
            f"{title} wants to run code of its own",
            f"its config.json points to {files}, and this app never runs code from a checkpoint",
            "Look for a version that transformers supports by itself; the header facts still hold.",
        )


class UnknownModelType(CheckpointRefusal):
    """transformers has never heard of this model type."""

    def __init__(self, title: str, model_type: str, installed: str) -> None:
        super().__init__(
            f"{title} is of a kind that is not known here",
            f"model_type “{model_type}” is not in transformers {installed}",
            "Check the spelling in config.json; a newer kind may need a newer transformers.",
        )


class NeedsNewerTransformers(CheckpointRefusal):
    """Saved by a later transformers than the one installed, and of a kind this one lacks."""

    def __init__(self, title: str, model_type: str, saved: str, installed: str) -> None:
        super().__init__(
            f"{title} needs a newer transformers",
            f"it was saved by {saved}; {installed} is installed and lacks “{model_type}”",
            f"Install transformers {saved} or later in the environment of this app.",
        )


class QuantisedWithoutPackage(CheckpointRefusal):
    """Quantised weights whose package is not installed."""

    def __init__(self, title: str, method: str, package: str) -> None:
        super().__init__(
            f"{title} is quantised with {method}",
            f"reading that takes the package {package}, which is not installed",
            f"Install {package}, or open the original checkpoint. Its header can still be read.",
        )


class UnknownQuantisation(CheckpointRefusal):
    """A method that transformers does not read."""

    def __init__(self, title: str, method: str) -> None:
        super().__init__(
            f"The weights of {title} are packed in a way that is not known here",
            f"quantisation method “{method}” is not one that transformers reads",
            "Open the original checkpoint, from which this one was made.",
        )


class TokenizerMissing(CheckpointRefusal):
    """Weights without a tokenizer."""

    def __init__(self, title: str, said: str) -> None:
        super().__init__(
            f"{title} has no tokenizer that can be read",
            said or "no tokenizer.json, vocabulary or SentencePiece model lies beside the weights",
            "Copy the tokenizer files of the model it was made from into its folder.",
        )


class WeightsDisagree(CheckpointRefusal):
    """Shapes in the files are not the shapes that config.json asks for."""

    def __init__(self, title: str, said: str) -> None:
        super().__init__(
            f"The weights of {title} do not fit its config.json",
            said,
            "One of the two belongs to another model: take both from the same place.",
        )
