"""What is said when not even a model's files can be heard."""

from __future__ import annotations

from tiedviz.words.refusals import Refusal


class NotHereYet(Refusal):
    """A shelf model whose file has not been fetched, and nothing may be loaded."""

    def __init__(self, title: str, name: str) -> None:
        super().__init__(
            f"{title} cannot be audited without loading",
            "its file has not been fetched yet",
            f"Run `python -m tiedviz fetch {name}` first.",
        )


class PickledOnTheHub(Refusal):
    """A repository without safetensors, which cannot be read from afar."""

    def __init__(self, repo: str) -> None:
        super().__init__(
            f"The files of {repo} cannot be read from the Hub",
            "its weights are pickled, and have no header that can be read by itself",
            "Audit it without --no-load, which downloads it, or take a safetensors version.",
        )
