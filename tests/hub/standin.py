"""A stand-in for the Hub: the two routes the app uses, over folders, and every way to fail."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = hashlib.sha1(b"stand-in").hexdigest()

FAILURES = {
    "org/private": (401, "RepoNotFound"),
    "org/missing": (404, "RepoNotFound"),
    "org/gated": (401, "GatedRepo"),
    "org/gated-for-me": (403, "GatedRepo"),
    "org/busy": (429, ""),
    "org/broken": (500, ""),
}


class StandInHub:
    """Serves `repositories` (id → folder) on loopback.

    Attributes:
        base: its address, for HF_ENDPOINT.
        requests: (method, path) of everything that was asked for.
        sent: bytes of bodies sent.
        cut_after: where set, connections break off at this byte of a weight file.
        hang_after: where set, they stand still for a minute at this byte of it.
        portal: whether every file is answered with somebody's web page instead.
        spoil: whether weight files come with one byte changed, under their published hash.
        tokens: every Authorization header that came.
    """

    def __init__(self, repositories: dict[str, Path]) -> None:
        self.repositories = repositories
        self.requests: list[tuple[str, str]] = []
        self.sent = 0
        self.cut_after: int | None = None
        self.hang_after: int | None = None
        self.portal = False
        self.spoil = False
        self.tokens: list[str] = []
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Bound", (_Handler,), {"hub": self})
        )
        self._server.daemon_threads = True
        self.base = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _listed(path: Path) -> dict[str, object]:
    """A file as the Hub lists it; weights lie in its large file storage, under their hash."""
    size = path.stat().st_size
    listed: dict[str, object] = {"rfilename": path.name, "size": size}
    if path.suffix == ".safetensors" and not _sparse(path):
        listed["lfs"] = {"sha256": _sha256(path), "size": size, "pointerSize": 134}
    return listed


def _sparse(path: Path) -> bool:
    """Whether it is mostly holes: only the header of such a file is ever asked for."""
    facts = path.stat()
    return facts.st_blocks * 512 < facts.st_size // 2


def _sha256(path: Path) -> str:
    return _sha256_of(path, path.stat().st_mtime_ns)


@cache
def _sha256_of(path: Path, written: int) -> str:
    """Once for each file as it stands: SmolLM2's is half a gigabyte."""
    if _sparse(path):
        return hashlib.sha256(f"{path}{written}".encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Handler(BaseHTTPRequestHandler):
    hub: StandInHub
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append((self.command, path))
        self.hub.tokens.append(self.headers.get("Authorization", ""))
        if path.startswith("/api/models/"):
            self.describe(path.removeprefix("/api/models/"), body)
        elif "/resolve/" in path:
            repo, _, rest = path[1:].partition("/resolve/")
            self.file(repo, rest.partition("/")[2], body)
        else:
            self.fail(404, "")

    def describe(self, path: str, body: bool) -> None:
        repo, _, revision = path.partition("/revision/")
        if repo == "org/hangs":
            time.sleep(30)
        if repo == "org/html":
            return self.send(b"<html>captive portal</html>", "text/html", {}, body)
        if repo in FAILURES:
            return self.fail(*FAILURES[repo])
        if repo not in self.hub.repositories:
            return self.fail(404, "RepoNotFound")
        if revision not in ("", "main", COMMIT):
            return self.fail(404, "RevisionNotFound")
        files = sorted(path for path in self.hub.repositories[repo].iterdir() if path.is_file())
        record = {
            "id": repo,
            "modelId": repo,
            "sha": COMMIT,
            "private": False,
            "gated": False,
            "downloads": 0,
            "likes": 0,
            "tags": [],
            "siblings": [_listed(path) for path in files],
        }
        self.send(json.dumps(record).encode(), "application/json", {}, body)

    def file(self, repo: str, name: str, body: bool) -> None:
        if repo in FAILURES:
            return self.fail(*FAILURES[repo])
        path = self.hub.repositories.get(repo, Path("/nowhere")) / name
        if not path.is_file():
            return self.fail(404, "EntryNotFound")
        if self.hub.portal:
            return self.send(b"<html>captive portal</html>", "text/html", {}, body)
        size = path.stat().st_size
        etag = _sha256(path)
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        start, end, status = 0, size - 1, 200
        wanted = self.headers.get("Range", "")
        if wanted.startswith("bytes="):
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            start, end, status = int(first), min(int(last or end), end), 206
            headers["Content-Range"] = f"bytes {start}-{end}/{size}"
        self.begin(status, "application/octet-stream", end - start + 1, headers)
        if body:
            self.stream(path, start, end - start + 1)

    def fail(self, status: int, code: str) -> None:
        self.send_response(status)
        if code:
            self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send(self, data: bytes, kind: str, headers: dict[str, str], body: bool) -> None:
        self.begin(200, kind, len(data), headers)
        if body:
            self.write(data)

    def begin(self, status: int, kind: str, size: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(size))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def stream(self, path: Path, start: int, length: int) -> None:
        end = path.stat().st_size
        if self.hub.cut_after is not None and start + length > self.hub.cut_after:
            length, self.close_connection = max(0, self.hub.cut_after - start), True
        with path.open("rb") as file:
            file.seek(start)
            if self.hub.hang_after is not None and start + length > self.hub.hang_after:
                self.write(file.read(max(0, self.hub.hang_after - start)))
                time.sleep(60)
                return
            while length > 0 and (block := file.read(min(length, 1 << 20))):
                length -= len(block)
                if self.hub.spoil and path.suffix == ".safetensors" and file.tell() == end:
                    block = block[:-1] + bytes([block[-1] ^ 1])
                self.write(block)

    def write(self, data: bytes) -> None:
        self.hub.sent += len(data)
        try:
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
