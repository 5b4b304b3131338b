import pytest
import torch

from tests.hub.released import published_like
from tiedviz.models.loading import load
from tiedviz.verdict.prove import Side, prove
from tiedviz.words.refusals.prompt import PromptRefusal

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
    with pytest.raises(PromptRefusal, match="There is no row"):
        prove(tied_model, IDS, 300)


def test_nobody_else_sees_the_changed_row_meanwhile(tied_model):
    """Pages multiply by the matrix without the model's lock, and keep what they found."""
    E, seen = tied_model.embedding, []
    block = tied_model.model.get_decoder().layers[0]
    handle = block.register_forward_hook(lambda *_: seen.append(tied_model.embedding is E))
    prove(tied_model, IDS, TOKEN)
    handle.remove()
    assert seen == [True, True]


def test_a_row_of_zeros_is_changed_as_well(tiny_folder):
    loaded = load(str(tiny_folder(tied=True, name="zero-row")))
    with torch.no_grad():
        loaded.embedding[TOKEN] = 0
    proof = prove(loaded, IDS, TOKEN)
    assert proof.input_moved > 0.1 and abs(proof.logit_moved) > 1e-3


def test_a_model_that_lies_partly_on_disk_proves_it_too(tiny_folder, monkeypatch, empty_cache):
    from tests.refusals.test_placement import leave

    folder = tiny_folder(hidden_size=64, intermediate_size=256, num_hidden_layers=8)
    whole = prove(load(str(folder)), IDS, TOKEN)
    leave(monkeypatch, 0.6, folder)
    spread = load(str(folder))
    assert "disk" in spread.placement
    proof = prove(spread, IDS, TOKEN)
    assert proof.logit_moved == pytest.approx(whole.logit_moved, rel=1e-4)
    assert any(parameter.is_meta for parameter in spread.model.parameters())
