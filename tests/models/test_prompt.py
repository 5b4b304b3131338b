"""A prompt as the model will read it: what is added, what is refused, what should be known."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers.processors import TemplateProcessing
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from tests.tiny_models import build, names, numbered_tokenizer, opened
from tiedviz.compute.forward import forward
from tiedviz.models.loaded import LoadedModel
from tiedviz.models.prompt import Bos, encode, mask_position, one_token
from tiedviz.words.refusals.prompt import NotAToken, PromptRefusal, PromptTooLong


def words(number: int) -> str:
    return " ".join(f"w{5 + index % 40}" for index in range(number))


@pytest.fixture(scope="module")
def with_bos(tied_model) -> LoadedModel:
    """The tiny Llama with a tokenizer that puts BOS in front by itself, and EOS behind."""
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=type(tied_model.tokenizer.backend_tokenizer).from_str(
            tied_model.tokenizer.backend_tokenizer.to_str()
        ),
        bos_token="<bos>",
        eos_token="<eos>",
    )
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<bos> $A <eos>", special_tokens=[("<bos>", 0), ("<eos>", 1)]
    )
    return LoadedModel(
        "x", "Tiny with BOS", "x", tied_model.model, tokenizer, "float32", tied_model.folder
    )


def test_a_prompt_keeps_what_was_typed_and_its_tokens_spell_it(tied_model):
    prompt = encode(tied_model, "the cat sat")
    assert prompt.text == "the cat sat"
    assert b"".join(token.raw for token in prompt.tokens) == b"the cat sat"
    assert prompt.ids == tied_model.tokenizer("the cat sat")["input_ids"]
    assert prompt.notes == ()


@pytest.mark.case(8)
def test_an_empty_prompt_is_refused_where_the_tokenizer_adds_nothing(tied_model):  # case 8
    with pytest.raises(PromptRefusal, match="The prompt is empty"):
        encode(tied_model, "")


def test_an_empty_prompt_with_bos_is_bos_alone_and_says_so(tied_model):
    prompt = encode(tied_model, "", Bos.ADD)
    assert prompt.ids == [0]
    assert len(prompt.notes) == 1 and "BOS alone" in prompt.notes[0]


def test_bos_comes_only_where_it_is_asked_for_if_the_tokenizer_adds_none(tied_model):
    assert encode(tied_model, "the").ids[0] != 0
    assert encode(tied_model, "the", Bos.OMIT).ids == encode(tied_model, "the").ids
    added = encode(tied_model, "the", Bos.ADD)
    assert added.ids == [0, *encode(tied_model, "the").ids]
    assert added.notes == ()


def test_bos_goes_only_where_that_is_asked_for_if_the_tokenizer_adds_it(with_bos):
    default = encode(with_bos, "the")
    assert default.ids[0] == 0 and default.notes == ()
    assert encode(with_bos, "the", Bos.ADD).ids == default.ids
    omitted = encode(with_bos, "the", Bos.OMIT)
    assert omitted.ids == default.ids[1:]
    assert len(omitted.notes) == 1 and "by default" in omitted.notes[0]


def test_without_bos_the_other_marks_stay(with_bos):
    assert encode(with_bos, "the", Bos.OMIT).ids[-1] == 1


@pytest.mark.case(7)
def test_bos_twice_is_noticed(with_bos):  # case 7
    twice = encode(with_bos, "<bos>the")
    assert twice.ids[:2] == [0, 0]
    assert len(twice.notes) == 1 and "2 times" in twice.notes[0]


@pytest.mark.case(77)
def test_a_text_that_brings_its_own_bos_keeps_one_if_no_other_is_put_in_front(with_bos):
    """For case 77."""
    once = encode(with_bos, "<bos>the", Bos.OMIT)
    assert once.ids == encode(with_bos, "the").ids
    assert once.notes == ()


@pytest.mark.case(77)
def test_a_text_that_brings_its_own_bos_does_not_get_another(tied_model):  # case 77
    assert encode(tied_model, "<bos>the", Bos.ADD).ids == encode(tied_model, "<bos>the").ids
    assert encode(tied_model, "<bos>the", Bos.OMIT).ids == encode(tied_model, "<bos>the").ids


@pytest.mark.case(19)
def test_a_trailing_space_is_noticed(tied_model):  # case 19
    for text in ("the cat ", "The capital of France is "):
        [note] = encode(tied_model, text).notes
        assert "ends in a space" in note


@pytest.mark.parametrize("text", ["the cat", "the cat\n", " the", " "])
def test_other_prompts_are_not_said_to_end_in_a_space(tied_model, text):
    assert not any("ends in a space" in note for note in encode(tied_model, text).notes)


def test_pieces_that_the_vocabulary_lacks_are_counted():
    [note] = encode(build("gpt2"), "w7 nothing w8 like this").notes
    assert note.startswith("3 of the tokens")


@given(st.text(max_size=40))
@settings(max_examples=60, deadline=None)
def test_any_text_is_cut_into_tokens_that_spell_it_or_refused(tied_model, text):
    try:
        prompt = encode(tied_model, text)
    except PromptRefusal as refusal:
        assert isinstance(refusal, PromptTooLong) or refusal.what == "The prompt is empty"
        return
    raw = b"".join(token.raw for token in prompt.tokens)
    assert raw == text.encode()


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d\ude00", "the\x00cat"])
def test_text_that_no_file_could_hold_does_not_crash(tied_model, text):
    assert encode(tied_model, text).ids


def gpt2_with_positions(positions: int) -> LoadedModel:
    config = GPT2Config(vocab_size=99, n_embd=16, n_layer=1, n_head=2, n_positions=positions)
    return opened(GPT2LMHeadModel(config), "gpt2")


@pytest.mark.case(20)
def test_a_learned_position_for_each_of_sixteen_tokens_and_no_more():  # case 20
    model = gpt2_with_positions(16)
    assert len(encode(model, words(16)).ids) == 16
    with pytest.raises(PromptTooLong) as refusal:
        encode(model, words(17))
    assert "17 tokens" in refusal.value.what and "16" in refusal.value.why
    assert "1 token or more" in refusal.value.remedy


@pytest.mark.case(20)
def test_a_rotary_model_past_its_trained_length_answers_with_a_note():  # case 20
    model = build("llama")
    assert encode(model, words(64)).notes == ()
    prompt = encode(model, words(100))
    assert len(prompt.ids) == 100
    [note] = prompt.notes
    assert "100" in note and "64" in note
    assert torch.isfinite(forward(model.model, prompt.ids).logits).all()


def test_past_the_longest_that_is_run_here_it_is_refused():
    with pytest.raises(PromptTooLong) as refusal:
        encode(build("llama"), words(4097))
    assert "4,096" in refusal.value.why


@pytest.mark.parametrize("name", ["roberta", "xlm-roberta"])
def test_a_position_table_that_begins_after_its_padding_row_is_that_much_shorter(name):
    model = build(name, max_position_embeddings=20, pad_token_id=1)
    forward(model.model, encode(model, words(18)).ids)
    with pytest.raises(PromptTooLong) as refusal:
        encode(model, words(19))
    assert "18" in refusal.value.why
    with pytest.raises((IndexError, RuntimeError)):
        forward(model.model, list(range(5, 24)))


LENGTHS = ["gpt2", "opt", "gpt_neo", "bloom", "mistral", "biogpt", "openai-gpt", "xglm", "mamba"]


@pytest.mark.parametrize("name", [*LENGTHS, *names("MaskedLM")])
@pytest.mark.parametrize("past", [0, 1, 9])
def test_what_is_let_through_can_be_run_and_what_is_refused_cannot(name, past):
    model = build(name)
    text = words((model.positions or 64) + past)
    try:
        prompt = encode(model, text)
    except PromptTooLong:
        with pytest.raises((IndexError, RuntimeError)):
            forward(model.model, model.tokenizer(text)["input_ids"])
        return
    forward(model.model, prompt.ids)


def test_an_answer_past_the_trained_length_is_noted_as_a_prompt_is():
    loaded = build("t5")
    loaded.model.config.max_position_embeddings = 8
    assert encode(loaded, words(3), decoder=words(7)).notes == ()
    [note] = encode(loaded, words(3), decoder=words(8)).notes
    assert note.startswith("9 tokens is past the 8")


def test_a_token_beyond_the_matrix_is_refused_by_its_text_too():
    loaded = build("llama")
    loaded.tokenizer.add_tokens(["beyond"])
    for named in ("beyond", f"id:{len(loaded.tokenizer) - 1}"):
        with pytest.raises(PromptRefusal, match="There is no row"):
            one_token(loaded, named)


def test_bytes_of_a_shell_that_are_no_text_name_no_token(tied_model):
    with pytest.raises(NotAToken) as refused:
        one_token(tied_model, "the \udcff")
    str(refused.value).encode()  # it can be printed


def test_a_model_that_fills_gaps_is_read_at_its_first_mask():
    assert mask_position([5, 3, 6], 3) == (1, "")
    position, note = mask_position([5, 3, 6, 3], 3)
    assert position == 1 and "2 masks" in note


def test_the_first_mask_is_where_a_prompt_for_such_a_model_is_read():
    model = build("bert")
    model.tokenizer.mask_token = "w9"  # a piece that has a row
    prompt = encode(model, "w5 w9 w6")
    assert prompt.place == 1 and prompt.notes == ()
    prompt = encode(model, "w5 w6 w7")
    assert prompt.place == 2 and "no mask" in prompt.notes[0]


@pytest.mark.parametrize("mask", [3, None])
def test_without_a_mask_it_is_read_at_the_last_position_and_says_so(mask):
    position, note = mask_position([5, 6, 7], mask)
    assert position == 2 and "no mask" in note


def test_a_tokenizer_without_any_bos_leaves_the_prompt_as_it_is():
    model = build("gpt2")
    assert numbered_tokenizer(99).bos_token_id is None
    for bos in Bos:
        assert encode(model, "w5 w6", bos).ids == [5, 6]


@pytest.mark.case(7)
@pytest.mark.real
def test_gemma_shows_one_bos_and_warns_of_none_and_of_two(gemma):  # case 7
    text = "The capital of France is"
    one, none = encode(gemma, text), encode(gemma, text, Bos.OMIT)
    two = encode(gemma, f"<bos>{text}")
    assert [prompt.ids.count(2) for prompt in (one, none, two)] == [1, 0, 2]
    assert [len(prompt.notes) for prompt in (one, none, two)] == [0, 1, 1]
    assert encode(gemma, "").ids == [2]
    assert encode(gemma, f"<bos>{text}", Bos.OMIT).ids == one.ids


@pytest.mark.case(8)
@pytest.mark.real
def test_smollm2_has_nothing_to_read_in_an_empty_prompt(smollm2):  # case 8
    with pytest.raises(PromptRefusal, match="The prompt is empty"):
        encode(smollm2, "")
    assert len(encode(smollm2, "", Bos.ADD).ids) == 1
