"""What is said when not even a model's files can be heard."""

from __future__ import annotations

from tiedviz.words.refusals import Refusal


class AuditRefusal(Refusal):
    """A model that cannot be audited without loading it."""

    @classmethod
    def not_here_yet(cls, title: str, name: str) -> AuditRefusal:
        """A shelf model whose file has not been fetched, and nothing may be loaded."""
        return cls(
            f"{title} cannot be audited without loading",
            "its file has not been fetched yet",
            f"Run `python -m tiedviz fetch {name}` first.",
        )

    @classmethod
    def pickled_on_the_hub(cls, repo: str) -> AuditRefusal:
        """A repository without safetensors, which cannot be read from afar."""
        return cls(
            f"The files of {repo} cannot be read from the Hub",
            "its weights are pickled, and have no header that can be read by itself",
            "Audit it without --no-load, which downloads it, or take a safetensors version.",
        )
