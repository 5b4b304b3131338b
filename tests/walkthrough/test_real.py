"""What the walkthrough measures on open models."""

from __future__ import annotations

import pandas as pd
import pytest
import torch

from tests.tiny_models import build
from tiedviz.compute.next_token.state import score_state
from tiedviz.compute.unembedding import unembedding_of
from tiedviz.compute.walkthrough_model import (
    _two_tokens,
    blocks_of,
    build_both,
    entrance_of,
    pulls,
    rows_pushed,
)
from tiedviz.compute.walkthrough_rows import (
    next_by_id,
    next_by_meaning,
    other_marks,
    rows_around,
    special_rows,
    spells_bytes,
    time_lookup,
)
from tiedviz.words.refusals.prompt import PromptRefusal


def test_neighbours_by_id_and_by_meaning_are_the_ones_torch_finds(tied_model):
    E = tied_model.embedding
    cosine = torch.nn.functional.cosine_similarity(E, E[40][None])
    cosine[40] = -2
    best = cosine.topk(4)
    near = next_by_meaning(tied_model, 40)
    assert near["id"].tolist() == best.indices.tolist()
    assert near["cosine"].tolist() == pytest.approx(best.values.tolist(), abs=1e-6)
    assert next_by_id(tied_model, 40)["id"].tolist() == [38, 39, 41, 42]
    assert next_by_id(tied_model, 0)["id"].tolist() == [1, 2]
    last = len(E) - 1
    assert next_by_id(tied_model, last)["id"].tolist() == [last - 2, last - 1]
    with pytest.raises(PromptRefusal, match="There is no row"):
        next_by_id(tied_model, len(E))


def test_a_part_of_the_table_holds_the_tables_numbers(tied_model):
    E = tied_model.embedding
    part = rows_around(tied_model, 40, around=2, columns=5)
    assert sorted(part["row"].unique()) == [38, 39, 40, 41, 42]
    assert part[part["lit"]]["value"].tolist() == pytest.approx(E[40, :5].tolist())
    assert set(rows_around(tied_model, 0, around=2)["row"]) == {0, 1, 2, 3, 4}
    last = len(E) - 1
    assert max(rows_around(tied_model, last, around=2)["row"]) == last
    with pytest.raises(PromptRefusal, match="There is no row"):
        rows_around(tied_model, -1)


def test_a_lookup_is_the_product_and_only_its_row_gets_a_gradient(tied_model):
    before = tied_model.embedding.detach().clone()
    timed = time_lookup(tied_model, 40, repeats=2)
    V, d = tied_model.embedding.shape
    assert timed.max_abs_difference == 0
    assert (timed.products, timed.wasted) == (V * d, (V - 1) * d)
    assert timed.rows_with_gradient == (40,)
    assert timed.lookup_seconds > 0 and timed.product_seconds > 0
    assert torch.equal(tied_model.embedding, before)
    assert tied_model.embedding.grad is None and not tied_model.embedding.requires_grad
    with pytest.raises(PromptRefusal, match="There is no row"):
        time_lookup(tied_model, V)


def test_both_versions_give_logits_of_the_same_shape_and_one_has_half_the_numbers():
    untied, tied = build_both(50, 16, tokens=3)
    assert untied.logits_shape == tied.logits_shape == (1, 3, 50)
    assert untied.input_shape == untied.output_shape == tied.output_shape == (50, 16)
    assert (untied.parameters, tied.parameters) == (1600, 800)
    assert tied.same and not untied.same
    large = build_both(262_144, 640, device="meta")
    assert [each.parameters for each in large] == [2 * 262_144 * 640, 262_144 * 640]


def test_blocks_have_weights_of_their_own_and_alberts_do_not(tied_model):
    own = blocks_of(tied_model)
    layers = tied_model.model.model.layers
    assert (own.calls, own.modules) == (2, 2) and not own.shared
    assert own.parameters == sum(each.numel() for each in layers.parameters())
    assert own.largest * 2 == own.parameters
    shared = blocks_of(build("albert"))
    assert shared.shared and shared.modules == 1
    assert shared.parameters == shared.largest


