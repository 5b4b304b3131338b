"""The toy by hand, and against autograd."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from tiedviz.compute.toy import (
    LARGEST,
    Toy,
    byte_ids,
    neighbours,
    one_hot,
    read_cells,
    seen_along,
    word_ids,
    zero_share,
)
from tiedviz.compute.toy_training import Weights, drift, learn, tables_of, what_moved

TOY = Toy.published()
READ, TARGET, RATE = 2, 0, 0.5  # "the", and then "cat"


def one_step(weights):
    return learn(tables_of(TOY, weights), TOY.h - TOY.E[READ], READ, TARGET, RATE)


def by_autograd(weights):
    """The same step by torch: gradients of E and W (one tensor where tied), and both after it."""
    import torch

    start = tables_of(TOY, weights)
    E = torch.tensor(start.E, requires_grad=True)
    W = E if weights is Weights.TIED else torch.tensor(start.W, requires_grad=True)
    h = E[READ] + torch.tensor(TOY.h - TOY.E[READ])
    loss = torch.nn.functional.cross_entropy((W @ h)[None], torch.tensor([TARGET]))
    loss.backward()
    return float(loss.detach()), E, W


@pytest.mark.parametrize("weights", list(Weights))
def test_a_step_by_hand_is_the_step_by_autograd(weights):
    step = one_step(weights)
    loss, E, W = by_autograd(weights)
    assert step.loss_before == pytest.approx(loss, abs=1e-12)
    mine = step.input_gradient + (step.output_gradient if weights is Weights.TIED else 0)
    assert np.allclose(mine, E.grad.numpy(), atol=1e-12)
    if weights is not Weights.TIED:
        assert np.allclose(step.output_gradient, W.grad.numpy(), atol=1e-12)
    assert np.allclose(step.after.E, (E - RATE * E.grad).detach().numpy(), atol=1e-12)
    assert np.allclose(step.after.W, (W - RATE * W.grad).detach().numpy(), atol=1e-12)
    assert step.loss_after < step.loss_before
    assert step.after.tied == (weights is Weights.TIED)


def test_only_the_row_that_was_read_gets_an_input_gradient_and_every_row_an_output_gradient():
    step = one_step(Weights.SEPARATE)
    assert np.flatnonzero(np.abs(step.input_gradient).sum(1)).tolist() == [READ]
    assert (np.abs(step.output_gradient).sum(1) > 0).all()


def test_tied_the_vector_and_the_logit_of_an_unread_word_move_together_and_untied_they_do_not():
    tied, copy = (what_moved(TOY.words, one_step(each)) for each in (Weights.TIED, Weights.COPY))
    assert tied["vector_moved"][TARGET] > 0.1
    assert copy["vector_moved"][TARGET] == 0
    for moved in (tied, copy):
        assert moved["logit_after"][TARGET] > moved["logit_before"][TARGET]
    assert copy["vector_moved"][READ] > 0


def test_the_learned_h_follows_the_row_that_was_read():
    step = one_step(Weights.COPY)
    assert np.allclose(step.h_before, TOY.h)
    assert np.allclose(step.h_after - step.h_before, step.after.E[READ] - step.before.E[READ])


def test_an_equal_copy_is_equal_until_the_first_step():
    tables, apart = drift(TOY, Weights.COPY, READ, TARGET, RATE, 3)
    assert apart[0] == 0 and 0 < apart[1] < apart[2] < apart[3]
    assert apart[3] == pytest.approx(float(np.linalg.norm(tables.W - tables.E)))
    _, never = drift(TOY, Weights.TIED, READ, TARGET, RATE, 3)
    assert never == [0, 0, 0, 0]
    assert drift(TOY, Weights.SEPARATE, READ, TARGET, RATE, 0)[1][0] > 0


def test_tied_holds_half_the_numbers():
    assert tables_of(TOY, Weights.TIED).numbers == 12
    assert tables_of(TOY, Weights.COPY).numbers == 24
    assert tables_of(TOY, Weights.TIED).W is TOY.E
    assert tables_of(TOY, Weights.COPY).W is not TOY.E


def test_one_hot_times_the_table_is_the_row():
    for row in range(4):
        assert (one_hot(4, row) @ TOY.E == TOY.E[row]).all()
    assert zero_share(4) == 0.75


def test_neighbours_by_meaning_are_not_neighbours_by_id():
    near = neighbours(TOY.words, TOY.E, 0)
    # cos(cat, ran) = (0.14 + 0.06 + 0.45) / (√0.94 · √0.78)
    assert near["word"][0] == "ran" and near["ids_apart"][0] == 3
    assert near["cosine"][0] == pytest.approx(0.65 / np.sqrt(0.94 * 0.78))
    assert len(near) == 3
    assert neighbours(("a", "b"), np.array([[0.0], [1.0]]), 0)["cosine"].tolist() == [0.0]


def test_a_temperature_changes_the_probabilities_and_never_the_order():
    cold, warm = TOY.scores(0.1), TOY.scores(3.0)
    assert cold["probability"].max() > TOY.scores()["probability"].max()
    assert warm["probability"].max() < TOY.scores()["probability"].max()
    for frame in (cold, warm):
        assert frame["probability"].rank().tolist() == frame["logit"].rank().tolist()
        assert frame["probability"].sum() == pytest.approx(1)


def test_a_word_level_vocabulary_lacks_words_and_a_byte_level_one_never_does():
    assert word_ids("The cat sat", TOY.words) == [("The", 2), ("cat", 0), ("sat", None)]
    assert byte_ids("sé") == [115, 195, 169]
    assert all(0 <= each < 256 for each in byte_ids("🦙 سلام"))
    assert byte_ids("\ud800") == [63]  # a lone surrogate is no text


def test_cells_that_are_no_numbers_are_named_and_count_as_something():
    frame = pd.DataFrame(
        [[0.5, None, float("inf")], [-1e9, "x", float("nan")]], ["cat", "dog"], ["x₁", "x₂", "x₃"]
    )
    numbers, notes = read_cells(frame)
    assert numbers.tolist() == [[0.5, 0, 0], [-LARGEST, 0, 0]]
    assert len(notes) == 5
    assert notes[0] == "cat, x₂ is empty and counts as 0 until you fill it."
    assert "dog, x₁ is beyond ±100 and counts as −100." in notes
    assert read_cells(pd.DataFrame([[1, 2]], ["a"], ["x", "y"]))[1] == []


def test_the_record_can_be_read_back():
    record = json.loads(json.dumps(TOY.record()))
    assert record["next"] == "ran"
    assert record["logits"] == pytest.approx([0.43, 0.32, -0.13, 0.54])
    assert np.array(record["E"]).tolist() == TOY.E.tolist()


def test_seen_along_h_the_order_is_that_of_the_logits_and_lengths_are_kept():
    seen = seen_along(TOY.h, TOY.E)
    length = np.linalg.norm(TOY.h)
    assert (seen["along"] * length).tolist() == pytest.approx(TOY.logits.tolist())
    whole = seen["along"] ** 2 + seen["across"] ** 2 + seen["hidden"] ** 2
    assert whole.tolist() == pytest.approx((TOY.E**2).sum(1).tolist())
    with pytest.raises(ValueError, match="no direction"):
        seen_along(np.zeros(3), TOY.E)
