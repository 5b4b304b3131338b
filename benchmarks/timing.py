"""Two calls timed in turns, and a line of the table."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

RUNS = 5


@dataclass(frozen=True)
class Row:
    """One line: what was compared, the measured number, the bound it is held to."""

    what: str
    measured: str
    bound: str
    holds: bool


def seconds(*calls: Callable[[], object], runs: int = RUNS) -> list[tuple[float, float]]:
    """Median wall and processor seconds of each call, taken in turns after a warm-up."""
    for call in calls:
        call()
    taken: list[list[tuple[float, float]]] = [[] for _ in calls]
    for _ in range(runs):
        for call, times in zip(calls, taken, strict=True):
            wall, processor = time.perf_counter(), time.process_time()
            call()
            times.append((time.perf_counter() - wall, time.process_time() - processor))
    return [
        (statistics.median(t[0] for t in times), statistics.median(t[1] for t in times))
        for times in taken
    ]


def ratio_row(
    what: str, mine: Callable[[], object], bare: Callable[[], object], bound: float
) -> Row:
    """How many times as long `mine` takes as `bare`."""
    (wall, processor), (bare_wall, bare_processor) = seconds(mine, bare)
    ratio, by_processor = wall / bare_wall, processor / bare_processor
    measured = (
        f"{wall:.3f} s / {bare_wall:.3f} s = {ratio:.2f} wall, {by_processor:.2f} processor time"
    )
    return Row(what, measured, f"<= {bound:g}", min(ratio, by_processor) <= bound)
