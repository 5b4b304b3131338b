"""What users name first, in the layout in which it was published."""

import pytest
import torch

from tests.hub.released import released_gpt2
from tiedviz.compute.next_token.state import score_state
from tiedviz.models.hub_client import list_repository, remote_facts
from tiedviz.models.loading import load
from tiedviz.models.prompt import encode


@pytest.fixture
def gpt2(hub, tmp_path):
    hub.repositories["openai-community/gpt2"] = released_gpt2(tmp_path / "gpt2")
    return "openai-community/gpt2"


def test_gpt2_as_released_is_tied_and_its_masks_are_no_parameters(gpt2):
    opened = load(gpt2)
    assert opened.tied
    facts = remote_facts(list_repository(gpt2))
    assert facts.parameters == opened.parameters
    assert facts.stored_numbers == opened.parameters + 2 * 48 * 48
    assert (facts.V, facts.d, facts.layers, facts.positions) == (300, 32, 2, 48)


def test_gpt2_as_released_answers_and_proves_it(gpt2):
    opened = load(gpt2)
    prompt = encode(opened, "the cat sat on")
    reading = score_state(opened, prompt.ids)
    with torch.inference_mode():
        own = opened.model(torch.tensor([prompt.ids])).logits[0, -1]
    assert torch.allclose(reading.logits, own, atol=1e-6)
    assert reading.agrees
