"""Several people on several models at once: every number is the one a lone visitor would get.

In one process, where the library's own state can be looked at; `tests/load` does the same through
the real server, with more of everything.
"""

import random
from concurrent.futures import ThreadPoolExecutor

import torch

from tiedviz.compute.next_token.state import score_state
from tiedviz.models.building import intact
from tiedviz.models.loading import load
from tiedviz.models.pool import ModelPool


def test_readings_are_right_while_others_read_and_open(tiny_folder):
    folders = [
        str(tiny_folder(tied=index % 2 == 0, seed=index, name=f"m{index}")) for index in range(3)
    ]
    prompts = [[5 + index, 40, 7 * index + 11, 200 - index] for index in range(3)]
    alone = {
        (folder, position): score_state(load(folder), prompt).logits
        for folder in folders
        for position, prompt in enumerate(prompts)
    }
    # room for two of the three, so that models come and go while they are read
    pool = ModelPool(load, budget=2 * load(folders[0]).nbytes + 1000)

    def visit(seed: int) -> list[float]:
        choose = random.Random(seed)
        worst = []
        for _ in range(5):
            folder, number = choose.choice(folders), choose.randrange(len(prompts))
            while (model := pool.get(folder)) is None:
                pool.open(folder).wait(60)
            seen = score_state(model, prompts[number])
            worst.append(float((seen.logits - alone[folder, number]).abs().max()))
            assert seen.agrees
        return worst

    with ThreadPoolExecutor(4) as workers:
        differences = [each for visitor in workers.map(visit, range(4)) for each in visitor]
    assert max(differences) < 1e-5
    assert intact()
    assert torch.get_default_dtype() is torch.float32
    assert pool.nbytes <= pool.budget


def test_hooks_of_one_reading_never_see_another(tied_model):
    """Without the lock every hook sees every thread's pass, and h is somebody else's."""
    prompts = [[index, 50 + index, 100 + index] for index in range(8)]
    alone = [score_state(tied_model, prompt).h for prompt in prompts]
    with ThreadPoolExecutor(8) as workers:
        together = list(workers.map(lambda prompt: score_state(tied_model, prompt).h, prompts * 3))
    for index, h in enumerate(together):
        assert torch.allclose(h, alone[index % 8], atol=1e-5)
