"""A tokenizer as rows of the vocabulary: which bytes each id stands for."""

from __future__ import annotations

from typing import Any

from tiedviz.words.tokens import Alphabet, Token, piece_bytes


class Vocabulary:
    """Token by id, for any tokenizer that transformers loads.

    Attributes:
        size: ids that name a token, counting added ones.
        alphabet: how this tokenizer writes bytes as pieces.
        special_ids: ids that are marks instead of text.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.size = len(tokenizer)
        self.alphabet = _alphabet(tokenizer)
        self._added = {int(id): token for id, token in tokenizer.added_tokens_decoder.items()}
        self.special_ids = frozenset(tokenizer.all_special_ids) | frozenset(
            id for id, token in self._added.items() if token.special
        )

    def token(self, id: int) -> Token:
        """The token in row `id`; one without a piece where the tokenizer has none for that row."""
        piece = self._piece(id)
        if piece is None:
            return Token(id, None, b"")
        if id in self._added or id in self.special_ids:
            return Token(id, piece, piece.encode(), special=id in self.special_ids)
        return Token(id, piece, piece_bytes(piece, self.alphabet))

    def tokens(self, ids: list[int]) -> list[Token]:
        """The tokens in these rows, in this order."""
        return [self.token(id) for id in ids]

    def _piece(self, id: int) -> str | None:
        """The stored piece, or None where the row has none (padded vocabularies)."""
        if id in self._added:
            return str(self._added[id].content)
        try:
            piece = self._tokenizer.convert_ids_to_tokens(id)
        except (IndexError, KeyError, OverflowError, ValueError):
            return None
        return piece if isinstance(piece, str) else None


def _alphabet(tokenizer: Any) -> Alphabet:
    """The alphabet, from the tokenizer's own decoder; where it has none, from its pieces."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    decoder = str(getattr(backend, "decoder", None) or "")
    for mark, alphabet in (
        ("ByteLevel", Alphabet.BYTE_LEVEL),
        ("ByteFallback", Alphabet.BYTE_FALLBACK),
        ("Metaspace", Alphabet.METASPACE),
        ("WordPiece", Alphabet.WORDPIECE),
        ("BPEDecoder", Alphabet.END_OF_WORD),
    ):
        if mark in decoder:
            return alphabet
    return _alphabet_of_pieces(tokenizer)


def _alphabet_of_pieces(tokenizer: Any) -> Alphabet:
    pieces = [tokenizer.convert_ids_to_tokens(id) or "" for id in range(min(len(tokenizer), 3000))]
    if any(piece.startswith("<0x") for piece in pieces):
        return Alphabet.BYTE_FALLBACK
    if any(piece.startswith("▁") for piece in pieces):
        return Alphabet.METASPACE
    if any(piece.startswith("##") for piece in pieces):
        return Alphabet.WORDPIECE
    if any(piece.endswith("</w>") for piece in pieces):
        return Alphabet.END_OF_WORD
    return Alphabet.PLAIN
