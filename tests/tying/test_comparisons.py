import pytest
import torch

from tiedviz.compute.next_token.state import score_state
from tiedviz.compute.unembedding import unembedding_of
from tiedviz.verdict.comparisons import against_base, alikeness, through


@pytest.fixture
def matrix():
    return torch.randn(200, 8, generator=torch.Generator().manual_seed(1))


def test_a_matrix_is_like_itself(matrix):
    same = alikeness(matrix, matrix.clone())
    assert same.row_cosine == pytest.approx(1)
    assert same.neighbours_shared == 1
    assert same.after_rotation == pytest.approx(1)


def test_a_rotated_copy_has_other_rows_but_the_same_neighbours(matrix):
    rotation = torch.linalg.qr(torch.randn(8, 8, generator=torch.Generator().manual_seed(2)))[0]
    turned = alikeness(matrix, matrix @ rotation)
    assert abs(turned.row_cosine) < 0.9
    assert turned.neighbours_shared == pytest.approx(1, abs=1e-3)
    assert turned.after_rotation == pytest.approx(1, abs=1e-5)


def test_unrelated_matrices_are_not_alike_even_after_a_rotation(matrix):
    other = torch.randn(200, 8, generator=torch.Generator().manual_seed(3))
    unrelated = alikeness(matrix, other)
    assert abs(unrelated.row_cosine) < 0.1
    assert unrelated.neighbours_shared < 0.2
    assert unrelated.after_rotation < 0.5


def test_shapes_that_differ_are_a_fault_of_ours(matrix):
    with pytest.raises(ValueError, match="shapes differ"):
        alikeness(matrix, matrix[:10])


def test_changed_added_and_unchanged_rows_are_counted(matrix):
    now = torch.cat([matrix, torch.ones(3, 8)])
    now[7] += 1
    found = against_base(now, matrix)
    assert (found.unchanged, found.changed, found.added, found.removed) == (199, 1, 3, 0)
    assert found.moved["row"].tolist() == [7]
    assert found.moved["distance"][0] == pytest.approx(8**0.5, rel=1e-5)
    assert not found.identical


def test_the_same_matrix_is_identical_and_names_no_row(matrix):
    found = against_base(matrix, matrix.clone())
    assert found.identical
    assert found.moved.empty


def test_a_state_through_its_own_matrix_gives_the_models_answer(untied_model):
    reading = score_state(untied_model, [5, 90, 17])
    after = unembedding_of(untied_model).after
    own = through(untied_model, reading, after, untied_model.scoring_matrix)
    assert own["id"].tolist() == reading.logits.topk(5).indices.tolist()
    other = through(untied_model, reading, after, untied_model.embedding)
    assert other["id"].tolist() != own["id"].tolist()


def test_a_row_that_is_no_numbers_is_the_same_as_itself_and_named_where_it_is_new(matrix):
    base = matrix.clone()
    base[3] = torch.nan
    assert against_base(base.clone(), base).identical
    now = base.clone()
    now[5, 2] = torch.nan
    found = against_base(now, base)
    assert (found.unchanged, found.changed) == (199, 1)
    assert found.moved["row"].tolist() == [5] and found.moved["distance"].isna().all()
