"""Every row of the catalogue, built again from its configuration and counted again."""

import dataclasses
import json

import pytest

from tiedviz.compute.counts.regenerate import counted, disagreements
from tiedviz.words.catalogue import FILE, catalogue, find_row, read_row, row_of_shape

RECORDS = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["repo_id"])
def test_a_row_counted_again_is_the_row_and_what_others_arrived_at(record):
    again = counted(record)
    assert again == record
    assert disagreements(read_row(again)) == []


def test_there_are_233_models_each_once():
    ids = [row.repo_id.lower() for row in catalogue()]
    assert len(ids) == len(set(ids)) == 233


def test_a_planted_wrong_expectation_is_noticed():
    row = find_row("openai-community/gpt2")
    wrong = dataclasses.replace(row, expected={**row.expected, "total": row.total + 1})
    assert disagreements(row) == []
    assert disagreements(wrong) == [
        "openai-community/gpt2: parameters counted 124,439,808, expected 124,439,809"
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [("total_as_built", 1), ("input_embedding", 768), ("output_embedding", 38_597_376)],
)
def test_each_expected_part_is_compared(field, value):
    row = find_row("gpt2")
    wrong = dataclasses.replace(row, expected={**row.expected, field: value})
    assert disagreements(wrong)


def test_a_published_total_that_differs_needs_a_reason():
    row = find_row("openai-community/gpt2")
    assert disagreements(dataclasses.replace(row, published=137_022_720))
    unexplained = dataclasses.replace(find_row("EleutherAI/pythia-12b"), published_why="")
    assert disagreements(unexplained)


def test_the_two_known_mismatches_are_explained_in_the_data():
    known = {row.repo_id: row for row in catalogue() if row.published not in (None, row.total)}
    assert set(known) == {"EleutherAI/pythia-12b", "EleutherAI/gpt-j-6b"}
    assert known["EleutherAI/pythia-12b"].published_difference == 128
    shards = 7 * (28 * 12_288 + 8_192) + 8 * 4_096
    assert known["EleutherAI/gpt-j-6b"].published_difference == shards == 2_498_560
    assert all(len(row.published_why) > 80 for row in known.values())


def test_149_published_totals_are_compared():
    assert sum(row.published is not None for row in catalogue()) == 149


def test_the_twenty_untied_t5s_have_their_released_totals():
    forced = [row for row in catalogue() if row.checkpoint_untied]
    assert len(forced) == 20
    assert {row.family for row in forced} == {"T5 v1.1", "Flan-T5", "mT5", "ByT5"}
    assert all(not row.tied and row.parts.head == row.V * row.d for row in forced)
    flan = find_row("google/flan-t5-base")
    assert flan.total == 247_577_856
    assert flan.total - flan.parts.head == 222_903_552  # what the library builds


@pytest.mark.parametrize(
    ("repo_id", "total", "share"),
    [
        ("HuggingFaceTB/SmolLM2-135M", 134_515_008, 21.0),
        ("google/gemma-3-270m", 268_098_176, 62.6),
        ("openai-community/gpt2", 124_439_808, 31.0),
        ("EleutherAI/pythia-160m", 162_322_944, 47.6),
    ],
)
def test_shares_people_quote(repo_id, total, share):
    row = find_row(repo_id)
    assert row.total == total
    assert round(row.parts.share * 100, 1) == share


def test_the_parts_of_every_row_add_up_and_the_tables_are_whole():
    for row in catalogue():
        assert row.parts.embedding == row.V * row.d
        assert row.parts.head == (0 if row.tied else row.V * row.d)
        assert min(vars(row.parts).values()) >= 0


def test_every_row_says_where_its_facts_come_from():
    for row in catalogue():
        assert row.source and row.tied_from and row.confidence in ("high", "medium"), row.repo_id
        assert bool(row.published) == bool(row.published_from)


def test_a_file_may_hold_more_numbers_than_the_model_has_parameters():
    """The Hub's "safetensors total" of GPT-2 counts twelve masks of 1024 × 1024."""
    gpt2 = find_row("openai-community/gpt2")
    assert gpt2.file_numbers - gpt2.total == 12 * 1024 * 1024


def test_ids_are_found_in_any_case_and_the_oldest_without_an_owner():
    assert find_row("OpenAI-Community/GPT2") is find_row("gpt2")
    assert find_row("no/such") is None


def test_a_shape_leads_to_the_row_of_the_nearest_name():
    shape = (49_152, 576, 30, 134_515_008)
    assert row_of_shape(*shape, like="HuggingFaceTB/SmolLM2-135M-Instruct").name == "SmolLM2-135M"
    assert row_of_shape(1, 1, 1, 1, like="x") is None
