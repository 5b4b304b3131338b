"""What is said when the Hub does not give what was asked of it. One cause, one text."""

from __future__ import annotations

from tiedviz.words.refusals import Refusal
from tiedviz.words.shelf import FIRST_ON_SHELF

_SHELF = FIRST_ON_SHELF.name
_UNGATED = f"{FIRST_ON_SHELF.family} on the shelf ({_SHELF}) needs no account."


class HubRefusal(Refusal):
    """The Hub did not deliver."""

    @classmethod
    def no_such_repository(cls, repo: str) -> HubRefusal:
        """404: nobody has this repository, or not for this account."""
        return cls(
            f"The Hub has no model “{repo}”",
            "there is no repository of that name that this account may see",
            "Check the spelling, upper and lower case included: OWNER/NAME.",
        )

    @classmethod
    def needs_login(cls, repo: str) -> HubRefusal:
        """401: private, or not there at all; the Hub does not tell strangers which."""
        return cls(
            f"The Hub does not show “{repo}” to strangers",
            "either it does not exist or it is private, and no valid token was sent",
            "Check the spelling; for a private model set HF_TOKEN for the server and restart it.",
        )

    @classmethod
    def gated_without_login(cls, repo: str, page: str) -> HubRefusal:
        """401 with a gate: the licence must be accepted by somebody who is logged in."""
        return cls(
            f"“{repo}” is gated",
            "its licence must be accepted first, and nobody is logged in",
            f"Accept it on {page}, then set HF_TOKEN for the server. {_UNGATED}",
        )

    @classmethod
    def gated_not_on_list(cls, repo: str, page: str) -> HubRefusal:
        """403 with a gate: logged in, and not let in yet."""
        return cls(
            f"“{repo}” is gated, and this account is not on its list",
            "the token is valid, but access was not asked for or not granted yet",
            f"Ask for access on {page}. {_UNGATED}",
        )

    @classmethod
    def no_such_revision(cls, repo: str, revision: str) -> HubRefusal:
        """The repository is there, the branch, tag or commit is not."""
        return cls(
            f"“{repo}” has no revision “{revision}”",
            "no branch, tag or commit of the repository is called so",
            "Leave out the part after @ for the main branch.",
        )

    @classmethod
    def busy(cls, repo: str) -> HubRefusal:
        """429: too many requests."""
        return cls(
            f"The Hub turns away requests for “{repo}” just now",
            "it was asked too often from this address (429)",
            "Wait a few minutes, or set HF_TOKEN: accounts may ask more often.",
        )

    @classmethod
    def broken(cls, repo: str, said: str) -> HubRefusal:
        """5xx, or an answer that makes no sense."""
        return cls(
            f"The Hub failed while it was asked for “{repo}”",
            f"the fault is on its side: {said}",
            "Try again later; its status page says more.",
        )

    @classmethod
    def download_cut(cls, repo: str, file: str) -> HubRefusal:
        """The connection broke in the middle of a file."""
        return cls(
            f"The download of {file} from “{repo}” was cut",
            "the connection broke and could not be taken up again",
            "Open it again: what is complete is kept, the rest is fetched anew.",
        )

    @classmethod
    def stood_still(cls, repo: str, file: str, seconds: float) -> HubRefusal:
        """The connection stands, and nothing comes over it."""
        return cls(
            f"The Hub stopped sending {file} of “{repo}”",
            f"nothing came for {seconds:.0f} s",
            "Open it again: the files that are complete are kept. If it stops again, check the "
            f"network and the proxy, or open {_SHELF}, which comes from the package index.",
        )

    @classmethod
    def nothing_to_open(cls, repo: str, files: list[str], lacks: str = "") -> HubRefusal:
        """A repository without weights that transformers opens."""
        listed = ", ".join(files[:6]) + (" …" if len(files) > 6 else "")
        why = f"it lacks {lacks}" if lacks else "it has neither safetensors nor PyTorch .bin files"
        return cls(
            f"“{repo}” holds no weights that can be opened here",
            f"{why}; there is only {listed or 'nothing'}",
            "Look for the same model in the transformers layout.",
        )


class HubUnreachable(HubRefusal):
    """The Hub did not answer, or may not be asked; a copy in the cache serves as well."""

    @classmethod
    def no_answer(cls, repo: str, endpoint: str) -> HubUnreachable:
        """No answer: no network, no such host, a dead proxy, a firewall."""
        return cls(
            f"“{repo}” cannot be fetched, and no copy is in the cache",
            f"{endpoint} did not answer within a few seconds",
            f"Check the network (or HF_ENDPOINT and the proxy settings), or open {_SHELF}, which "
            "comes from the package index.",
        )

    @classmethod
    def offline(cls, repo: str) -> HubUnreachable:
        """HF_HUB_OFFLINE is set, so the Hub was not even asked."""
        return cls(
            f"“{repo}” is not in the cache",
            "HF_HUB_OFFLINE is set, so the Hub was not asked",
            "Unset it, or open a model that is in the cache or on the shelf.",
        )
