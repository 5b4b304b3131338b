"""A loss of next tokens, or not: whether an earlier logit moves with a later token."""

import json

import pytest
import torch

from tests.tiny_models import names
from tiedviz.commands.line import main
from tiedviz.compute.gradient_passes import later_tokens_move
from tiedviz.compute.gradient_task import sentence_of
from tiedviz.compute.gradients import gradient_record, gradient_split

TEXT = "w41 w7 w90 w7 w66"


def by_hand(loaded):
    """The same question asked of the library, of another text, token by token."""
    ids = torch.tensor([[41, 7, 90, 7, 66]])
    moved = 0.0
    with torch.inference_mode():
        first = loaded.model(input_ids=ids).logits[0]
        for at in range(1, 5):
            other = ids.clone()
            other[0, at] = 13
            then = loaded.model(input_ids=other).logits[0]
            moved = max(moved, float((then - first)[:at].abs().max()))
    return moved


@pytest.mark.parametrize("name", names("CausalLM"))
def test_it_is_what_the_library_does(architecture, name):
    loaded = architecture(name)
    with loaded.lock:
        moved = later_tokens_move(loaded)
    if by_hand(loaded) > 1e-3:
        assert moved > 1e-3
    else:
        assert moved == 0.0


def test_xlnet_sees_later_tokens_and_its_split_says_so(architecture):
    loaded = architecture("xlnet")
    sentence = sentence_of(loaded, TEXT)
    split = gradient_split(loaded, sentence)
    assert split.later_tokens_move > 1e-3
    assert gradient_record(loaded, sentence, split)["later_tokens_move"] == split.later_tokens_move


def test_nobody_asks_it_of_models_that_are_not_asked_for_the_next_token(architecture):
    for name in ("bert", "t5"):
        loaded = architecture(name)
        assert gradient_split(loaded, sentence_of(loaded, TEXT)).later_tokens_move is None


@pytest.mark.parametrize("later", [0.0, 0.25])
def test_the_command_says_it(tied_model, monkeypatch, capfdbinary, later):
    from tiedviz.compute import gradients

    monkeypatch.setattr(gradients, "later_tokens_move", lambda loaded: later)
    assert main(["gradients", tied_model.source, "--text", "the cat sat"]) == 0
    said = capfdbinary.readouterr().out.decode()
    assert ("no next-token loss" in said) is bool(later)
    assert main(["gradients", tied_model.source, "--text", "the cat sat", "--json"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["later_tokens_move"] == later
