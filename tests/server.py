"""The app, or another script, served by a streamlit process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.conftest import ROOT


@dataclass
class Server:
    """A running app: its address and its process."""

    base: str
    process: subprocess.Popen[bytes]

    def maps(self) -> str:
        """The files the process has mapped into memory."""
        return Path(f"/proc/{self.process.pid}/maps").read_text()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


def start_server(
    script: Path | str = "app.py", log: IO[bytes] | None = None, **environment: str
) -> Server:
    """Start `streamlit run` on a free port and wait until it answers.

    Args:
        script: what is served.
        log: takes what the server says.
        environment: added to this process's own.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    process = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | environment, stdout=log, stderr=log
    )
    base = f"http://127.0.0.1:{port}"
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{base}/_stcore/health", timeout=1)
            return Server(base, process)
        except OSError:
            assert process.poll() is None, "the server ended"
            time.sleep(0.1)
    raise AssertionError("the server did not start")
