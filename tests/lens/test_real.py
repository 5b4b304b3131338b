"""The numbers the lens must give on the two models that travel in wheels."""

import pytest

from tiedviz.compute.lens import lens
from tiedviz.compute.next_token.state import score_state
from tiedviz.models.prompt import encode

pytestmark = pytest.mark.real


@pytest.mark.parametrize("model", ["smollm2", "gemma"])
def test_the_last_row_and_next_token_agree(request, model):
    loaded = request.getfixturevalue(model)
    ids = encode(loaded, "The opposite of hot is").ids
    found = lens(loaded, ids)
    assert found.agrees
    for position in range(len(ids)):
        best = score_state(loaded, ids, position=position).logits.topk(10)
        assert found.ids[-1, position].tolist() == best.indices.tolist()
        assert float((found.logits[-1, position] - best.values).abs().max()) <= 1e-4


@pytest.mark.case(2)
def test_layer_15_of_smollm2_says_a_space(smollm2):
    """For case 2: with the norm a space at 0.80; without it `sers`."""
    found = lens(smollm2, encode(smollm2, "The capital of France is").ids)
    assert smollm2.vocabulary.token(int(found.ids[15, -1, 0])).text == " "
    assert float(found.probabilities[15, -1, 0]) == pytest.approx(0.80, abs=0.01)
    assert smollm2.vocabulary.token(int(found.ids[30, -1, 0])).text == " Paris"
