"""Which few lines mend a checkpoint, and where none do, why not. Shown, never run here.

FOLDER, FIXED and FILE stand for places of the reader's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tiedviz.verdict.defaults import model_type_of
from tiedviz.verdict.difference import coarser
from tiedviz.verdict.wording import unequal_rows
from tiedviz.words.refusals.file import printable

if TYPE_CHECKING:
    from tiedviz.files.fit import Fit
    from tiedviz.verdict.witnesses import Declared, Stored
    from tiedviz.verdict.wording import Word

_AUTO = "AutoModelForCausalLM"
# What was given stays as it is: everything beside the weights, or with them, is copied first.
_COPY = """\
import json, pathlib, shutil

source, fixed = pathlib.Path("FOLDER"), pathlib.Path("FIXED")
fixed.mkdir()
for path in source.iterdir():
    if path.is_file()WHICH:
        shutil.copyfile(path, fixed / path.name)
"""
_COPY_ALL = _COPY.replace("WHICH", "")
_COPY_THE_REST = _COPY.replace(
    "WHICH", ' and not path.name.endswith((".safetensors", ".bin", ".index.json"))'
)
_READ_CONFIG = """\
path = fixed / "config.json"
config = json.loads(path.read_text("utf-8"))
"""
_WRITE_CONFIG = 'path.write_text(json.dumps(config, indent=2), "utf-8")'
_RENAME = """\

def plain(name):
    before = None
    while name != before:
        before = name
        for word in WORDS:
            name = name.removeprefix(word)
        for word in INSIDE:
            name = name.replace("." + word, ".")
    return name

def renamed(tensors):
    return {plain(name): value for name, value in tensors.items()}
"""
_RENAME_SAFETENSORS = """\

from safetensors import safe_open
from safetensors.torch import load_file, save_file

for path in fixed.glob("*.safetensors"):
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    save_file(renamed(load_file(path)), path, metadata)
"""
_RENAME_BIN = """\

import torch

for path in fixed.glob("pytorch_model*.bin"):
    tensors = torch.load(path, map_location="cpu", weights_only=True)
    for word in ("model_state_dict", "state_dict"):
        tensors = tensors.get(word, tensors)
    torch.save(renamed(tensors), path)
"""
_RENAME_INDEX = """\
for path in fixed.glob("*.index.json"):
    index = json.loads(path.read_text("utf-8"))
    index["weight_map"] = renamed(index["weight_map"])
    path.write_text(json.dumps(index, indent=2), "utf-8")"""
_KEEP_W = (
    "# the output matrix is the finer copy\n"
    "model.get_input_embeddings().weight.data = model.get_output_embeddings().weight.data\n"
)
_GGUF = """\
import gguf

old = gguf.GGUFReader("FILE.gguf")
new = gguf.GGUFWriter("FIXED.gguf", old.get_field("general.architecture").contents())
new.data_alignment = old.alignment
for field in old.fields.values():
    if field.name != "general.architecture" and not field.name.startswith("GGUF."):
        kind, inside = field.types[0], field.types[-1]
        inside = inside if kind == gguf.GGUFValueType.ARRAY else None
        new.add_key_value(field.name, field.contents(), kind, sub_type=inside)
matrix = {tensor.name: tensor for tensor in old.tensors}
matrix["token_embd.weight"] = matrix.pop("KEPT")
matrix.pop("output.weight", None)
for name, tensor in matrix.items():
    new.add_tensor(name, tensor.data, raw_dtype=tensor.tensor_type)
