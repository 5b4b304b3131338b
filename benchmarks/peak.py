"""How much memory a call needs at its worst, above what is resident when it begins (Linux)."""

from collections.abc import Callable
from pathlib import Path

_SELF = Path("/proc/self")


def peak_above(call: Callable[[], object]) -> int:
    """Bytes. The kernel's high-water mark is set back first, so earlier peaks do not count."""
    (_SELF / "clear_refs").write_text("5")
    before = _status("VmRSS")
    call()
    return max(0, _status("VmHWM") - before)


def _status(name: str) -> int:
    for line in (_SELF / "status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"/proc/self/status has no {name}")
