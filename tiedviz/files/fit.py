"""Do files and config.json fit? Which parameters lack, are left over, or have another shape.

After a load the library's own report says so, of every parameter. Headers alone cannot know all
that a class is made of; they show what needs no class: names under a wrapper, blocks that were
declared and not stored, tables whose rows are not those of `vocab_size`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tiedviz.files.config import dimensions
from tiedviz.files.header import Header, StoredTensor
from tiedviz.words.numbers import count, plural
from tiedviz.words.refusals.file import printable

# What wrappers and trainers leave in names: in front of them, or anywhere between two dots.
_IN_FRONT = (
    *("model_state_dict.", "state_dict.", "module.", "base_model.model.", "_forward_module."),
    "student_model.",
)
_ANYWHERE = ("_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module.")
# `vocab_size` of these is that of the output; their input table has so many rows more.
_ROWS_BESIDE = {"mllama": 8, "mllama_text_model": 8}
_NAMED = 3
# Blocks that one module stands for several times, or that come in groups.
_SHARED_BLOCKS = ("num_hidden_groups", "num_mem_blocks", "block_sizes", "hybrid_layer_ids")


@dataclass(frozen=True)
class Mismatch:
    """One tensor that is stored in another shape than the configuration asks for."""

    name: str
    stored: tuple[int, ...]
    expected: tuple[int, ...]


@dataclass(frozen=True)
class Fit:
    """How well files and configuration fit each other.

    Attributes:
        source: whether headers alone were looked at, or the library reported on a load.
        missing: parameters that neither a file nor a tie fills. From headers alone, the beginnings
            of the names of whole blocks.
        unexpected: stored tensors that nothing uses.
        mismatched: tensors of another shape than the configuration asks for.
        renamed: what stands in stored names and has to go for them to fit.
        blocks: blocks declared and stored, where these differ.
        vocab_size: what would have to stand there for all tables to fit; None where none would do.
    """

    source: Literal["headers", "loaded"]
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    mismatched: tuple[Mismatch, ...] = ()
    renamed: tuple[str, ...] = ()
    blocks: tuple[int, int] | None = None
    vocab_size: int | None = None

    @property
    def broken(self) -> bool:
        """Whether some parameter gets no numbers of its own, so that none can be believed."""
        return bool(self.missing or self.mismatched or self.renamed)

    @property
    def left_over(self) -> bool:
        """Whether whole blocks are stored that the configuration does not ask for."""
        return self.blocks is not None and self.blocks[1] > self.blocks[0]

    @property
    def words(self) -> str:
        """What does not fit, as a clause with names and numbers; empty where all does."""
        parts = []
        if self.renamed:
            parts.append(
                f"stored names hold {_quoted(self.renamed)}, and no class loads such names"
            )
        parts += [
            f"{printable(each.name)} is stored as {_shape(each.stored)} and config.json asks for "
            f"{_shape(each.expected)}"
            for each in self.mismatched[:_NAMED]
        ]
        if self.blocks:
            declared, stored = self.blocks
            parts.append(
                f"config.json declares {plural(declared, 'block')}, the files hold {stored}"
            )
        if self.missing and not self.renamed:
            what = "parameter" if self.source == "loaded" else "block"
            verb = "is" if len(self.missing) == 1 else "are"
            parts.append(
                f"{plural(len(self.missing), what)} {verb} in no file: {_some(self.missing)}"
            )
        elif self.unexpected and not self.renamed:
            verb = "is" if len(self.unexpected) == 1 else "are"
            parts.append(
                f"{plural(len(self.unexpected), 'stored tensor')} {verb} not used: "
                f"{_some(self.unexpected)}"
            )
        return "; ".join(parts)

    @property
    def remedy(self) -> str:
        """What to do about it, as a sentence or two; empty where all fits."""
        if self.renamed:
            return f"Leave {_quoted(self.renamed)} out of the names of the tensors."
        if self.vocab_size is not None:
            return f"Set vocab_size to {self.vocab_size} in config.json."
        if self.mismatched:
            return "Take weights and config.json from one place: the save before one was changed."
        if self.missing:
            return "Do not trust its text: go back to a save that holds all its parameters."
        if self.left_over and self.blocks:
            return (
                f"If all {self.blocks[1]} blocks are meant, set their number in config.json to "
                f"{self.blocks[1]}."
            )
        return ""


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(printable(name) for name in names[:_NAMED])
    return shown + (", …" if len(names) > _NAMED else "")


def _quoted(words: Iterable[str]) -> str:
    return " and ".join(f"`{printable(word)}`" for word in words)


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(count(size) for size in shape) or "one number"


def plain_name(name: str) -> str:
    """The name without what wrappers and trainers leave in it."""
    while True:
        before = name
        for word in _IN_FRONT:
            name = name.removeprefix(word)
        for word in _ANYWHERE:
            name = re.sub(rf"(^|\.){re.escape(word)}", r"\1", name)
        if name == before:
            return name


def _wrappers(names: Iterable[str]) -> tuple[str, ...]:
    """The words that `plain_name` takes out of these names, in the order in which they stand."""
    found: dict[str, None] = {}
    for name in names:
        while name != plain_name(name):
            word = next((each for each in _IN_FRONT if name.startswith(each)), "")
            if not word:
                inside = (each for each in _ANYWHERE if f".{name}".find(f".{each}") >= 0)
                word = min(inside, key=lambda each: f".{name}".find(f".{each}"))
            found[word] = None
            name = name.removeprefix(word) if name.startswith(word) else name.replace(word, "", 1)
    return tuple(found)


def fit_of_header(
    header: Header,
    config: Mapping[str, object],
    embedding: StoredTensor | None,
    head: StoredTensor | None,
) -> Fit | None:
    """What headers alone say; None of a GGUF file, which brings its own configuration.

    Args:
        header: of all files.
        config: the raw config.json; `{}` where there is none.
        embedding: E, where it was found.
        head: W, where one is stored.
    """
    if header.format == "gguf" or not config:
        return None
    names = [tensor.name for tensor in header.tensors]
    adapter = any(".lora_" in name or ".modules_to_save." in name for name in names)
    blocks, missing = (None, ()) if adapter else _blocks(names, config)
    mismatched = _rows(config, embedding, head)
    return Fit(
        "headers",
        missing=missing,
        mismatched=mismatched,
        renamed=() if adapter else _wrappers(names),
        blocks=blocks,
        vocab_size=_vocabulary_for(mismatched, embedding, head),
    )


def _blocks(
    names: Iterable[str], config: Mapping[str, object]
) -> tuple[tuple[int, int] | None, tuple[str, ...]]:
    """Declared and stored blocks where they differ, and the names of those that lack."""
    declared = dimensions(config).layers
    text = [config, *(part for part in config.values() if isinstance(part, Mapping))]
    if declared is None or any(key in part for key in _SHARED_BLOCKS for part in text):
        return None, ()
    lists: dict[str, set[int]] = {}
    for name in names:
        if found := re.match(r"(?P<list>(?:[^\d.][^.]*\.)+)(?P<at>\d+)\.", plain_name(name)):
            lists.setdefault(found["list"], set()).add(int(found["at"]))
    sides = {"encoder", "decoder", "vision", "visual", "audio", "mtp"}
    own = {key: held for key, held in lists.items() if not re.search("|".join(sides), key)}
    if len(own) != 1:  # of several lists nobody can tell which one the number is of
        return None, ()
    [(prefix, held)] = own.items()
    drafts = config.get("num_nextn_predict_layers")
    stored = max(held) + 1
    lacking = tuple(f"{prefix}{at}" for at in range(declared) if at not in held)
    beyond = stored > declared + (drafts if isinstance(drafts, int) else 0)
    if not lacking and not beyond:
        return None, ()
    return (declared, len(held)), lacking


def _rows(
    config: Mapping[str, object], embedding: StoredTensor | None, head: StoredTensor | None
) -> tuple[Mismatch, ...]:
    """Tables whose rows are not those that config.json declares."""
    size = dimensions(config).vocab_size
    if size is None or not embedding or "quantization_config" in config:
        return ()
    text = config.get("text_config")
    kinds = [str(part.get("model_type")) for part in (config, text) if isinstance(part, Mapping)]
    beside = next((_ROWS_BESIDE[kind] for kind in kinds if kind in _ROWS_BESIDE), 0)
    drafted, decoded = config.get("draft_vocab_size"), config.get("decoder_vocab_size")
    allowed = (size, decoded)
    found = []
    if _is_plain(embedding) and embedding.shape[0] not in (*allowed, size + beside):
        found.append(_other_rows(embedding, size + beside))
    if head and _is_plain(head) and head.shape[1] == embedding.shape[1]:
        wanted = drafted if isinstance(drafted, int) else size
        if head.shape[0] not in (*allowed, wanted):
            found.append(_other_rows(head, wanted))
    return tuple(found)


def _is_plain(tensor: StoredTensor) -> bool:
    return len(tensor.shape) == 2 and tensor.dtype in ("F32", "F16", "BF16", "F64")


def _other_rows(tensor: StoredTensor, rows: int) -> Mismatch:
    return Mismatch(tensor.name, tensor.shape, (rows, *tensor.shape[1:]))


def _vocabulary_for(
    mismatched: Sequence[Mismatch], embedding: StoredTensor | None, head: StoredTensor | None
) -> int | None:
    """The `vocab_size` that every table has the rows of; None where all fit, or none would do."""
    rows = {tensor.shape[0] for tensor in (embedding, head) if tensor}
    return rows.pop() if mismatched and len(rows) == 1 else None


def fit_of_report(
    info: Mapping[str, Any], parameters: Mapping[str, Any], tables: Sequence[str]
) -> Fit:
    """What `from_pretrained` reported, of every parameter.

    Args:
        info: its `output_loading_info`.
        parameters: name → parameter of the model that came, tied ones under each of their names.
        tables: the names of E's and W's matrices among them.
    """
    unfilled = set(info["missing_keys"])
    filled = {id(tensor) for name, tensor in parameters.items() if name not in unfilled}
    missing = sorted(
        name for name in unfilled if name in parameters and id(parameters[name]) not in filled
    )
    mismatched = tuple(
        Mismatch(name, tuple(stored), tuple(expected))
        for name, stored, expected in sorted(info["mismatched_keys"])
    )
    unexpected = sorted(info["unexpected_keys"])
    plain = {plain_name(name) for name in unexpected}
    renamed = _wrappers(unexpected) if plain & {*missing, *info["missing_keys"]} else ()
    rows = {each.stored[0] for each in mismatched if each.name in tables and len(each.stored) == 2}
    only_tables = all(each.name in tables for each in mismatched)
    other = {id(parameters[each.name]) for each in mismatched if each.name in parameters}
    fitting = any(id(parameters[name]) not in other for name in tables)
    return Fit(
        "loaded",
        tuple(missing),
        tuple(unexpected),
        mismatched,
        renamed,
        _reported_blocks(missing, unexpected, parameters),
        rows.pop() if len(rows) == 1 and only_tables and not fitting else None,
    )


_BLOCK = re.compile(r"(?P<list>.*?)\.(?P<at>\d+)\.")


def _reported_blocks(
    missing: Sequence[str], unexpected: Sequence[str], parameters: Iterable[str]
) -> tuple[int, int] | None:
    """Blocks declared and stored, where whole blocks lack or are left over."""

    def block_of(name: str) -> tuple[str, int] | None:
        found = _BLOCK.match(name)
        return (found["list"], int(found["at"])) if found else None

    declared: dict[tuple[str, int], int] = {}
    for name in parameters:
        if at := block_of(name):
            declared[at] = declared.get(at, 0) + 1
    for name in missing:
        if at := block_of(name):
            declared[at] -= 1
    whole = {at for at, left in declared.items() if left == 0}
    beyond = {at for name in unexpected if (at := block_of(name)) and at not in declared}
    for place, _ in sorted(whole | beyond):
        own = {at for at in declared if at[0] == place}
        if own:
            more = {at for at in beyond if at[0] == place}
            return len(own), len(own - whole) + len(more)
    return None
