"""A few lines of plain torch and transformers that give the numbers of a page, without this app."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tiedviz.ui.frame.model_choice import chosen_source
from tiedviz.ui.share import opening_code

if TYPE_CHECKING:
    from tiedviz.compute.gradient_task import Sentence
    from tiedviz.compute.unembedding import Unembedding
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt


def layer_code(loaded: LoadedModel, prompt: Prompt, layer: int, position: int) -> str:
    """The ten largest logits of a layer and position, without this app."""
    from tiedviz.compute.unembedding import unembedding_of

    kind = type(loaded.model).__name__
    unembedding = unembedding_of(loaded)
    written = ""
    if prompt.decoder_ids is not None:
        written = f", decoder_input_ids=torch.tensor([{prompt.decoder_ids}])"
    own = layer == unembedding.layers
    steps = ["z = out.logits"] if own else _steps(loaded, unembedding, layer)
    lines = "".join(f"    {step}\n" for step in steps)
    which = "" if own else f"  # what layer {layer} of {unembedding.layers} would say"
    return (
        f"{opening_code(chosen_source(), kind)}"
        f"ids = torch.tensor([{prompt.ids}])  # {prompt.text!r}\n"
        "with torch.inference_mode():\n"
        f"    out = model(ids{written}, output_hidden_states=True)\n"
        f"{lines}"
        f"values, best = z[0, {position}].topk(10){which}\n"
        "print([(tokenizer.decode([j]), float(v)) for v, j in zip(values, best)])\n"
    )


def _steps(loaded: LoadedModel, unembedding: Unembedding, layer: int) -> list[str]:
    """From r_k to z, with the modules and numbers that were measured."""
    assert unembedding.path is not None and unembedding.after is not None
    listed = "decoder_hidden_states" if loaded.kind == "seq2seq" else "hidden_states"
    index = layer + unembedding.shift
    lines = [f"x = out.{listed}[{index}]"]
    if index < 0:  # the list leaves it out; it is what the table gives
        lines = ["x = model.get_input_embeddings()(ids)"]
    at_head = False
    for stage in unembedding.path.stages:
        factor = "" if stage.scale.is_one else f" * {stage.scale.value!r}"
        if stage.module is None:
            lines += [f"x = x{factor}"] if factor else []
        else:
            lines.append(f"x = model.get_submodule({stage.name!r})(x{factor})")
        at_head = at_head or stage.holds_head
    lines.append("z = x" if at_head else "z = model.get_output_embeddings()(x)")
    return lines + _after(loaded, unembedding)


def _after(loaded: LoadedModel, unembedding: Unembedding) -> list[str]:
    after = unembedding.after
    assert after is not None
    lines = [] if after.scale.is_one else [f"z = z * {after.scale.value!r}"]
    own = getattr(loaded.model.get_output_embeddings(), "bias", None)
    added = dict(loaded.model.named_buffers()).get(after.bias_name)
    if after.bias is not None and own is None and added is None:
        lines.append(f"z = z + model.get_parameter({after.bias_name!r})")
    elif added is not None:
        lines.append(f"z = z + model.get_buffer({after.bias_name!r})")
    if after.cap is not None:
        cap = after.cap.value
        lines.append(f"z = {cap!r} * torch.tanh(z / {cap!r})")
    return lines


def gradient_code(loaded: LoadedModel, sentence: Sentence) -> str:
    """The split of this sentence, without this app; prints the two norms and max |Δ|."""
    from tiedviz.compute.gradient_task import sides_of

    kind = type(loaded.model).__name__
    sides = sides_of(loaded)
    written = ""
    if sentence.decoder_ids is not None:
        written = f", 'decoder_input_ids': torch.tensor([{list(sentence.decoder_ids)}])"
    return (
        f"{opening_code(chosen_source(), kind)}"
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
