"""Which tokens two vocabularies have in common: by their bytes, never by id or piece."""

import numpy as np
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from tiedviz.compute.compare.shared_tokens import shared_tokens, token_texts
from tiedviz.models.loaded import Vocabulary
from tiedviz.words.tokens import Alphabet


def vocabulary(pieces, alphabet, special=None):
    tokenizer = Tokenizer(models.WordLevel({p: i for i, p in enumerate(pieces)}, unk_token="?"))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=special)
    found = Vocabulary(fast)
    found.alphabet = alphabet
    return found


def test_the_same_text_in_two_alphabets_is_one_token():
    gpt2 = vocabulary(["Ġcold", "cold", "Ċ"], Alphabet.BYTE_LEVEL)
    gemma = vocabulary(["<0x0A>", "▁cold", "▁warm"], Alphabet.BYTE_FALLBACK)
    found = shared_tokens([token_texts(gpt2, 3), token_texts(gemma, 3)])
    assert found.texts == (b" cold", b"\n")
    assert [groups.tolist() for groups in found.groups] == [[0, -1, 1], [1, 0, -1]]


def test_a_wordpiece_that_begins_a_word_has_its_space():
    bert = vocabulary(["cold", "##ly", ",", "[unused]"], Alphabet.WORDPIECE)
    assert token_texts(bert, 4)[:3] == (b" cold", b"ly", b",")


def test_marks_and_rows_without_a_token_are_left_out():
    one = vocabulary(["<s>", "a"], Alphabet.PLAIN, special="<s>")
    assert token_texts(one, 4) == (None, b"a", None, None)
    other = vocabulary(["<s>", "a"], Alphabet.PLAIN)  # here it is text
    assert shared_tokens([token_texts(one, 4), token_texts(other, 2)]).texts == (b"a",)


def test_rows_of_one_text_are_added_up_and_the_first_stands_for_it():
    found = shared_tokens([(b"b", b"a", b"b", None), (b"a", b"b")])
    assert found.texts == (b"b", b"a")
    assert found.summed(0, np.array([0.1, 0.2, 0.3, 0.4])).tolist() == [0.4, 0.2]
    assert found.rows(0).tolist() == [0, 1]
    assert found.rows(1).tolist() == [1, 0]


def test_three_vocabularies():
    found = shared_tokens([(b"a", b"b", b"c"), (b"c", b"b"), (b"x", b"c")])
    assert found.texts == (b"c",)


def test_nothing_in_common():
    found = shared_tokens([(b"a",), (b"b",)])
    assert found.texts == ()
    assert found.summed(0, np.array([1.0])).tolist() == []
