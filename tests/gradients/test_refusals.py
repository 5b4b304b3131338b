"""What cannot be done is said before anything is run."""

from dataclasses import replace

import pytest
import torch

from tests.tiny_models import build
from tiedviz.compute import gradient_task
from tiedviz.compute.gradient_task import LONGEST, sentence_of, sides_of
from tiedviz.compute.gradients import gradient_split
from tiedviz.words.refusals.gradient import GradientRefusal
from tiedviz.words.refusals.prompt import PromptRefusal, PromptTooLong


def test_one_token_has_nothing_to_predict(architecture):
    with pytest.raises(GradientRefusal, match=r"nothing to predict: .*w41"):
        sentence_of(architecture("gpt2"), "w41")


def test_one_token_is_enough_where_each_position_is_asked_for_itself(architecture):
    sentence = sentence_of(architecture("bert"), "w41")
    assert sentence.ids == sentence.targets == (41,)
    assert "Nothing is hidden" in sentence.words
    assert not any("mask" in note for note in sentence.notes)


@pytest.mark.parametrize("name", ["gpt2", "bert", "t5"])
def test_no_text_is_refused(architecture, name):
    with pytest.raises(PromptRefusal, match="The prompt is empty"):
        sentence_of(architecture(name), "")


def test_too_long_a_text_is_refused_with_both_numbers():
    loaded = build("gpt2", n_positions=1024)
    with pytest.raises(GradientRefusal, match=rf"{LONGEST + 1} tokens long.*{LONGEST}"):
        sentence_of(loaded, "w1 " * (LONGEST + 1))
    assert len(sentence_of(loaded, "w1 " * LONGEST).targets) == LONGEST - 1


def test_past_a_learned_table_of_positions_is_refused_too(architecture):
    loaded = architecture("gpt2")
    with pytest.raises(PromptTooLong):
        sentence_of(loaded, "w1 " * (loaded.positions + 1))


def test_memory_is_asked_for_before(architecture, monkeypatch):
    loaded = architecture("gpt2")
    sentence = sentence_of(loaded, "w1 w2 w3")
    needed = gradient_task.bytes_needed(loaded, sides_of(loaded), sentence)
    monkeypatch.setattr(gradient_task, "available_memory", lambda: needed // 2)
    with pytest.raises(GradientRefusal, match=r"does not fit in memory.*free"):
        gradient_split(loaded, sentence)


def test_more_text_and_a_larger_matrix_need_more(architecture):
    loaded = architecture("gpt2")
    few, many = sentence_of(loaded, "w1 w2"), sentence_of(loaded, "w1 w2 " * 10)
    sides = sides_of(loaded)
    assert gradient_task.bytes_needed(loaded, sides, many) > gradient_task.bytes_needed(
        loaded, sides, few
    )
    assert gradient_task.bytes_needed(loaded, sides, few) > 3 * loaded.embedding.nbytes


def test_weights_on_disk_are_refused():
    loaded = build("gpt2")
    block = loaded.model.transformer.h[0].mlp.c_fc
    block.weight = torch.nn.Parameter(block.weight.to("meta"), requires_grad=False)
    with pytest.raises(GradientRefusal, match=r"on disk.*c_fc"):
        gradient_split(loaded, sentence_of(loaded, "w1 w2 w3"))


def test_quantised_weights_are_refused():
    loaded = build("gpt2")
    block = loaded.model.transformer.h[0].mlp.c_fc
    block.weight = torch.nn.Parameter(block.weight.to(torch.int8), requires_grad=False)
    with pytest.raises(GradientRefusal, match="int8: quantised"):
        gradient_split(loaded, sentence_of(loaded, "w1 w2 w3"))


def test_a_model_that_reads_no_tokens_is_refused(architecture):
    loaded = build("whisper")
    with pytest.raises(GradientRefusal, match=r"cannot be split into two sides.*not tokens"):
        sides_of(loaded)


def test_seconds_are_estimated_and_then_known(architecture):
    loaded = replace(architecture("llama"), memo={})
    sentence = sentence_of(loaded, "w1 w2 w3 w4")
    sides = sides_of(loaded)
    assert 0 < gradient_task.seconds_needed(loaded, sides, sentence) < 5
    split = gradient_split(loaded, sentence)
    assert gradient_task.seconds_needed(loaded, sides, sentence) == split.seconds
