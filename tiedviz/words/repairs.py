"""What a person can run to mend a checkpoint. Shown, never run here."""

from __future__ import annotations

_OPEN = (
    "from transformers import AutoModelForCausalLM, AutoTokenizer\n\n"
    'model = AutoModelForCausalLM.from_pretrained("FOLDER", dtype="auto")\n'
)
_SAVE = (
    'model.save_pretrained("FIXED")\n'
    'AutoTokenizer.from_pretrained("FOLDER").save_pretrained("FIXED")'
)
_ONE_COPY = f"# one copy: transformers finds the two equal, ties them and saves one\n{_OPEN}{_SAVE}"

_READ_CONFIG = (
    "import json, pathlib\n\n"
    'path = pathlib.Path("FOLDER/config.json")\n'
    "config = json.loads(path.read_text())\n"
)
_WRITE_CONFIG = "path.write_text(json.dumps(config, indent=2))"


def repair_for(word: str, path: str, *, tied: bool | None = None) -> str:
    """Python for a verdict, or an empty string where there is nothing to mend by a few lines.

    Args:
        word: the verdict.
        path: the flag of config.json that governs, with dots; "" where there is no such flag, as
            in a GGUF file.
        tied: whether the model is declared tied.
    """
    if word == "twin":
        if tied:
            return _ONE_COPY
        meant = "# only if the two are meant to be one: declare it so\n"
        return f"{meant}{_flag(path, True)}\n\n{_ONE_COPY}" if path else ""
    if not path:
        return ""
    if word in ("contradiction", "near_twin"):
        return "# keep the stored head: declare the model untied\n" + _flag(path, False)
    if word == "broken":
        return "# only if the model was tied: declare it so, and the table scores again\n" + _flag(
            path, True
        )
    return ""


def _flag(path: str, value: bool) -> str:
    """Set one flag; the parts of the configuration that lead to it are made where they lack."""
    *parents, key = path.split(".")
    part = "config" + "".join(f".setdefault({parent!r}, {{}})" for parent in parents)
    return f"{_READ_CONFIG}{part}[{key!r}] = {value}\n{_WRITE_CONFIG}"
