"""Every question can be answered, and its numbers are the right ones."""

from __future__ import annotations

import numpy as np
import pytest

from tiedviz.compute.toy import Toy
from tiedviz.ui.walkthrough import STEPS
from tiedviz.ui.walkthrough.practice_questions import model_questions, practice
from tiedviz.ui.walkthrough.step import Choice, Numbers, OwnWords, read_whole_number

TOY = Toy.published()
ALL = [
    *(step.question(TOY) for step in STEPS[:9]),
    *practice(),
    *model_questions("A model", 49_152, 576, 134_515_008, True),
]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("38400000", 38_400_000),
        ("38,400,000", 38_400_000),
        (" 38 400 000 ", 38_400_000),
        ("38.4M", 38_400_000),
        ("38.40m", 38_400_000),
        ("1.24B", 1_240_000_000),
        ("12", 12),
        ("1.5", None),
        ("0.0001k", None),
        ("-3", None),
        ("many", None),
        ("", None),
        ("9" * 31, None),
        ("٣", 3),
    ],
)
def test_a_number_is_read_however_it_is_written(text, number):
    assert read_whole_number(text) == number


@pytest.mark.parametrize("question", ALL, ids=lambda question: question.key)
def test_every_question_has_a_hint_an_answer_and_one_right_way(question):
    assert question.hint and question.answer and question.hint != question.answer
    if isinstance(question, Choice):
        assert 0 <= question.right < len(question.options)
        assert len(set(question.options)) == len(question.options) >= 3
    if isinstance(question, Numbers):
        for _, number in question.blanks:
            assert f"{number:,}" in question.answer or str(number) in question.answer


def test_keys_are_unique():
    assert len({question.key for question in ALL}) == len(ALL)


@pytest.mark.parametrize(
    ("V", "d", "separate", "tied"),
    [
        (50_000, 768, 76_800_000, 38_400_000),
        (50_000, 4_096, 409_600_000, 204_800_000),
        (32_000, 1_024, 65_536_000, 32_768_000),
    ],
)
def test_the_sizes_that_are_asked_for(V, d, separate, tied):
    [question] = [each for each in practice() if each.key == f"practice {V} {d}"]
    assert question.blanks == (("without tying", separate), ("with tying", tied))


def test_a_models_own_questions_count_its_own_numbers():
    _, other, wasted = model_questions("SmolLM2", 49_152, 576, 134_515_008, True)
    assert other.blanks == (("parameters", 134_515_008 + 28_311_552),)
    assert wasted.blanks == (("products with 0", 49_151 * 576),)
    _, other, _ = model_questions("Pythia", 50_304, 768, 162_322_944, False)
    assert other.blanks == (("parameters", 162_322_944 - 50_304 * 768),)


def test_the_question_on_temperature_follows_the_toy():
    edited = Toy(TOY.words, TOY.E, np.array([0.5, 0.2, 0.9]))
    assert STEPS[5].question(TOY).options[STEPS[5].question(TOY).right] == "ran"
    assert STEPS[5].question(edited).options[STEPS[5].question(edited).right] == "the"


def test_the_given_answer_to_the_interview_mentions_all_points_and_an_empty_one_none():
    [question] = [each for each in practice() if isinstance(each, OwnWords)]
    assert all(question.mentioned(question.answer))
    assert not any(question.mentioned("I do not know."))
