"""Models that nobody can know: other names, other order, steps that are functions."""

from __future__ import annotations

from typing import ClassVar

import pytest
import torch
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput

from tests.tiny_models import opened
from tiedviz.compute.next_token.state import score_state
from tiedviz.compute.unembedding import unembedding_of
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.prompt import ModelRefusal

PROMPT = [41, 7, 30, 13, 26, 28]


class OddConfig(PreTrainedConfig):
    model_type = "odd"
    has_no_defaults_at_init = False

    def __init__(self, width=16, rows=50, twist="none", **rest):
        super().__init__(**rest)
        self.width, self.vocab_size, self.twist = width, rows, twist


class Floor(nn.Module):
    """A block of no known design, which gives a list."""

    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        return [x + torch.tanh(self.mix(x)).cumsum(1) / 10, "something else"]


class Roof(nn.Module):
    """The head's module: a function, then the matrix."""

    def __init__(self, config):
        super().__init__()
        self.squeeze = nn.Linear(config.width, config.width)
        self.stone = nn.Linear(config.width, config.vocab_size, bias=config.twist == "biased")

    def forward(self, x):
        return self.stone(nn.functional.gelu(self.squeeze(x)))


class Pane(nn.Module):
    """A last step that takes two tensors."""

    def forward(self, x, gate):
        return x * torch.sigmoid(gate)


class Odd(PreTrainedModel):
    """Embeds, climbs three floors, multiplies by 0.37, and scores under a roof."""

    config_class = OddConfig
    _tied_weights_keys: ClassVar = {}

    def __init__(self, config):
        super().__init__(config)
        self.door = nn.Embedding(config.vocab_size, config.width)
        self.stairs = nn.ModuleList(Floor(config.width) for _ in range(3))
        self.window = nn.Linear(config.width, config.width)
        self.pane = Pane()
        self.roof = Roof(config)
        self.surprise = nn.Parameter(torch.zeros(config.vocab_size))
        self.post_init()

    def get_input_embeddings(self):
        return self.door

    def get_output_embeddings(self):
        return self.roof.stone

    def forward(self, input_ids, attention_mask=None, output_hidden_states=False):
        x = self.door(input_ids)
        states = [x]
        for floor in self.stairs:
            x = floor(x)[0]
            states.append(x)
        self.window(x)  # looked at, and not used
        twist = self.config.twist
        x = BEFORE_THE_ROOF.get(twist, same)(self, x, states)
        logits = AFTER_THE_ROOF.get(twist, same)(self, self.roof(0.37 * x))
        if twist == "states":
            states = [state + 1 for state in states]
        return CausalLMOutput(
            logits=logits, hidden_states=tuple(states) if output_hidden_states else None
        )


def same(model, x, states=None):
    return x


BEFORE_THE_ROOF = {
    "skip": lambda model, x, states: x + states[1],
    "two tensors": lambda model, x, states: model.pane(x, states[0]),
    "by its own size": lambda model, x, states: x / x.abs().max(),
}
AFTER_THE_ROOF = {
    "mixed": lambda model, z: z + z.mean(-1, keepdim=True),
    "forbidden": lambda model, z: z.index_fill(-1, torch.tensor([3]), -torch.inf),
    "by position": lambda model, z: z + torch.arange(z.shape[1])[None, :, None],
    "squared": lambda model, z: z * z.abs(),
    "bent": lambda model, z: torch.where(z > 16, 16 + (z - 16) * 0.9, z),
    "biased": lambda model, z: 3 * z,
    "surprise": lambda model, z: 5 * torch.tanh((2 * z + model.surprise) / 5),
}


def odd(twist: str = "none") -> LoadedModel:
    return opened(Odd(OddConfig(twist=twist)), "odd")


def test_its_way_is_found_with_the_factor_that_no_config_names():
    found = unembedding_of(odd())
    assert found.reproduced, found.reason
    assert found.layers == 3
    [stage] = found.path.stages
    assert stage.name == "roof" and stage.holds_head
    assert stage.scale.value == pytest.approx(0.37, rel=1e-5)
    assert stage.scale.name == "measured"


def test_its_layers_are_read_as_the_model_itself_would_read_them():
    loaded = odd()
    model = loaded.model
    with torch.inference_mode():
        x = model.door(torch.tensor([PROMPT]))
        for layer, floor in enumerate([*model.stairs, None]):
            reading = score_state(loaded, PROMPT, position=4, layer=layer)
            assert torch.allclose(reading.logits, model.roof(0.37 * x)[0, 4], atol=1e-5)
            x = x if floor is None else floor(x)[0]


def test_a_factor_a_bias_and_a_cap_after_the_matrix_are_told_apart():
    loaded = odd("surprise")
    after = unembedding_of(loaded).after
    assert after.scale.value == pytest.approx(2, rel=1e-4)
    assert after.cap.value == pytest.approx(5, rel=1e-4)
    assert after.bias_name == "surprise"
    assert torch.equal(after.bias, loaded.model.surprise)
    assert score_state(loaded, PROMPT).agrees


def test_a_bias_inside_the_head_is_multiplied_by_the_factor_after_it():
    loaded = odd("biased")
    after = unembedding_of(loaded).after
    assert after.scale.value == pytest.approx(3, rel=1e-5)
    assert after.bias_name == "roof.stone.bias"
    assert torch.allclose(after.bias, 3 * loaded.model.roof.stone.bias)
    assert score_state(loaded, PROMPT).agrees


@pytest.mark.parametrize("twist", ["mixed", "forbidden", "by position", "squared", "bent"])
def test_what_has_no_known_form_after_the_matrix_is_not_offered(twist):
    loaded = odd(twist)
    found = unembedding_of(loaded)
    assert not found.scores and found.reason
    with pytest.raises(ModelRefusal, match="odd"):
        score_state(loaded, PROMPT)


@pytest.mark.parametrize("twist", ["skip", "states", "two tensors", "by its own size"])
def test_no_lens_where_the_way_is_no_fixed_function_of_the_last_state(twist):
    loaded = odd(twist)
    found = unembedding_of(loaded)
    assert found.scores and not found.reproduced
    assert score_state(loaded, PROMPT).agrees
    with pytest.raises(ModelRefusal, match="below the last can be read"):
        score_state(loaded, PROMPT, layer=1)