@pytest.mark.case(18)
@pytest.mark.parametrize(
    ("name", "scale", "position"),
    [
        ("llama", 1.0, False),
        ("gpt2", 1.0, True),
        ("gemma", None, False),
        ("gemma3_text", None, False),
        ("granite", 12.0, False),
        ("minicpm3", 12.0, False),
        ("opt", 1.0, True),
    ],
)
def test_what_stands_before_the_first_block_is_measured(name, scale, position):  # case 18
    loaded = build(name)
    found = entrance_of(loaded)
    assert found.sum_of_parts
    wanted = loaded.embedding.shape[1] ** 0.5 if scale is None else scale
    assert found.scale.value == pytest.approx(wanted, rel=1e-4)
    assert found.adds_position is position and found.adds_anything is position


@pytest.mark.case(18)
@pytest.mark.parametrize("name", ["bert", "bloom"])
def test_a_norm_before_the_first_block_is_no_sum(name):  # case 18
    found = entrance_of(build(name))
    assert not found.sum_of_parts and not found.added


def test_learned_positions_are_the_vectors_that_are_added():
    loaded = build("gpt2")
    found = entrance_of(loaded)
    table = loaded.model.transformer.wpe.weight[:4]
    assert found.added == pytest.approx(table.norm(dim=1).tolist(), rel=1e-4)


def test_a_narrow_table_is_seen():
    found = entrance_of(build("albert"))
    assert found.factorised and found.width < found.block_width


def test_special_rows_are_the_tokenizers_own(tied_model):
    found = special_rows(tied_model).set_index("role")
    assert found.loc["BOS", "id"] == 0 and found.loc["EOS", "id"] == 1
    assert found.loc["BOS", "text"] == "<bos>"
    assert found.loc["BOS", "length"] == pytest.approx(float(tied_model.embedding[0].norm()))
    assert found.loc["UNK", "text"] == "none" and pd.isna(found.loc["UNK", "id"])
    assert other_marks(tied_model) == 0
    assert spells_bytes(tied_model) and not spells_bytes(build("llama"))


@pytest.mark.parametrize("name", ["llama", "gemma2", "granite", "gptj"])
def test_pulls_are_the_gradient_of_the_output_rows(name):
    loaded = build(name, tie_word_embeddings=False)
    ids, target = [5, 9, 7], 11
    reading = score_state(loaded, ids)
    after = unembedding_of(loaded).after
    head = loaded.model.get_output_embeddings()
    with torch.enable_grad():
        weight = head.weight.detach().clone().requires_grad_()
        name_of = next(n for n, p in loaded.model.named_parameters() if p is head.weight)
        out = torch.func.functional_call(
            loaded.model, {name_of: weight}, (), {"input_ids": torch.tensor([ids])}
        )
        loss = torch.nn.functional.cross_entropy(out.logits[0, -1:].float(), torch.tensor([target]))
        loss.backward()
    found = pulls(loaded, reading, after, target)
    assert found["id"][0] == target and found["coefficient"][0] < 0
    wanted = weight.grad.norm(dim=1)[found["id"].tolist()]
    assert found["length"].tolist() == pytest.approx(wanted.tolist(), rel=1e-3)
    assert rows_pushed(reading, after, target) == loaded.embedding.shape[0]


def test_damaged_rows_are_nobodys_neighbours_and_no_entrance():
    """nan comes first in a ranking, and no comparison with it is ever true."""
    loaded = build("llama")
    assert not loaded.tied and unembedding_of(loaded).reproduced
    first, _ = _two_tokens(loaded)
    with torch.no_grad():
        loaded.embedding[first] = torch.nan
    near = next_by_meaning(loaded, 9)
    assert first not in near["id"].tolist() and near["cosine"].notna().all()
    found = entrance_of(loaded)
    assert found is None or not found.sum_of_parts
