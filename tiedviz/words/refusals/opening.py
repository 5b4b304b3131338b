"""What is said when a model cannot be found, fetched, converted or opened."""

from __future__ import annotations

from typing import Any

from tiedviz.words.numbers import megabytes
from tiedviz.words.refusals import Refusal


class OpeningRefusal(Refusal):
    """A model cannot be found, fetched, converted or opened."""

    @classmethod
    def no_such_model(cls, source: str, shelf: list[str]) -> OpeningRefusal:
        """The text names no shelf model, no folder, no file, and cannot be a Hub id."""
        return cls(
            f"“{source}” names no model",
            "it is not on the shelf, not a folder or .gguf file here, and not a Hub id",
            f"Type one of {', '.join(shelf)}, a Hub id such as openai-community/gpt2, or a path.",
        )

    @classmethod
    def no_such_path(cls, path: str) -> OpeningRefusal:
        """It looks like a path, and nothing is there."""
        return cls(
            f"Nothing lies at “{path}”",
            "the server that runs this app sees no such folder or file",
            "Check the spelling; the path is read on the machine that runs the app.",
        )

    @classmethod
    def path_not_allowed(cls, path: str) -> OpeningRefusal:
        """It looks like a path, and whoever runs the app did not open that folder to others."""
        return cls(
            f"“{path}” may not be read from here",
            "this app reads only the folders that TIEDVIZ_ALLOW_PATHS names, and an app that other "
            "machines can reach reads none without it",
            "Choose a shelf model or a Hub id, or ask whoever runs the app to allow the folder.",
        )

    @classmethod
    def one_file_of_many(cls, name: str, main: list[str]) -> OpeningRefusal:
        """A weights file that its folder would not be opened from."""
        return cls(
            f"{name} cannot be opened by itself",
            f"transformers opens a folder from one of {', '.join(main)}",
            "Name its folder, or put the file into a folder of its own as model.safetensors. "
            "The command audit hears such a file as it is.",
        )

    @classmethod
    def download_failed(cls, title: str, said: str, command: str) -> OpeningRefusal:
        """The package index did not deliver."""
        return cls(
            f"{title} could not be fetched",
            said or "pip gave no reason",
            f"Check the connection and try again, or run it yourself: {command}",
        )

    @classmethod
    def no_pip(cls, title: str, found: str | None, command: str) -> OpeningRefusal:
        """This Python has no pip new enough to fetch with."""
        return cls(
            f"{title} cannot be fetched from here",
            f"pip {found} is too old, 24.1 is needed" if found else "this Python has no pip",
            f"Bring pip up to date, or run it yourself: {command}",
        )

    @classmethod
    def wrong_hash(cls, file_name: str, expected: str, found: str) -> OpeningRefusal:
        """The file that came is not the file that was published."""
        return cls(
            f"{file_name} was refused",
            f"its SHA-256 is {found}, the published one is {expected}",
            "Nothing was kept. Fetch it again; if it happens twice, do not trust the source.",
        )

    @classmethod
    def too_little_disk(cls, title: str, needed: int, free: int) -> OpeningRefusal:
        """The cache folder's disk has no room."""
        return cls(
            f"{title} does not fit on the disk",
            f"it needs {megabytes(needed)} in the cache folder and {megabytes(free)} are free",
            "Free some space, or point TIEDVIZ_CACHE at a larger disk.",
        )

    @classmethod
    def cache_not_writable(cls, said: str) -> OpeningRefusal:
        """The cache folder cannot be written to."""
        return cls(
            "The cache folder cannot be written to",
            said,
            "Point TIEDVIZ_CACHE at a folder that this user may write to.",
        )

    @classmethod
    def too_little_memory(cls, title: str, needed: int, free: int) -> OpeningRefusal:
        """Opening or converting would get the process killed."""
        return cls(
            f"{title} does not fit in memory",
            f"it needs {megabytes(needed)} and {megabytes(free)} are free",
            "Close another model or another program, or choose a smaller model.",
        )

    @classmethod
    def not_built(cls, title: str, why: str) -> OpeningRefusal:
        """The config.json asks for a model that nobody would publish, by a slip or to do harm."""
        return cls(
            f"{title} was not built",
            why,
            "Check the sizes in its config.json; they should be those of the weights beside it.",
        )

    @classmethod
    def over_budget(cls, title: str, needed: int, budget: int) -> OpeningRefusal:
        """Larger than all open models may be together."""
        return cls(
            f"{title} is larger than open models may be together",
            f"it needs {megabytes(needed)} and the budget is {megabytes(budget)}",
            "Choose a smaller model, or raise TIEDVIZ_MODEL_MEMORY.",
        )

    @classmethod
    def no_number_of_bytes(cls, name: str, given: str) -> OpeningRefusal:
        """Whoever runs the app gave it a size that is none."""
        return cls(
            "This app is not set up to open models",
            f"{name} is “{given}”, which is no number of bytes",
            f"Start the app again without {name}, or with a number such as 8e9.",
        )

    @classmethod
    def conversion_failed(cls, file_name: str, said: str) -> OpeningRefusal:
        """The child process that reads the `.gguf` file gave up."""
        return cls(
            f"{file_name} could not be converted",
            said or "the converter stopped without a word (killed, perhaps, for want of memory)",
            "Nothing was kept. Try again; if the file came from elsewhere, check that it is whole.",
        )

    @classmethod
    def broken_load(cls, title: str, said: str) -> OpeningRefusal:
        """The library handed back a model that is not what the files hold."""
        return cls(
            f"{title} did not load cleanly",
            said,
            "It was thrown away, so that no page shows its numbers. Open it again.",
        )

    @classmethod
    def table_elsewhere(cls, title: str) -> OpeningRefusal:
        """The accelerators are full of blocks, and a table would be brought in for each call."""
        return cls(
            f"{title} does not fit on the accelerators",
            "its blocks take up their memory, and a table that every number needs stays outside",
            "Choose a smaller model, or start the app where it sees no accelerator "
            "(CUDA_VISIBLE_DEVICES set to nothing).",
        )

    @classmethod
    def cancelled(cls, title: str) -> OpeningRefusal:
        """Somebody pressed Cancel."""
        return cls(
            f"Opening {title} was cancelled",
            "you asked for it",
            "Finished downloads are kept; open it again to go on from there.",
        )

    @classmethod
    def failed(cls, title: str, error: Exception) -> OpeningRefusal:
        """Something nobody foresaw."""
        said = " ".join(str(error).split())[:300].rstrip(".")
        return cls(
            f"{title} could not be opened",
            f"{type(error).__name__}: {said}" if said else type(error).__name__,
            "The server's log has the details. Other models are not affected.",
        )


