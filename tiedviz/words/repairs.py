"""What a person can run to mend a checkpoint. Shown, never run here.

FOLDER, FIXED and FILE stand for places of the reader's own.
"""

from __future__ import annotations

from typing import NamedTuple


class Repair(NamedTuple):
    """A few lines of Python that mend a checkpoint."""

    what: str
    """What they do, and when that is meant, as a sentence."""
    code: str
    gives: str
    """The verdict on the files afterwards."""


_READ_CONFIG = (
    "import json, pathlib\n\n"
    'path = pathlib.Path("FOLDER/config.json")\n'
    "config = json.loads(path.read_text())\n"
)
_WRITE_CONFIG = "path.write_text(json.dumps(config, indent=2))"
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


def set_flag(path: str, value: bool, what: str, gives: str) -> Repair:
    """Set one flag of config.json.

    Args:
        path: the flag, with dots; the parts that lead to it are made where they lack.
        value: what to set it to.
        what: the sentence of the repair.
        gives: the verdict afterwards.
    """
    return Repair(what, _flag(path, value), gives)


def keep_one_copy(kind: str, path: str, *, equal: bool, head_is_finer: bool) -> Repair:
    """Open a model of two copies in transformers, and save it with one.

    Args:
        kind: the class to open it with.
        path: the flag of config.json to set to true first; "" where it is true already.
        equal: whether the two hold the same numbers, so that transformers ties them by itself.
        head_is_finer: of two that do not, whether the output matrix is the finer one.
    """
    first = f"{_flag(path, True)}\n\n" if path else ""
    tie = "" if equal else (_KEEP_W if head_is_finer else "") + "model.tie_weights()\n"
    code = (
        f"{first}from transformers import AutoTokenizer, {kind}\n\n"
        f'model = {kind}.from_pretrained("FOLDER", dtype="auto")\n'
        f"{tie}"
        'model.save_pretrained("FIXED")\n'
        'AutoTokenizer.from_pretrained("FOLDER").save_pretrained("FIXED")'
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
