"""Kinds of tokens, on pieces of real vocabularies."""

import pytest

from tiedviz.compute.token_map.projection import coordinate_table
from tiedviz.compute.token_map.rows import named_rows
from tiedviz.words.token_kinds import KIND_HELP, TokenKind, kind_of
from tiedviz.words.tokens import Alphabet, Token, piece_bytes

BYTE_LEVEL, FALLBACK, WORDPIECE = Alphabet.BYTE_LEVEL, Alphabet.BYTE_FALLBACK, Alphabet.WORDPIECE


@pytest.mark.parametrize(
    ("piece", "alphabet", "kind"),
    [
        ("ĠParis", BYTE_LEVEL, "word start"),
        ("ing", BYTE_LEVEL, "continuation"),
        ("▁café", FALLBACK, "word start"),
        ("the", WORDPIECE, "word start"),
        ("##ing", WORDPIECE, "continuation"),
        ("ing</w>", Alphabet.END_OF_WORD, "word start"),
        ("w1", Alphabet.PLAIN, "word start"),
        ("Ġ123", BYTE_LEVEL, "digit"),
        ("²½", Alphabet.PLAIN, "digit"),
        ("1.5", Alphabet.PLAIN, "digit"),
        ("Ġ(*", BYTE_LEVEL, "punctuation"),
        ("😀", Alphabet.PLAIN, "punctuation"),
        ("ĠĠĠ", BYTE_LEVEL, "whitespace"),
        ("Ċ", BYTE_LEVEL, "whitespace"),
        ("<0xE4>", FALLBACK, "byte"),
        ("ä½", BYTE_LEVEL, "byte"),
        ("▁Привет", FALLBACK, "script"),
        ("你好", FALLBACK, "script"),
        ("ी", FALLBACK, "script"),
        ("αβ", Alphabet.PLAIN, "script"),
        ("1st", Alphabet.PLAIN, "word start"),
    ],
)
def test_kind(piece, alphabet, kind):
    assert kind_of(Token(5, piece, piece_bytes(piece, alphabet)), alphabet) == kind


def test_marks_and_rows_without_a_token():
    assert kind_of(Token(0, "<bos>", b"<bos>", special=True), BYTE_LEVEL) is TokenKind.SPECIAL
    assert kind_of(Token(9, None, b""), BYTE_LEVEL) is TokenKind.NO_TOKEN
    assert set(KIND_HELP) == set(TokenKind)


def test_a_padded_vocabulary_is_labelled(tiny_folder):
    from tiedviz.models.loading import load

    loaded = load(str(tiny_folder(tied=True, name="padded", vocab_size=320)))
    named = named_rows(loaded)
    tokens = named.tokens
    size = loaded.vocabulary.size
    assert len(tokens) == 320 and size < 320
    assert (tokens["kind"][size:] == "no token").all()
    assert not (tokens["kind"][:size] == "no token").any()
    assert tokens["text"][size] == f"∅ row {size}"
    assert named.rows.usable.sum() == size


def test_the_table_has_ten_components_whatever_there_are(tied_model):
    from tiedviz.compute.token_map import MapView, project

    named = named_rows(tied_model)
    table = coordinate_table(named, project(tied_model.embedding, named.rows, MapView.UNIT))
    columns = ["id", "text", "kind", "norm", *(f"pc{number}" for number in range(1, 11))]
    assert table.columns.tolist() == columns
    assert len(table) == tied_model.embedding.shape[0]
    assert table["norm"].tolist() == pytest.approx(tied_model.embedding.norm(dim=1).tolist())
