"""A few lines of plain transformers code that give the numbers of one cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tiedviz.ui.export import loading_code
from tiedviz.ui.frame.model_choice import chosen_source

if TYPE_CHECKING:
    from tiedviz.compute.unembedding import Unembedding
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt


def python_code(loaded: LoadedModel, prompt: Prompt, layer: int, position: int) -> str:
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
        "import torch\n"
        f"from transformers import {kind}, AutoTokenizer, GgufConfig\n"
        f"{loading_code(chosen_source(), kind)}"
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
