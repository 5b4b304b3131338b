"""The nearest tokens, on matrices that can be checked by hand."""

from __future__ import annotations

import pytest
import torch

from tests.tiny_models import build, numbered_tokenizer
from tiedviz.compute.next_token.candidates import By, mass_without_token, nearest_tokens
from tiedviz.compute.next_token.state import ScoredState, score_state, score_vector
from tiedviz.compute.unembedding.product import row_norms
from tiedviz.models.loaded import LoadedModel

PROMPT = [41, 7, 90, 13, 66]


def state(loaded: LoadedModel, h: torch.Tensor) -> ScoredState:
    """A reading of a state of the test's own choosing."""
    product = h @ loaded.scoring_matrix.T
    return ScoredState(0, 1, 1, h, None, product, product, 0.0, 1.0)


@pytest.mark.parametrize("by", By)
def test_the_nearest_of_unit_vectors_to_one_of_them_is_itself(orthonormal, by):
    for row in range(8):
        frame = nearest_tokens(orthonormal, state(orthonormal, torch.eye(8)[row]), by=by)
        first = frame.iloc[0]
        assert (first["id"], first["rank"], first["text"]) == (row, 1, f"w{row}")
        assert (first["logit"], first["cosine"], first["distance"]) == (1.0, 1.0, 0.0)
        assert (first["rank_logit"], first["rank_cosine"], first["rank_distance"]) == (1, 1, 1)
        others = frame.iloc[1:]
        assert others["distance"].tolist() == pytest.approx([2**0.5] * 7)
        assert set(others["rank_logit"]) == {2}  # seven that are equally far share a rank


def test_the_three_measures_disagree_where_lengths_do(orthonormal):
    with torch.no_grad():
        orthonormal.embedding[1] = torch.tensor([30.0, 30, 0, 0, 0, 0, 0, 0])
        orthonormal.embedding[2] = torch.tensor([0.1, 0, 0, 0, 0, 0, 0, 0])
        orthonormal.embedding[3] = torch.tensor([1.0, 0.2, 0, 0, 0, 0, 0, 0])
        orthonormal.embedding[0] = 0
    reading = state(orthonormal, torch.tensor([1.0, 0, 0, 0, 0, 0, 0, 0]))
    first = {by: int(nearest_tokens(orthonormal, reading, by=by).iloc[0]["id"]) for by in By}
    assert first == {By.LOGIT: 1, By.COSINE: 2, By.DISTANCE: 3}


@pytest.mark.parametrize("by", By)
def test_the_numbers_of_each_row_are_what_torch_says(architecture, by):
    loaded = architecture("gpt2")
    reading = score_state(loaded, PROMPT)
    frame = nearest_tokens(loaded, reading, by=by, top=20)
    rows = loaded.scoring_matrix[frame["id"].tolist()]
    cosine = torch.nn.functional.cosine_similarity(rows, reading.h[None])
    assert frame["cosine"].tolist() == pytest.approx(cosine.tolist(), abs=1e-5)
    assert frame["distance"].tolist() == pytest.approx(
        (rows - reading.h).norm(dim=1).tolist(), abs=1e-4
    )
    assert frame["norm"].tolist() == pytest.approx(rows.norm(dim=1).tolist(), abs=1e-5)
    assert frame["logit"].tolist() == reading.logits[frame["id"].tolist()].tolist()
    probabilities = torch.softmax(reading.logits.double(), 0)[frame["id"].tolist()]
    assert frame["probability"].tolist() == pytest.approx(probabilities.tolist())


@pytest.mark.parametrize("by", By)
def test_ranks_count_up_and_are_those_of_the_whole_vocabulary(architecture, by):
    loaded = architecture("gpt2")
    frame = nearest_tokens(loaded, score_state(loaded, PROMPT), by=by, top=99)
    assert frame["rank"].tolist() == list(range(1, 100))
    assert frame[f"rank_{by.value}"].tolist() == list(range(1, 100))
    assert sorted(frame["id"]) == list(range(99))
    for other in By:
        assert sorted(frame[f"rank_{other.value}"]) == list(range(1, 100))
    assert frame["probability"].sum() == pytest.approx(1)


def test_no_more_tokens_are_listed_than_there_are(orthonormal):
    assert len(nearest_tokens(orthonormal, state(orthonormal, torch.ones(8)), top=100)) == 8


def test_a_temperature_changes_probabilities_and_no_order(architecture):
    loaded = architecture("llama")
    reading = score_state(loaded, PROMPT)
    cold, even, hot = (
        nearest_tokens(loaded, reading, top=99, temperature=t) for t in (0.1, 1.0, 10.0)
    )
    assert cold["id"].tolist() == even["id"].tolist() == hot["id"].tolist()
    assert cold["logit"].tolist() == hot["logit"].tolist()
    assert cold["probability"][0] > even["probability"][0] > hot["probability"][0]
    for frame in (cold, even, hot):
        assert frame["probability"].sum() == pytest.approx(1)
        assert frame["probability"].is_monotonic_decreasing
    ratio = even["probability"][0] / even["probability"][1]
    assert hot["probability"][0] / hot["probability"][1] == pytest.approx(ratio**0.1)


