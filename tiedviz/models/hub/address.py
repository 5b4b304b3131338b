"""Where the Hub is, where its files are cached, and whether it may be asked.

The environment is read at each call (the Hub's own client reads it once, at import): `HF_ENDPOINT`,
`HF_HOME`, `HF_HUB_CACHE`, `HF_HUB_OFFLINE`, `HF_HUB_DOWNLOAD_TIMEOUT`. The token (`HF_TOKEN`) is
the client's own business.
"""

from __future__ import annotations

import os
from pathlib import Path

# How long the Hub has to begin an answer, in seconds: a page waits for it.
TIMEOUT = 4.0
# How long a download may stand still, in seconds, unless HF_HUB_DOWNLOAD_TIMEOUT says otherwise.
_PATIENCE = 20.0


def endpoint() -> str:
    """The Hub's address, without a slash at the end."""
    from huggingface_hub import constants  # takes its time, and only a question needs it

    return (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")


def cache_folder() -> Path:
    """The folder in which the Hub's client, and transformers, keep what was downloaded."""
    if chosen := os.environ.get("HF_HUB_CACHE"):
        return Path(chosen).expanduser()
    if home := os.environ.get("HF_HOME"):
        return Path(home).expanduser() / "hub"
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "huggingface" / "hub"


def patience() -> float:
    """Seconds without a byte after which a download is given up."""
    try:
        chosen = float(os.environ.get("HF_HUB_DOWNLOAD_TIMEOUT") or _PATIENCE)
    except ValueError:
        return _PATIENCE
    return chosen if 0 < chosen < float("inf") else _PATIENCE


def offline() -> bool:
    """Whether the person asked for no network at all."""
    return os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on")


def page_of(repo: str) -> str:
    """The page of a repository, for a person to open."""
    return f"{endpoint()}/{repo}"
