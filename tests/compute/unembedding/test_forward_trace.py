"""A pass written down."""

from __future__ import annotations

import torch

from tiedviz.compute.forward import forward
from tiedviz.compute.unembedding.forward_trace import trace_forward

PROMPT = [41, 7, 90, 13, 66, 28]


def test_calls_are_nested_as_the_modules_called_one_another(architecture):
    model = architecture("llama").model
    calls = trace_forward(model, PROMPT).calls
    assert calls[0].module is model and calls[0].parent is None
    for call in calls[1:]:
        assert call.parent.start < call.start < call.end < call.parent.end
    assert [call.start for call in calls] == sorted(call.start for call in calls)


def test_each_call_has_what_the_module_took_and_gave(architecture):
    model = architecture("gpt2").model
    trace = trace_forward(model, PROMPT)
    [call] = trace.of(model.lm_head)
    assert call.name == "lm_head" and call.others == 0
    assert torch.equal(call.given[0], call.taken[0] @ model.lm_head.weight.T)
    assert torch.equal(trace.logits, call.given[0])


def test_a_recording_changes_no_answer_and_leaves_no_hook(architecture):
    model = architecture("gpt2").model
    before = forward(model, PROMPT, hidden_states=True).logits
    hooks = [len(module._forward_hooks) for module in model.modules()]
    assert torch.equal(trace_forward(model, PROMPT).logits, before[0])
    assert torch.equal(forward(model, PROMPT).logits, before)
    assert [len(module._forward_hooks) for module in model.modules()] == hooks
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_a_block_that_is_called_twice_has_two_calls(architecture):
    model = architecture("albert").model
    calls = trace_forward(model, PROMPT).calls
    names = [call.name for call in calls if call.name.endswith("albert_layer_groups.0")]
    assert len(names) == model.config.num_hidden_layers == 2


def test_with_a_decoder_the_hidden_states_are_the_decoders(architecture):
    model = architecture("bart").model
    trace = trace_forward(model, PROMPT)
    assert len(trace.hidden_states) == model.config.decoder_layers + 1
    assert trace.hidden_states is trace.output.decoder_hidden_states
