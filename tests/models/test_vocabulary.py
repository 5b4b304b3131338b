"""Rows of the vocabulary as bytes, for every way a tokenizer may write them."""

from __future__ import annotations

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from tests.tiny_models import numbered_tokenizer
from tiedviz.models.loaded import Vocabulary
from tiedviz.words.tokens import Alphabet


def wrapped(tokenizer: Tokenizer, **marks: str) -> Vocabulary:
    return Vocabulary(PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks))


@pytest.fixture
def byte_level(tiny_tokenizer):
    return Vocabulary(tiny_tokenizer)


@pytest.fixture
def byte_fallback():
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "▁a"]
    model = models.BPE(
        vocab={piece: id for id, piece in enumerate(pieces)},
        merges=[("▁", "a")],
        unk_token="<unk>",
        byte_fallback=True,
    )
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(" "), "merged_with_next")
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    return wrapped(tokenizer, unk_token="<unk>")


@pytest.fixture
def metaspace():
    pieces = [("<unk>", 0.0), ("▁", -1.0), ("a", -2.0), ("▁a", -3.0), ("<0xE4>", -4.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return wrapped(tokenizer, unk_token="<unk>")


@pytest.fixture
def wordpiece():
    pieces = ["[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##tie", "##d"]
    tokenizer = Tokenizer(
        models.WordPiece({piece: id for id, piece in enumerate(pieces)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.WordPiece()
    return wrapped(tokenizer, unk_token="[UNK]", mask_token="[MASK]", cls_token="[CLS]")


@pytest.fixture
def end_of_word():
    pieces = ["<unk>", "t", "e", "d</w>", "ted</w>"]
    tokenizer = Tokenizer(
        models.BPE({piece: id for id, piece in enumerate(pieces)}, [], unk_token="<unk>")
    )
    tokenizer.decoder = decoders.BPEDecoder()
    return wrapped(tokenizer, unk_token="<unk>")


def test_byte_level_pieces_are_bytes(byte_level, tiny_tokenizer):
    assert byte_level.alphabet is Alphabet.BYTE_LEVEL
    ids = tiny_tokenizer(" the 你")["input_ids"]
    tokens = byte_level.tokens(ids)
    assert b"".join(token.raw for token in tokens).decode() == " the 你"
    assert any(not token.whole for token in tokens)


def test_byte_fallback_pieces_are_bytes(byte_fallback):
    assert byte_fallback.alphabet is Alphabet.BYTE_FALLBACK
    assert byte_fallback.token(1 + 0xE4).raw == b"\xe4"
    assert byte_fallback.token(1 + 0xE4).shown == "⟨E4⟩"
    assert byte_fallback.token(259).raw == b" a"


def test_metaspace_pieces_have_a_space_in_front(metaspace):
    assert metaspace.alphabet is Alphabet.METASPACE
    assert metaspace.token(3).raw == b" a"
    assert metaspace.token(4).raw == b"<0xE4>"  # no byte: this tokenizer has none


def test_wordpieces_lose_their_mark(wordpiece):
    assert wordpiece.alphabet is Alphabet.WORDPIECE
    assert [token.raw for token in wordpiece.tokens([4, 5, 6])] == [b"un", b"tie", b"d"]
    assert wordpiece.token(5).piece == "##tie"


def test_an_end_of_word_is_a_space(end_of_word):
    assert end_of_word.alphabet is Alphabet.END_OF_WORD
    assert [token.raw for token in end_of_word.tokens([1, 3])] == [b"t", b"d "]


def test_a_tokenizer_that_says_nothing_is_told_by_its_pieces():
    pieces = {"<unk>": 0, "▁the": 1, "<0x0A>": 2}
    vocabulary = wrapped(Tokenizer(models.WordLevel(pieces, unk_token="<unk>")))
    assert vocabulary.alphabet is Alphabet.BYTE_FALLBACK


def test_plain_words_are_their_own_text():
    vocabulary = Vocabulary(numbered_tokenizer(50))
    assert vocabulary.alphabet is Alphabet.PLAIN
    assert vocabulary.token(7).raw == b"w7"


def test_marks_are_special_and_stand_for_their_own_name(wordpiece, byte_level):
    assert wordpiece.special_ids >= {0, 1, 3}
    assert wordpiece.token(3).special and wordpiece.token(3).raw == b"[MASK]"
    assert byte_level.token(0).special and byte_level.token(0).shown == "<bos>"
    assert not wordpiece.token(4).special


def test_an_added_word_is_text_as_it_was_added():
    tokenizer = numbered_tokenizer(10).__class__(
        tokenizer_object=numbered_tokenizer(10).backend_tokenizer, unk_token="w0"
    )
    tokenizer.add_tokens(["two words", "▁x"])
    vocabulary = Vocabulary(tokenizer)
    assert vocabulary.size == 12
    assert vocabulary.token(10).raw == b"two words" and not vocabulary.token(10).special
    assert vocabulary.token(11).raw == "▁x".encode()


def test_rows_past_the_tokenizer_have_no_piece():
    vocabulary = Vocabulary(numbered_tokenizer(50))
    assert vocabulary.size == 50
    assert vocabulary.token(49).piece == "w49"
    for row in (50, 63, 10**6):
        token = vocabulary.token(row)
        assert token.piece is None and token.raw == b""
        assert token.shown == f"∅ row {row}"


def test_tokens_come_in_the_order_they_were_asked_for(wordpiece):
    assert [token.id for token in wordpiece.tokens([6, 4, 6])] == [6, 4, 6]
