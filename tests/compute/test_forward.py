"""One forward pass, the same for every kind of model."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tests.tiny_models import build
from tiedviz.compute.forward import (
    first_tensor,
    forward,
    has_decoder,
    hooked,
    sequence_read,
    with_first_tensor,
)
from tiedviz.words.refusals.prompt import PromptRefusal

PROMPT = [41, 7, 90, 13]


@pytest.mark.parametrize("name", ["gpt2", "bert", "mamba", "rwkv", "t5", "bart"])
def test_it_is_what_the_model_itself_answers(architecture, name):
    model = architecture(name).model
    wanted = {"input_ids": torch.tensor([PROMPT])}
    if has_decoder(model):
        wanted["decoder_input_ids"] = torch.tensor([[5, 6, 7]])
    with torch.no_grad():
        expected = model(**wanted).logits
    assert torch.allclose(forward(model, PROMPT, decoder_ids=[5, 6, 7]).logits, expected, atol=1e-6)


def test_one_position_is_the_same_as_that_position_of_all(architecture):
    model = architecture("llama").model
    everything = forward(model, PROMPT).logits
    one = forward(model, PROMPT, keep=2).logits
    assert one.shape == (1, 1, 99)
    assert torch.allclose(one[0, 0], everything[0, 2], atol=1e-6)


def test_nothing_remembers_how_it_was_computed(architecture):
    logits = forward(architecture("gpt2").model, PROMPT).logits
    assert logits.is_inference() and not logits.requires_grad


def test_hidden_states_come_only_where_they_are_asked_for(architecture):
    model = architecture("gpt2").model
    assert forward(model, PROMPT).hidden_states is None
    assert len(forward(model, PROMPT, hidden_states=True).hidden_states) == 3


def test_a_model_without_a_decoder_reads_the_prompt(architecture):
    assert sequence_read(architecture("gpt2").model, PROMPT, [5]) == PROMPT
    assert not has_decoder(architecture("bert").model)


def test_a_model_with_a_decoder_reads_what_was_written_so_far(architecture):
    model = architecture("bart").model
    assert has_decoder(model)
    assert list(sequence_read(model, PROMPT, [5, 6])) == [5, 6]


@pytest.mark.parametrize(("name", "start"), [("t5", 0), ("bart", 2), ("fsmt", 2)])
def test_where_nothing_was_written_it_is_the_mark_every_answer_begins_with(
    architecture, name, start
):
    model = architecture(name).model
    assert list(sequence_read(model, PROMPT)) == [start]
    assert forward(model, PROMPT).logits.shape[1] == 1


def test_a_decoder_without_such_a_mark_begins_with_bos():
    model = build("bart", decoder_start_token_id=None, bos_token_id=4).model
    model.generation_config.decoder_start_token_id = None
    assert list(sequence_read(model, PROMPT)) == [4]


def test_a_decoder_without_any_mark_is_refused():
    model = build("t5", decoder_start_token_id=None, bos_token_id=None).model
    with pytest.raises(PromptRefusal, match="Nothing says how an answer of"):
        sequence_read(model, PROMPT)
    assert list(sequence_read(model, PROMPT, [3])) == [3]


def test_hooks_are_there_for_the_block_and_gone_after_it():
    module = nn.Linear(2, 2)
    seen = []

    def before(module, args, kwargs):
        seen.append("before")

    def after(module, args, kwargs, output):
        seen.append("after")

    with hooked((module, before, True), (module, after, False)):
        module(torch.zeros(1, 2))
    module(torch.zeros(1, 2))
    assert seen == ["before", "after"]


def test_hooks_are_gone_after_an_error():
    module = nn.Linear(2, 2)
    with pytest.raises(KeyError), hooked((module, lambda *_: None, True)):
        raise KeyError
    assert not module._forward_pre_hooks


@pytest.mark.parametrize(
    "wrap",
    [
        lambda tensor: tensor,
        lambda tensor: (tensor, 1),
        lambda tensor: [tensor],
        lambda tensor: ((tensor, 2), None),
        lambda tensor: {"first": tensor, "second": 3},
    ],
)
def test_the_first_tensor_is_found_and_can_be_exchanged(wrap):
    one, other = torch.zeros(2), torch.ones(2)
    value = wrap(one)
    assert first_tensor(value) is one
    changed = with_first_tensor(value, other)
    assert type(changed) is type(value)
    assert first_tensor(changed) is other
    assert first_tensor(value) is one


@pytest.mark.parametrize("value", [None, (), {}, "text", 3, (None, torch.zeros(1))])
def test_where_the_first_thing_is_no_tensor_there_is_none(value):
    assert first_tensor(value) is None