class DiskFull(OpeningRefusal):
    """The cache folder's disk ran full while something was written to it.

    Attributes:
        said: what the system said.
    """

    def __init__(self, said: str, needed: int | None = None, free: int = 0) -> None:
        self.said = said
        numbers = f"it needs {megabytes(needed or 0)} there and {megabytes(free)} are free ({said})"
        super().__init__(
            "The disk with the cache folder is full",
            said if needed is None else numbers,
            "Nothing half-made was kept. Free some space, or point TIEDVIZ_CACHE at a larger disk.",
        )


class CheckpointRefusal(Refusal):
    """A checkpoint is whole, but this program cannot or will not open it.

    Attributes:
        fit: where its files do not fit its config.json, the report of that (`files.fit.Fit`).
        of: the identity of those files, so that the report does not outlive them.
    """

    fit: Any = None
    of: str = ""

    @classmethod
    def no_language_model(cls, title: str, architecture: str) -> CheckpointRefusal:
        """The checkpoint's class has no output over a vocabulary."""
        return cls(
            f"{title} scores no tokens",
            f"its class is {architecture}, which has no output matrix over a vocabulary",
            "Open the language-model version of this checkpoint.",
        )

    @classmethod
    def no_architecture(cls, title: str, found: str) -> CheckpointRefusal:
        """config.json does not say which class the weights belong to."""
        return cls(
            f"config.json of {title} names no class that is known here",
            f"`architectures` holds {found}, and the class decides how the weights are read",
            "Add the class the model was trained as, for example LlamaForCausalLM.",
        )

    @classmethod
    def remote_code(cls, title: str, files: str) -> CheckpointRefusal:
        """The repository brings its own Python."""
        return cls(
            f"{title} wants to run code of its own",
            f"its config.json points to {files}, and this app never runs code from a checkpoint",
            "Look for a version that transformers supports by itself; the header facts still hold.",
        )

    @classmethod
    def unknown_model_type(cls, title: str, model_type: str, installed: str) -> CheckpointRefusal:
        """The installed transformers has never heard of this model type."""
        return cls(
            f"{title} is of a kind that is not known here",
            f"model_type “{model_type}” is not in transformers {installed}",
            "Check the spelling in config.json; a newer kind may need a newer transformers.",
        )

    @classmethod
    def needs_newer_transformers(
        cls, title: str, model_type: str, saved: str, installed: str
    ) -> CheckpointRefusal:
        """Saved by a later transformers than the one installed, and of a kind this one lacks."""
        return cls(
            f"{title} needs a newer transformers",
            f"it was saved by {saved}; {installed} is installed and lacks “{model_type}”",
            f"Install transformers {saved} or later in the environment of this app.",
        )

    @classmethod
    def quantised_without_package(cls, title: str, method: str, package: str) -> CheckpointRefusal:
        """Quantised weights whose package is not installed."""
        return cls(
            f"{title} is quantised with {method}",
            f"reading that takes the package {package}, which is not installed",
            f"Install {package}, or open the original checkpoint. Its header can still be read.",
        )

    @classmethod
    def unknown_quantisation(cls, title: str, method: str) -> CheckpointRefusal:
        """A method that transformers does not read."""
        return cls(
            f"The weights of {title} are packed in a way that is not known here",
            f"quantisation method “{method}” is not one that transformers reads",
            "Open the original checkpoint, from which this one was made.",
        )

    @classmethod
    def no_tokenizer(cls, title: str, said: str) -> CheckpointRefusal:
        """Weights without a tokenizer."""
        return cls(
            f"{title} has no tokenizer that can be read",
            said or "no tokenizer.json, vocabulary or SentencePiece model lies beside the weights",
            "Copy the tokenizer files of the model it was made from into its folder.",
        )

    @classmethod
    def does_not_fit(cls, title: str, why: str, remedy: str) -> CheckpointRefusal:
        """Some parameter would be random: no number of this model could be believed."""
        return cls(
            f"The files of {title} do not fit its config.json",
            why,
            f"{remedy} No number of a model with random parts is shown.",
        )

    @classmethod
    def weights_disagree(cls, title: str, said: str) -> CheckpointRefusal:
        """Shapes in the files are not the shapes that config.json asks for."""
        return cls(
            f"The weights of {title} do not fit its config.json",
            said,
            "One of the two belongs to another model: take both from the same place.",
        )
