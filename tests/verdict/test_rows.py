import pytest
import torch

from tests.tiny_models import opened
from tests.verdict.conftest import tiny
from tiedviz.compute.next_token.candidates import mass_beyond
from tiedviz.models.building import building
from tiedviz.verdict.live import EmptyRows, empty_rows, fresh_rows
from tiedviz.verdict.loaded import hear_loaded


@pytest.mark.case(42)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("rows", "multiple"), [(53, None), (50, 16)])
def test_rows_that_a_resize_added_are_flagged_and_still_tied(rows, multiple):  # case 42
    model = tiny(True)
    with building():
        model.resize_token_embeddings(rows, pad_to_multiple_of=multiple)
    found = fresh_rows(model.get_input_embeddings().weight)
    assert found.ids == tuple(range(50, model.get_input_embeddings().weight.shape[0]))
    assert found.norm < 0.5 * found.usual_norm and found.cosine > 0.95
    assert hear_loaded(model).same_object


def test_trained_rows_are_not_flagged():
    assert fresh_rows(tiny(True).get_input_embeddings().weight) is None
    assert fresh_rows(torch.randn(3, 4)) is None
    assert fresh_rows(torch.zeros(50, 4)) is None


def test_zero_padding_and_one_short_row_are_not_fresh():
    matrix = torch.randn(50, 16)
    matrix[40:] = 0
    matrix[3] *= 0.1
    assert fresh_rows(matrix) is None


def test_short_rows_that_point_apart_are_not_fresh():
    matrix = torch.randn(64, 64)
    matrix[:10] *= 0.1
    assert fresh_rows(matrix) is None


@pytest.mark.case(23)
def test_rows_without_a_token_and_their_mass():  # case 23
    model = tiny(True, vocab_size=64)
    loaded = opened(model, "padded")
    with torch.no_grad():
        model.model.embed_tokens.weight[50:] = 0
    loaded = with_tokens(loaded, 50)
    found = empty_rows(loaded)
    assert found.count == 14 and 0 < found.mass < 1
    logits = torch.zeros(64)
    assert mass_beyond(logits, 50) == pytest.approx(14 / 64)
    assert EmptyRows(50, 52).count == 0


def with_tokens(loaded, size):
    from dataclasses import replace

    from tests.tiny_models import numbered_tokenizer

    return replace(loaded, tokenizer=numbered_tokenizer(size), memo={})
