"""What the app says about files it will not read: one constructor and one clear line per cause."""

from __future__ import annotations

from collections.abc import Sequence

from tiedviz.words.refusals import Refusal

AGAIN = "Download the file again"
SHOWN_NAMES = 8


def printable(name: str, limit: int = 120) -> str:
    """`name` with control, invisible and right-to-left characters written as escapes, and cut."""
    if len(name) > limit:
        name = name[: limit - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def listed(names: Sequence[str]) -> str:
    """The first few names with commas, and how many more there are."""
    shown = ", ".join(printable(name) for name in names[:SHOWN_NAMES])
    more = len(names) - SHOWN_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown


def _cannot_read(name: str) -> str:
    return f"Cannot read {printable(name)}"


class FileRefusal(Refusal):
    """A model's files cannot be read, or will not be."""

    def __init__(self, what: str, why: str, remedy: str) -> None:
        super().__init__(what, why, f"{remedy}.")

    @classmethod
    def nothing_there(cls, path: str) -> FileRefusal:
        """The path leads to no file and no folder."""
        why = "there is no such file or folder"
        return cls(_cannot_read(path), why, "Check the spelling of the path")

    @classmethod
    def cannot_open(cls, name: str, reason: str) -> FileRefusal:
        """The operating system does not let us read the file."""
        remedy = "Check that the file is there and that this app may read it"
        return cls(_cannot_read(name), printable(reason), remedy)

    @classmethod
    def not_a_model_folder(cls, folder: str, contents: Sequence[str]) -> FileRefusal:
        """The folder has no config.json and no weights."""
        holds = f"it holds {listed(contents)}" if contents else "it is empty"
        return cls(
            f"{printable(folder)} is not a model folder",
            f"there is no config.json; {holds}",
            "Choose the folder that save_pretrained wrote, or a .gguf or .safetensors file",
        )

    @classmethod
    def adapter_only(cls, folder: str, base: str | None) -> FileRefusal:
        """The folder holds an adapter (LoRA or similar), not a model."""
        where = f"open {printable(base)}" if base else "open the model it was trained on"
        made_for = f" for {printable(base)}" if base else ""
        return cls(
            f"{printable(folder)} is not a whole model",
            f"it holds an adapter{made_for}, which has no embedding matrix of its own",
            f"To see the base model {where}, or merge the adapter and save the result",
        )

    @classmethod
    def no_weights(cls, folder: str, contents: Sequence[str]) -> FileRefusal:
        """A config.json and nothing to go with it."""
        return cls(
            f"{printable(folder)} has no weights",
            f"it holds {listed(contents)}, but no model.safetensors and no pytorch_model.bin",
            "Download the weights into the same folder",
        )

    @classmethod
    def wrong_format(cls, folder: str, names: Sequence[str]) -> FileRefusal:
        """Weights are there, in a form that transformers 5 does not open."""
        return cls(
            f"Cannot read the weights in {printable(folder)}",
            f"there is {listed(names)}, but no model.safetensors and no pytorch_model.bin",
            "Get the safetensors version, or convert it with the tool that wrote it",
        )

    @classmethod
    def several_models(cls, folder: str, names: Sequence[str]) -> FileRefusal:
        """A folder with several GGUF files, any of which could be meant."""
        why = f"it holds {len(names)} GGUF files: {listed(names)}"
        what = f"Cannot tell which model in {printable(folder)} is meant"
        return cls(what, why, "Name one of the files")

    @classmethod
    def empty(cls, name: str, size: int = 0) -> FileRefusal:
        """A file of no bytes, or of nothing but zeros where its header should be."""
        blank = f"all of its first bytes are zero, and it has {size:,} of them"
        why = blank if size else "the file is empty"
        return cls(_cannot_read(name), f"{why}; the download did not finish", AGAIN)

    @classmethod
    def truncated(cls, name: str, promised: int, found: int) -> FileRefusal:
        """The file is shorter than its own header says."""
        why = (
            f"its header describes {promised:,} bytes and the file has {found:,}; it was cut short"
        )
        return cls(_cannot_read(name), why, AGAIN)

    @classmethod
    def damaged(cls, name: str, detail: str) -> FileRefusal:
        """The file contradicts itself."""
        return cls(_cannot_read(name), f"the file is damaged: {detail}", AGAIN)

    @classmethod
    def hostile(cls, name: str, detail: str) -> FileRefusal:
        """The header asks for what no real model needs."""
        why = f"its header is not one that a model needs: {detail}"
        return cls(_cannot_read(name), why, "Take the model from a source you trust")

    @classmethod
    def too_large(cls, name: str, claimed: int, limit: int) -> FileRefusal:
        """The header claims more bytes than will be read."""
        why = f"its header claims {claimed:,} bytes, and no more than {limit:,} are ever read"
        return cls(_cannot_read(name), why, f"{AGAIN}, from a source you trust")

    @classmethod
    def lfs_pointer(cls, name: str, size: int | None) -> FileRefusal:
        """A Git LFS pointer lies where the weights should be."""
        real = f"the real file has {size:,} bytes" if size is not None else "not the file itself"
        why = f"this is a Git LFS pointer; {real}"
        return cls(_cannot_read(name), why, "Run `git lfs pull` in that folder")

    @classmethod
    def web_page(cls, name: str) -> FileRefusal:
        """A web page was saved under the name of the weights."""
        why = "this is a web page, saved where the weights should be"
        remedy = "Download the file itself (the link has /resolve/ in it, not /blob/)"
        return cls(_cannot_read(name), why, remedy)

    @classmethod
    def other_content(cls, name: str, found: str, expected: str) -> FileRefusal:
        """The file's first bytes belong to another format than its name."""
        why = f"the name says {expected}, but the content is {found}"
        return cls(_cannot_read(name), why, "Give the file the ending of what it holds")

    @classmethod
    def unreadable_gguf(cls, name: str, detail: str) -> FileRefusal:
        """A GGUF file of a version, byte order or tensor type that is not supported."""
        why = f"this GGUF file has {detail}"
        return cls(_cannot_read(name), why, "Convert it again with a current llama.cpp")

    @classmethod
    def missing_shard(cls, index: str, missing: Sequence[str], of: int) -> FileRefusal:
        """An index, or the file's own name, promises parts that are not there."""
        why = f"{len(missing)} of its {of} parts missing from the folder: {listed(missing)}"
        return cls(_cannot_read(index), why, "Download the missing parts")

    @classmethod
    def shard_outside(cls, index: str, shard: str) -> FileRefusal:
        """An index names a file by a path instead of by a plain name in its own folder."""
        why = f"it names `{printable(shard)}`, which is not a file in its own folder"
        return cls(_cannot_read(index), why, "Take the model from a source you trust")

    @classmethod
    def pickle_runs_code(cls, name: str, called: str) -> FileRefusal:
        """Opening this pickle the ordinary way would call something that is not a tensor."""
        why = (
            f"its pickle asks Python for `{printable(called)}`, which can run code; nothing was run"
        )
        return cls(_cannot_read(name), why, "Use a safetensors version of this model")

    @classmethod
    def legacy_pickle(cls, name: str) -> FileRefusal:
        """A .bin written by PyTorch before 1.6, or a bare pickle."""
        why = "it is a bare pickle, the form PyTorch wrote before version 1.6"
        remedy = "Use a safetensors version of this model, or save it again with a current PyTorch"
        return cls(_cannot_read(name), why, remedy)


class BrokenJson(FileRefusal):
    """A JSON file that cannot be parsed, or that is not an object."""

    def __init__(self, name: str, reason: str, line: int = 0, column: int = 0) -> None:
        at = f" at line {line:,}, column {column:,}" if line else ""
        why = f"it is not valid JSON{at}: {printable(reason)}"
        super().__init__(_cannot_read(name), why, "Repair it, or download it again")
