"""A script behind `streamlit run`, and the Chromium that looks at it."""

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
_ROOT = Path(__file__).parents[1]


def chromium() -> str | None:
    """Where it is, or None."""
    return shutil.which("chromium")


@contextmanager
def served(script: Path | str) -> Iterator[str]:
    """Start a server on a free port. Yields its address once it answers; stops it at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(command, cwd=_ROOT, stdout=quiet, stderr=quiet)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(f"{address}/_stcore/health")
        yield address
    finally:
        server.terminate()
        server.wait(20)


def _wait_for(address: str) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(address, timeout=1)
            return
        except OSError:
            time.sleep(0.02)
    raise TimeoutError(address)
