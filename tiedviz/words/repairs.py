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

_SET_FLAG = (
    "import json, pathlib\n\n"
    'path = pathlib.Path("FOLDER/config.json")\n'
    "config = json.loads(path.read_text())\n"
    "part = config\n"
    "for key in {parents!r}:\n"
    "    part = part[key]\n"
    "part[{key!r}] = {value}\n"
    "path.write_text(json.dumps(config, indent=2))"
)


def repair_for(word: str, path: str) -> str:
    """Python for a verdict, or an empty string where there is nothing to mend.

    Args:
        word: the verdict.
        path: the flag that governs, with dots.
    """
    if word in ("contradiction", "near_twin"):
        return "# keep the stored head: declare the model untied\n" + _flag(path, False)
    if word == "broken":
        return "# only if the model was tied: declare it so, and the table scores again\n" + _flag(
            path, True
        )
    if word == "twin":
        return (
            f"# one copy: transformers finds the two equal, ties them and saves one\n{_OPEN}{_SAVE}"
        )
    return ""


def _flag(path: str, value: bool) -> str:
    *parents, key = path.split(".")
    return _SET_FLAG.format(parents=parents, key=key, value=value)