new.write_header_to_file()
new.write_kv_data_to_file()
new.write_tensors_to_file()
new.close()"""


class Repair(NamedTuple):
    """A few lines of Python that mend a checkpoint."""

    what: str
    """What they do, and when that is meant, as a sentence."""
    code: str
    gives: str
    """The verdict on the files afterwards; empty where that turns on numbers not compared yet."""


def repair_for(word: Word, declared: Declared, stored: Stored) -> Repair | str:
    """Lines for a verdict on files; a sentence where lines would not do; "" where all is whole."""
    if word in ("twin", "near_twin"):
        return _one_copy(word, declared, stored)
    if word == "contradiction":
        return _keep_the_head(declared, stored)
    if word == "broken" and stored.fit and stored.fit.broken:
        return _make_fit(stored.fit, declared, stored)
    if word == "broken":
        return _declare_tied(declared, stored)
    return ""


def _make_fit(fit: Fit, declared: Declared, stored: Stored) -> Repair | str:
    """Give names back, or state the rows that are stored; nothing brings lost numbers back."""
    gives = "" if stored.head else "untied" if declared.tied is False else "tied"
    if fit.renamed:
        inside = tuple(word for word in fit.renamed if word.startswith("_"))
        rename = _RENAME.replace("WORDS", repr(fit.renamed)).replace("INSIDE", repr(inside))
        files = _RENAME_BIN if stored.format == "bin" else _RENAME_SAFETENSORS
        return Repair(fit.remedy, _COPY_ALL + rename + files + _RENAME_INDEX, gives)
    if fit.vocab_size is None:
        return fit.remedy
    code = (
        f"{_COPY_ALL}\n{_READ_CONFIG}"
        "for part in (config, *config.values()):\n"
        '    if isinstance(part, dict) and "vocab_size" in part:\n'
        f'        part["vocab_size"] = {fit.vocab_size}\n'
        f"{_WRITE_CONFIG}"
    )
    return Repair(fit.remedy, code, gives)


def _one_copy(word: Word, declared: Declared, stored: Stored) -> Repair | str:
    finer = _head_is_finer(stored)
    if stored.format == "gguf":
        return leave_output_out("output.weight" if finer else "token_embd.weight")
    if stored.partner is None or stored.head is None:
        return ""
    if declared.forced and declared.tied is False:
        return (
            f"Keep both copies: of this class {printable(declared.path)} also says whether the "
            "state is scaled before the output matrix, so that setting it changes the logits."
        )
    kind = declared.architecture
    if kind is not None and model_type_of(kind) is None:
        return f"transformers has no {printable(kind)}: save it again with the code that wrote it."
    path = "" if declared.tied else declared.path
    return keep_one_copy(kind or _AUTO, path, equal=word == "twin", head_is_finer=finer)


def _head_is_finer(stored: Stored) -> bool:
    if stored.partner is None or stored.head is None:
        return False
    one, other = stored.partner.dtype, stored.head.dtype
    return one != other and coarser(one, other) == one


def _keep_the_head(declared: Declared, stored: Stored) -> Repair | str:
    if stored.head is None or unequal_rows(stored):
        return ""  # the advice says it: one of the two has to be made again
    what = "Keep the stored head: declare the model untied."
    if declared.forced:
        what += " Of this class the flag also says whether the state is scaled before the head."
    return set_flag(declared.path, False, what, "untied")


def _declare_tied(declared: Declared, stored: Stored) -> Repair | str:
    if declared.tied is not False:
        return ""
    if stored.absent:
        return (
            f"The index promises {printable(stored.absent[0])}: fetch the files again, or go back "
            "to a save that holds it."
        )
    if stored.empty:
        return (
            f"{printable(stored.empty[0])} is stored without a number: gather the parts of the "
            "model (DeepSpeed ZeRO-3) and save it again."
        )
    what = "Only if the model was tied: declare it so, and the one table scores again."
    return set_flag(declared.path, True, what, "tied")


def set_flag(path: str, value: bool, what: str, gives: str) -> Repair:
    """A copy with one flag of config.json set.

    Args:
        path: the flag, with dots; the parts that lead to it are made where they lack.
        value: what to set it to.
        what: the sentence of the repair.
        gives: the verdict afterwards.
    """
    return Repair(what, f"{_COPY_ALL}\n{_flag(path, value)}", gives)


def keep_one_copy(kind: str, path: str, *, equal: bool, head_is_finer: bool) -> Repair:
    """Open a model of two copies in transformers, and save it with one.

    Args:
        kind: the class to open it with.
        path: the flag of config.json to set to true first; "" where it is true already.
        equal: whether the two hold the same numbers, so that transformers ties them by itself.
        head_is_finer: of two that do not, whether the output matrix is the finer one.
    """
    first = f"\n{_flag(path, True)}\n\n" if path else "\n"
    tie = "" if equal else (_KEEP_W if head_is_finer else "") + "model.tie_weights()\n"
    code = (
        f"{_COPY_THE_REST}{first}from transformers import AutoConfig, {kind}\n\n"
        'config = AutoConfig.from_pretrained("FIXED")\n'
        f'model = {kind}.from_pretrained("FOLDER", config=config, dtype="auto")\n'
        f"{tie}"
        'model.save_pretrained("FIXED")'
    )
    how = "transformers finds the two equal, ties them and saves one"
    how = how if equal else "the finer of the two takes both places, and is saved once"
    only = "Only if the two are meant to be one: declare it so; then " if path else "One copy: "
    return Repair(f"{only}{how}.", code, "tied")


def leave_output_out(kept: str) -> Repair:
    """Write a GGUF file again with one matrix, which loaders then take for both jobs.

    Args:
        kept: the name of the tensor to keep, "token_embd.weight" or "output.weight".
    """
    what = (
        f"One copy: the numbers of {kept} stay, as token_embd.weight, and most architectures of "
        "llama.cpp read the output from there. Better still is to convert the original again: "
        "the converter leaves the output of a tied model out."
    )
    return Repair(what, _GGUF.replace("KEPT", kept), "tied")


def _flag(path: str, value: bool) -> str:
    *parents, key = path.split(".")
    part = "config" + "".join(f".setdefault({parent!r}, {{}})" for parent in parents)
    return f"{_READ_CONFIG}{part}[{key!r}] = {value}\n{_WRITE_CONFIG}"
