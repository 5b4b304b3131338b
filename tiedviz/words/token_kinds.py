"""What kind of thing a token is: nine kinds, told apart by its bytes and its tokenizer's marks."""

from __future__ import annotations

import unicodedata
from enum import StrEnum

from tiedviz.words.tokens import Alphabet, Token


class TokenKind(StrEnum):
    """The kinds, in the order in which a legend lists them."""

    WORD_START = "word start"
    CONTINUATION = "continuation"
    BYTE = "byte"
    DIGIT = "digit"
    PUNCTUATION = "punctuation"
    WHITESPACE = "whitespace"
    SCRIPT = "script"
    SPECIAL = "special"
    NO_TOKEN = "no token"


KIND_HELP = {
    TokenKind.WORD_START: "Latin letters with a space in front: how a word begins in running text",
    TokenKind.CONTINUATION: "Latin letters without one: the rest of a word, or a word after a "
    "bracket",
    TokenKind.BYTE: "bytes that are not a whole character",
    TokenKind.DIGIT: "digits alone",
    TokenKind.PUNCTUATION: "marks and symbols without a letter or digit",
    TokenKind.WHITESPACE: "spaces, tabs, line feeds",
    TokenKind.SCRIPT: "letters of another script than Latin",
    TokenKind.SPECIAL: "a mark of the tokenizer, such as the beginning of a text",
    TokenKind.NO_TOKEN: "a row that no token uses",
}

_NO_START_MARK = (Alphabet.PLAIN, Alphabet.WORDPIECE)


def kind_of(token: Token, alphabet: Alphabet) -> TokenKind:
    """The kind of one token.

    The first letter decides the script. A tokenizer that marks where a word ends (GPT-1) cannot
    tell a beginning from a middle: there a piece that ends a word counts as its start, since most
    of these are whole words. One that marks what continues (BERT) starts a word with all others.
    """
    if token.piece is None:
        return TokenKind.NO_TOKEN
    if token.special:
        return TokenKind.SPECIAL
    try:
        text = token.raw.decode("utf-8")
    except UnicodeDecodeError:
        return TokenKind.BYTE
    bare = text.strip()
    if not bare:
        return TokenKind.WHITESPACE
    if bare.isnumeric():
        return TokenKind.DIGIT
    letter = bare[0] if bare[0].isalpha() else next(filter(_is_letter, bare), None)
    if letter is None:
        return TokenKind.PUNCTUATION if not any(map(str.isnumeric, bare)) else TokenKind.DIGIT
    if not _is_latin(letter):
        return TokenKind.SCRIPT
    return (
        TokenKind.WORD_START
        if _starts_word(token.piece, text, alphabet)
        else TokenKind.CONTINUATION
    )


def _is_letter(character: str) -> bool:
    """A letter, or a vowel sign of a script that writes vowels as marks."""
    if character.isalpha():
        return True
    return ord(character) > 0x0483 and unicodedata.category(character) in ("Mn", "Mc")


def _is_latin(letter: str) -> bool:
    code = ord(letter)
    return (
        code < 0x0250
        or 0x1E00 <= code < 0x1F00
        or 0x2C60 <= code < 0x2C80
        or 0xA720 <= code < 0xA800
        or 0xFF21 <= code < 0xFF5B
    )


def _starts_word(piece: str, text: str, alphabet: Alphabet) -> bool:
    if alphabet in _NO_START_MARK:
        return not piece.startswith("##")
    if alphabet is Alphabet.END_OF_WORD:
        return piece.endswith("</w>")
    return text[0].isspace()