def test_a_very_low_temperature_does_not_overflow(architecture):
    loaded = architecture("llama")
    frame = nearest_tokens(loaded, score_state(loaded, PROMPT), temperature=1e-3)
    assert frame["probability"][0] == pytest.approx(1)


def test_two_equal_rows_stay_two_rows(orthonormal):
    with torch.no_grad():
        orthonormal.embedding[5] = orthonormal.embedding[2]
    frame = nearest_tokens(orthonormal, state(orthonormal, torch.eye(8)[2]), top=2)
    assert sorted(frame["id"]) == [2, 5]
    assert frame["rank"].tolist() == [1, 2]
    assert frame["logit"][0] == frame["logit"][1]
    assert frame["rank_logit"].tolist() == [1, 1]


def test_a_row_of_zeros_has_no_direction_and_breaks_nothing(orthonormal):
    with torch.no_grad():
        orthonormal.embedding[4] = 0
    frame = nearest_tokens(orthonormal, state(orthonormal, torch.eye(8)[2]), by=By.COSINE)
    row = frame[frame["id"] == 4].iloc[0]
    assert (row["cosine"], row["norm"], row["distance"]) == (0.0, 0.0, 1.0)


@pytest.fixture
def padded() -> LoadedModel:
    """Sixty-four rows, fifty tokens; the fourteen others are zero."""
    loaded = build("llama", vocab_size=64, tie_word_embeddings=True)
    with torch.no_grad():
        loaded.embedding[50:] = 0
    object.__setattr__(loaded, "tokenizer", numbered_tokenizer(50))
    return loaded


def test_rows_without_a_token_score_but_are_no_neighbours(padded):
    reading = score_state(padded, [7, 8, 9])
    by_logit = nearest_tokens(padded, reading, top=64)
    assert sorted(by_logit["id"]) == list(range(64))
    without = by_logit[by_logit["id"] >= 50]
    assert len(without) == 14
    assert all(text.startswith("∅ row ") for text in without["text"])
    assert without["cosine"].tolist() == [0.0] * 14  # a row of zeros points nowhere
    assert without["distance"].tolist() == pytest.approx([float(reading.h.norm())] * 14)
    for by in (By.COSINE, By.DISTANCE):
        nearest = nearest_tokens(padded, reading, by=by, top=50)
        assert set(nearest["id"]) == set(range(50))


def test_no_row_without_a_token_is_listed_as_a_neighbour_however_many_are_asked_for(padded):
    reading = score_state(padded, [7, 8, 9])
    for by in (By.COSINE, By.DISTANCE):
        assert set(nearest_tokens(padded, reading, by=by, top=64)["id"]) == set(range(50))


def test_fourteen_rows_without_a_token_get_some_of_the_probability(padded):
    reading = score_state(padded, [7, 8, 9])
    by_hand = torch.softmax(reading.logits.double(), 0)[50:].sum()
    assert mass_without_token(padded, reading) == pytest.approx(float(by_hand))
    assert 0.01 < mass_without_token(padded, reading) < 0.9


def test_fourteen_zero_rows_of_sixty_four_get_their_part_of_a_flat_distribution(padded):
    flat = state(padded, torch.zeros(32))
    assert mass_without_token(padded, flat) == pytest.approx(14 / 64)


def test_where_every_row_has_a_token_none_is_lost(architecture):
    loaded = architecture("gpt2")
    assert mass_without_token(loaded, score_state(loaded, PROMPT)) == 0.0


def test_the_scores_of_a_model_with_a_cap_are_its_own_logits(architecture):
    loaded = architecture("gemma2")
    reading = score_state(loaded, PROMPT)
    frame = nearest_tokens(loaded, reading, top=99)
    assert frame["logit"].abs().max() < 30
    assert int(frame.iloc[0]["id"]) == int(reading.logits.argmax())
    assert row_norms(loaded)[3] == pytest.approx(float(loaded.scoring_matrix[3].norm()))


def test_a_row_lies_at_no_distance_from_itself(architecture):
    """‖h‖² − 2 h·e + ‖e‖² of equal vectors is rounding, and its root is a thousandth."""
    loaded = architecture("gpt2")
    for row in range(0, 99, 7):
        state = score_vector(loaded, loaded.scoring_matrix[row].clone())
        frame = nearest_tokens(loaded, state, by=By.DISTANCE, top=3)
        assert frame["id"][0] == row and frame["distance"][0] == 0
        assert frame["distance"].is_monotonic_increasing
