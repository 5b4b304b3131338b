import pytest
import torch

from tests.hub.released import published_like
from tiedviz.compute.tying.prove import Side, prove
from tiedviz.models.loading import load
from tiedviz.words.refusals.prompt import NoSuchRow

IDS = [5, 90, 17]
TOKEN = 200


def test_tied_one_changed_row_moves_the_input_vector_and_the_logit(tied_model):
    proof = prove(tied_model, IDS, TOKEN)
    assert proof.tied
    assert proof.input_moved > 0.1
    assert abs(proof.logit_moved) > 1e-3
    assert proof.others_moved == 0.0


def test_tied_both_sides_are_one(tied_model):
    through_input, through_output = (prove(tied_model, IDS, TOKEN, side=side) for side in Side)
    assert through_input.logit_after == through_output.logit_after
    assert through_input.input_moved == through_output.input_moved


def test_untied_only_one_of_the_two_moves(untied_model):
    read = prove(untied_model, IDS, TOKEN, side=Side.INPUT)
    assert read.input_moved > 0.1 and read.logit_moved == 0.0
    scored = prove(untied_model, IDS, TOKEN, side=Side.OUTPUT)
    assert scored.input_moved == 0.0 and abs(scored.logit_moved) > 1e-3


def test_the_loaded_model_is_bit_for_bit_as_it_was(tied_model):
    before = {name: tensor.clone() for name, tensor in tied_model.model.state_dict().items()}
    prove(tied_model, IDS, TOKEN)
    after = tied_model.model.state_dict()
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
    assert tied_model.tied


def test_an_encoder_decoder_model_proves_it_too(tmp_path):
    loaded = load(str(published_like("t5", tmp_path / "t5")))
    proof = prove(loaded, [5, 6, 7], 20)
    assert proof.input_moved > 0 and proof.logit_moved != 0


def test_a_row_beyond_the_last_is_refused(tied_model):
    with pytest.raises(NoSuchRow):
        prove(tied_model, IDS, 300)
