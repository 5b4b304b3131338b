"""The toy as a few lines of numpy, for the pages that show it."""

from __future__ import annotations

from tiedviz.compute.toy import Toy


def toy_code(toy: Toy) -> str:
    """The toy's logits and probabilities in numpy."""
    return (
        "import numpy as np\n\n"
        f"words = {list(toy.words)}\n"
        f"E = np.array({toy.E.tolist()})\n"
        f"h = np.array({toy.h.tolist()})\n"
        "z = h @ E.T\n"
        "p = np.exp(z - z.max())\n"
        "p = p / p.sum()\n"
        "print([(w, float(a), float(b)) for w, a, b in zip(words, z, p)])\n"
    )
