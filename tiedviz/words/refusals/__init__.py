"""What the app says when it will not do a thing: what happened, why, and what to try.

Every refusal has words of its own, in a named constructor of its class; a class of its own only
where a caller tells it apart. A page shows the three parts and stops; the command line prints one
line and leaves with status 2. Nothing else is ever shown for something a person can type, paste or
pick.
"""

from __future__ import annotations

from collections.abc import Callable


class Refusal(Exception):
    """The app will not do this, and says what, why and what to try.

    Attributes:
        what: what could not be done, without a full stop.
        why: the cause, in words that need no source code.
        remedy: what the person can do about it.
    """

    def __init__(self, what: str, why: str, remedy: str) -> None:
        super().__init__(what, why, remedy)
        self.what = what
        self.why = why
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}: {self.why}. {self.remedy}"

    def __reduce__(self) -> tuple[Callable[..., Refusal], tuple[object, ...]]:
        # an exception is copied by its arguments; these take facts, so bring back the sentences
        return _revive, (type(self), self.what, self.why, self.remedy)


def _revive(kind: type[Refusal], what: str, why: str, remedy: str) -> Refusal:
    refusal = kind.__new__(kind)
    Refusal.__init__(refusal, what, why, remedy)
    return refusal
