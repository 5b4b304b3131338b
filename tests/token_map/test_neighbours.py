"""Who is near whom: against a plain computation, and where dot products make hubs."""

import numpy as np
import pytest
import torch

from tiedviz.compute.token_map import Measure, map_rows, neighbours_of
from tiedviz.compute.token_map.neighbours import (
    is_sum,
    named_token,
    neighbours_of_vector,
    read_sum,
)
from tiedviz.compute.token_map.rows import duplicate_rows
from tiedviz.words.refusals.prompt import NotAToken
from tiedviz.words.refusals.vector import VectorRefusal


@pytest.fixture
def matrix():
    return torch.randn(300, 16, generator=torch.Generator().manual_seed(0)) + 0.5


def plainly(matrix, row, by):
    table = matrix.double().numpy()
    dot = table @ table[row]
    cosine = dot / np.linalg.norm(table, axis=1) / np.linalg.norm(table[row])
    distance = np.linalg.norm(table - table[row], axis=1)
    score = {"cosine": cosine, "dot": dot, "l2": -distance}[by]
    order = np.argsort(-score)
    return [int(each) for each in order if each != row], cosine, dot, distance, order


@pytest.mark.parametrize("by", ["cosine", "dot", "l2"])
def test_the_ten_nearest_are_those_of_a_plain_computation(matrix, by):
    for row in (0, 17, 299):
        found = neighbours_of(matrix, map_rows(matrix), row, by=Measure(by))
        ids, cosine, dot, distance, order = plainly(matrix, row, by)
        assert found.ids.tolist() == ids[:10]
        assert found.cosine == pytest.approx(cosine[ids[:10]], abs=1e-6)
        assert found.dot == pytest.approx(dot[ids[:10]], abs=1e-5)
        assert found.distance == pytest.approx(distance[ids[:10]], abs=1e-5)
        assert found.self_rank[Measure(by)] == order.tolist().index(row) + 1


@pytest.mark.case(5)
def test_one_long_row_is_near_to_all_by_dot_and_a_row_is_nearest_to_itself_by_cosine(matrix):
    """For case 5."""
    matrix[8] *= 10
    rows = map_rows(matrix)
    first = [int(neighbours_of(matrix, rows, row, by=Measure.DOT).ids[0]) for row in range(300)]
    assert sum(id == 8 for id in first) > 150
    ranks = [neighbours_of(matrix, rows, row).self_rank for row in range(300)]
    assert {rank[Measure.COSINE] for rank in ranks} == {1}
    assert {rank[Measure.L2] for rank in ranks} == {1}
    assert sum(rank[Measure.DOT] > 1 for rank in ranks) > 150


def test_equal_rows_do_not_push_a_row_off_its_first_place(matrix):
    matrix[10:24] = matrix[10]
    found = neighbours_of(matrix, map_rows(matrix), 12, top=13)
    assert sorted([*found.ids.tolist(), 12]) == list(range(10, 24))
    assert found.distance.tolist() == [0] * 13
    assert found.self_rank[Measure.COSINE] == found.self_rank[Measure.L2] == 1


def test_rows_that_are_not_finite_or_have_no_token_are_nobodys_neighbours(matrix):
    matrix[5] = float("nan")
    matrix[6] = matrix[7]
    rows = map_rows(matrix, np.arange(300) != 6)
    for by in Measure:
        found = neighbours_of(matrix, rows, 7, by=by, top=400)
        assert not {5, 6, 7} & set(found.ids.tolist())
        assert len(found.ids) == 297
    with pytest.raises(VectorRefusal, match=r"Row 5 .* has no neighbours"):
        neighbours_of(matrix, rows, 5)
    assert len(neighbours_of(matrix, rows, 6).ids) == 10  # it may ask all the same


def test_zero_rows_have_no_cosine_but_a_distance(matrix):
    matrix[3] = 0
    rows = map_rows(matrix)
    assert 3 not in neighbours_of(matrix, rows, 4, top=400).ids
    assert 3 in neighbours_of(matrix, rows, 4, by=Measure.L2, top=400).ids
    assert len(neighbours_of(matrix, rows, 3, by=Measure.L2).ids) == 10


def test_a_tiny_matrix_has_few_neighbours():
    matrix = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    found = neighbours_of(matrix, map_rows(matrix), 0)
    assert found.ids[0] == 1 and len(found.ids) == 4


@pytest.mark.case(65)
def test_duplicates_and_zero_rows_are_grouped_and_a_negative_row_is_not_called_zero(matrix):
    """For case 65."""
    matrix[10:24] = matrix[10]
    matrix[[1, 2, 299]] = 0
    matrix[2] = -0.0
    matrix[40] = -matrix[40].abs() - 1
    rows = map_rows(matrix)
    groups = [group.tolist() for group in duplicate_rows(matrix, rows)]
    assert groups == [list(range(10, 24)), [1, 2, 299]]
    assert np.flatnonzero(rows.zero).tolist() == [1, 2, 299]


def test_a_sum_is_the_sum_of_its_rows(tied_model):
    total = read_sum(tied_model, "id:20 − id:30 + id:40")
    assert total.ids == (20, 30, 40) and [sign for sign, _ in total.terms] == [1, -1, 1]
    table = tied_model.embedding.detach()
    expected = table[20] - table[30] + table[40]
    assert total.vector(table) == pytest.approx(expected.numpy(), abs=1e-6)
    found = neighbours_of_vector(table, map_rows(table), total.vector(table), left_out=total.ids)
    assert not set(total.ids) & set(found.ids.tolist())
    cosine = torch.nn.functional.cosine_similarity(table, expected[None])
    order = [int(id) for id in cosine.argsort(descending=True) if int(id) not in total.ids]
    assert found.ids.tolist() == order[:10]


def test_what_is_no_sum_is_refused(tied_model):
    assert is_sum("king − man + woman") and not is_sum("king-man") and not is_sum("␣king")
    for text in ("id:1 + ", "id:1", "id:1 - - id:2"):
        with pytest.raises((VectorRefusal, NotAToken), match=r"is not (a sum of tokens|one token)"):
            read_sum(tied_model, text)
    total = read_sum(tied_model, "id:7 - id:7")
    with pytest.raises(VectorRefusal, match=r"is zero: its terms cancel"):
        total.vector(tied_model.embedding)


def test_a_word_without_its_space_is_the_token_with_it_where_only_that_exists(tied_model):
    assert named_token(tied_model, "cat").shown == "␣cat"
    assert named_token(tied_model, "␣cat").shown == "␣cat"
    with pytest.raises(NotAToken):
        named_token(tied_model, "cat dog")
    assert read_sum(tied_model, "cat − ␣cat + the").shown == "␣cat − ␣cat + ␣the"


def test_a_sum_over_a_damaged_row_is_refused(tied_model):
    table = tied_model.embedding.detach().clone()
    table[30] = torch.nan
    with pytest.raises(VectorRefusal, match=r"Row 30 .* has no neighbours"):
        read_sum(tied_model, "id:20 − id:30 + id:40").vector(table)
