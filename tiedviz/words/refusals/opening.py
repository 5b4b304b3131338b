"""What is said when a model cannot be found, fetched, converted or opened."""

from __future__ import annotations

from tiedviz.words.numbers import megabytes
from tiedviz.words.refusals import Refusal


class NoSuchModel(Refusal):
    """The text names no shelf model, no folder, no file, and cannot be a Hub id."""

    def __init__(self, source: str, shelf: list[str]) -> None:
        super().__init__(
            f"“{source}” names no model",
            "it is not on the shelf, not a folder or .gguf file here, and not a Hub id",
            f"Type one of {', '.join(shelf)}, a Hub id such as openai-community/gpt2, or a path.",
        )


class NoSuchPath(Refusal):
    """It looks like a path, and nothing is there."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"Nothing lies at “{path}”",
            "the server that runs this app sees no such folder or file",
            "Check the spelling; the path is read on the machine that runs the app.",
        )


class PathNotAllowed(Refusal):
    """It looks like a path, and whoever runs the app did not open that folder to others."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"“{path}” may not be read from here",
            "this app reads only the folders that TIEDVIZ_ALLOW_PATHS names, and an app that other "
            "machines can reach reads none without it",
            "Choose a shelf model or a Hub id, or ask whoever runs the app to allow the folder.",
        )


class OneFileOfMany(Refusal):
    """A weights file that its folder would not be opened from."""

    def __init__(self, name: str, main: list[str]) -> None:
        super().__init__(
            f"{name} cannot be opened by itself",
            f"transformers opens a folder from one of {', '.join(main)}",
            "Name its folder, or put the file into a folder of its own as model.safetensors. "
            "The command audit hears such a file as it is.",
        )


class DownloadFailed(Refusal):
    """The package index did not deliver."""

    def __init__(self, title: str, said: str, command: str) -> None:
        super().__init__(
            f"{title} could not be fetched",
            said or "pip gave no reason",
            f"Check the connection and try again, or run it yourself: {command}",
        )


class NoPip(Refusal):
    """This Python has no pip new enough to fetch with."""

    def __init__(self, title: str, found: str | None, command: str) -> None:
        super().__init__(
            f"{title} cannot be fetched from here",
            f"pip {found} is too old, 24.1 is needed" if found else "this Python has no pip",
            f"Bring pip up to date, or run it yourself: {command}",
        )


class WrongHash(Refusal):
    """The file that came is not the file that was published."""

    def __init__(self, file_name: str, expected: str, found: str) -> None:
        super().__init__(
            f"{file_name} was refused",
            f"its SHA-256 is {found}, the published one is {expected}",
            "Nothing was kept. Fetch it again; if it happens twice, do not trust the source.",
        )


class TooLittleDisk(Refusal):
    """The cache folder's disk has no room."""

    def __init__(self, title: str, needed: int, free: int) -> None:
        super().__init__(
            f"{title} does not fit on the disk",
            f"it needs {megabytes(needed)} in the cache folder and {megabytes(free)} are free",
            "Free some space, or point TIEDVIZ_CACHE at a larger disk.",
        )


class DiskFull(Refusal):
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


class CacheNotWritable(Refusal):
    """The cache folder cannot be written to."""

    def __init__(self, said: str) -> None:
        super().__init__(
            "The cache folder cannot be written to",
            said,
            "Point TIEDVIZ_CACHE at a folder that this user may write to.",
        )


class TooLittleMemory(Refusal):
    """Opening or converting would get the process killed."""

    def __init__(self, title: str, needed: int, free: int) -> None:
        super().__init__(
            f"{title} does not fit in memory",
            f"it needs {megabytes(needed)} and {megabytes(free)} are free",
            "Close another model or another program, or choose a smaller model.",
        )


class NotBuilt(Refusal):
    """The config.json asks for a model that nobody would publish, by a slip or to do harm."""

    def __init__(self, title: str, why: str) -> None:
        super().__init__(
            f"{title} was not built",
            why,
            "Check the sizes in its config.json; they should be those of the weights beside it.",
        )


class OverBudget(Refusal):
    """Larger than all open models may be together."""

    def __init__(self, title: str, needed: int, budget: int) -> None:
        super().__init__(
            f"{title} is larger than open models may be together",
            f"it needs {megabytes(needed)} and the budget is {megabytes(budget)}",
            "Choose a smaller model, or raise TIEDVIZ_MODEL_MEMORY.",
        )


class NotANumberOfBytes(Refusal):
    """Whoever runs the app gave it a size that is none."""

    def __init__(self, name: str, given: str) -> None:
        super().__init__(
            "This app is not set up to open models",
            f"{name} is “{given}”, which is no number of bytes",
            f"Start the app again without {name}, or with a number such as 8e9.",
        )


class ConversionFailed(Refusal):
    """The child process that reads the `.gguf` file gave up."""

    def __init__(self, file_name: str, said: str) -> None:
        super().__init__(
            f"{file_name} could not be converted",
            said or "the converter stopped without a word (killed, perhaps, for want of memory)",
            "Nothing was kept. Try again; if the file came from elsewhere, check that it is whole.",
        )


class BrokenLoad(Refusal):
    """The library handed back a model that is not what the files hold."""

    def __init__(self, title: str, said: str) -> None:
        super().__init__(
            f"{title} did not load cleanly",
            said,
            "It was thrown away, so that no page shows its numbers. Open it again.",
        )


class TableElsewhere(Refusal):
    """The accelerators are full of blocks, and a table would be brought in for each call."""

    def __init__(self, title: str) -> None:
        super().__init__(
            f"{title} does not fit on the accelerators",
            "its blocks take up their memory, and a table that every number needs stays outside",
            "Choose a smaller model, or start the app where it sees no accelerator "
            "(CUDA_VISIBLE_DEVICES set to nothing).",
        )


class OpeningCancelled(Refusal):
    """Somebody pressed Cancel."""

    def __init__(self, title: str) -> None:
        super().__init__(
            f"Opening {title} was cancelled",
            "you asked for it",
            "Finished downloads are kept; open it again to go on from there.",
        )


class OpeningFailed(Refusal):
    """Something nobody foresaw."""

    def __init__(self, title: str, error: Exception) -> None:
        said = " ".join(str(error).split())[:300].rstrip(".")
        super().__init__(
            f"{title} could not be opened",
            f"{type(error).__name__}: {said}" if said else type(error).__name__,
            "The server's log has the details. Other models are not affected.",
        )
