"""Two ways to turn a text into ids: by whole words, which may be missing, and by bytes."""

from __future__ import annotations


def word_ids(text: str, words: tuple[str, ...]) -> list[tuple[str, int | None]]:
    """Each word of `text` with its id; None where the vocabulary has no such word (UNK)."""
    known = {word: id for id, word in enumerate(words)}
    return [(word, known.get(word.lower())) for word in text.split()]


def byte_ids(text: str) -> list[int]:
    """The UTF-8 bytes of `text`: ids 0 to 255, whatever the text is."""
    return list(text.encode("utf-8", "replace"))
