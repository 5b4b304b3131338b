"""A few lines of plain torch and transformers that give the same norms and the same max |Δ|."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tiedviz.ui.export import loading_code
from tiedviz.ui.frame.model_choice import chosen_source

if TYPE_CHECKING:
    from tiedviz.compute.gradient_task import Sentence
    from tiedviz.models.loaded import LoadedModel


def python_code(loaded: LoadedModel, sentence: Sentence) -> str:
    """The split of this sentence, without this app; prints the two norms and max |Δ|."""
    from tiedviz.compute.gradient_task import sides_of

    kind = type(loaded.model).__name__
    sides = sides_of(loaded)
    written = ""
    if sentence.decoder_ids is not None:
        written = f", 'decoder_input_ids': torch.tensor([{list(sentence.decoder_ids)}])"
    return (
        "import torch\n"
        f"from transformers import {kind}, AutoTokenizer, GgufConfig\n"
        f"{loading_code(chosen_source(), kind)}"
        f"ids = torch.tensor([{list(sentence.ids)}])  # {sentence.text!r}\n"
        f"targets = torch.tensor({list(sentence.targets)})\n"
        "weights = dict(model.named_parameters(remove_duplicate=False))\n"
        f"read, scored = {list(sides.read)}, {list(sides.scored)}\n\n"
        "def gradients(views):\n"
        f"    options = {{'input_ids': ids{written}}}\n"
        "    call = torch.func.functional_call\n"
        "    out = call(model, views, (), options, tie_weights=False)\n"
        "    loss = torch.nn.functional.cross_entropy(out.logits[0], targets)\n"
        "    return torch.autograd.grad(loss, list(dict.fromkeys(views.values())))\n\n"
        "e, w = (weights[names[0]].detach().requires_grad_() for names in (read, scored))\n"
        "into, out = gradients(dict.fromkeys(read, e) | dict.fromkeys(scored, w))\n"
        + (
            "[whole] = gradients(dict.fromkeys(read + scored, e))\n"
            "difference = (into + out - whole).abs().max()\n"
            if sides.tied
            else "difference = torch.zeros(())  # two matrices: there is nothing to add up\n"
        )
        + "print([float(into.norm()), float(out.norm()), float(difference)])\n"
    )
