"""What tells one set of files from another: where they lie, how large they are, when written."""

from __future__ import annotations

from pathlib import Path


def identity(path: Path) -> str:
    """The identity of a model folder or of one file. Changes when a file in it is replaced."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    stamps = [
        f"{file.name}:{file.stat().st_size}:{file.stat().st_mtime_ns}"
        for file in files
        if file.is_file()
    ]
    return f"{path.resolve()}|{'|'.join(stamps)}"
