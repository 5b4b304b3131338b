"""What the server does for its visitors: headers, folders that may be read, module search path."""

from __future__ import annotations

import ipaddress
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware

from tiedviz.files.access import allow_none_unless_named, allowed_folders
from tiedviz.models.cache import cache_root
from tiedviz.models.hub import cache_folder

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


# Vega compiles charts in the browser, which needs eval; Streamlit styles its elements inline.
# Nothing may be asked of another address, and no other site may show the app in a frame.
_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class _SecurityHeaders:
    """ASGI middleware that adds them to every answer over HTTP."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


SECURITY_HEADERS = (Middleware(_SecurityHeaders),)


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


def keep_on_search_path(folder: Path) -> None:
    """Put `folder` last on `sys.path`, for good.

    Streamlit puts the folder of the main script first for the time of each run and takes it off
    again, unless it is there already. Taken off while another thread (an opening, which imports
    torch) walks along the list, everything moves up by one and that thread steps over an entry:
    a library that is installed is "not found".
    """
    if str(folder) not in sys.path[1:]:  # the first may be Streamlit's own, about to go
        sys.path.append(str(folder))
