"""The gradient split with its proof, against two passes there and back without it."""

from collections.abc import Iterator

import torch
from torch.nn import functional

from benchmarks.peak import peak_above
from benchmarks.timing import Row, ratio_row
from tiedviz.models.sources import find_source

_TEXT = "The capital of France is Paris, and the opposite of hot is cold."


def rows() -> Iterator[Row]:
    """Of each shelf model that is here; the bare passes ask autograd for dL/dE and nothing else."""
    for name in ("smollm2", "gemma-3-270m"):
        if find_source(name).files_here() is None:
            yield Row(name, "not in the cache: python -m tiedviz fetch " + name, "", True)
            continue
        yield from _of(name)


def _of(name: str) -> Iterator[Row]:
    from tiedviz.compute.gradient_task import sentence_of
    from tiedviz.compute.gradients import gradient_split
    from tiedviz.models.loading import load

    loaded = load(name)
    sentence = sentence_of(loaded, _TEXT)
    ids, targets = torch.tensor([sentence.ids]), torch.tensor(sentence.targets)
    names = [
        key
        for key, parameter in loaded.model.named_parameters(remove_duplicate=False)
        if parameter is loaded.embedding
    ]

    def bare() -> None:
        for _ in range(2):
            table = loaded.embedding.detach().requires_grad_()
            stand_ins = dict.fromkeys(names, table)
            out = torch.func.functional_call(loaded.model, stand_ins, (ids,))
            loss = functional.cross_entropy(out.logits[0], targets)
            torch.autograd.grad(loss, table)

    what = f"gradient split of {name} with its proof, over two bare passes"
    yield ratio_row(what, lambda: gradient_split(loaded, sentence), bare, 3)
    extra = peak_above(lambda: gradient_split(loaded, sentence))
    times = extra / loaded.embedding.nbytes
    yield Row(
        f"gradient split of {name}, extra memory over E",
        f"{extra / 1e6:.0f} MB / {loaded.embedding.nbytes / 1e6:.0f} MB = {times:.2f}",
        "<= 4",
        times <= 4,
    )
