"""What changes where other machines can reach the app."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path

import streamlit as st

from tiedviz.files.access import allow_none_unless_named, allowed_folders
from tiedviz.models.cache import cache_root
from tiedviz.models.hub import cache_folder

# An absolute path, but not the path of a URL: what stands before its first slash tells them apart.
# After a quotation mark it may hold spaces.
_BEGINS = (
    r"(?:(?<![\w:/.~])(?:~(?:[a-z_][\w.-]*)?)?/"  # /x, ~/x, ~name/x
    r"|(?<=:)/(?!/)|(?<=file:)/+"  # error:/x, file:///x
    r"|[A-Za-z]:\\|(?<!\\)\\\\)"  # C:\x, \\server\x
)
_PATH = re.compile(
    rf"(?<=[\"'“‘]){_BEGINS}[^\"'“”‘’<>|\n]*[/\\]|{_BEGINS}[^\s“”\"'<>|]*[/\\]", re.IGNORECASE
)


def reachable_from_elsewhere() -> bool:
    """Whether the server is bound to more than this machine. No address means every one."""
    address = st.get_option("server.address")
    if address is None:
        return True
    try:
        return not ipaddress.ip_address(address).is_loopback
    except ValueError:  # a name, or a socket that somebody forwards to
        return address != "localhost"


def guard() -> None:
    """Where others can reach the app, no folder may be read but those named for them."""
    if reachable_from_elsewhere():
        allow_none_unless_named()


def without_paths(text: str) -> str:
    """`text` for a visitor: where others can reach the app, paths keep only their last name."""
    if not reachable_from_elsewhere():
        return text
    # by name, since they may hold spaces
    for folder in (cache_root(), cache_folder(), *allowed_folders(), Path.home()):
        text = text.replace(f"{folder}/", "…/").replace(str(folder), "…")
    return _PATH.sub("…/", text)
