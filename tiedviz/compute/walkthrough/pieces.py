"""A text as this model's pieces, without the marks a tokenizer puts around a prompt."""

from __future__ import annotations

from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.prompt import EmptyPrompt, NoSuchRow
from tiedviz.words.tokens import Token

# More pills than this bury the page.
LONGEST = 40


def pieces_of(loaded: LoadedModel, text: str) -> list[Token]:
    """The tokens of `text`, the first `LONGEST` of them.

    Raises:
        EmptyPrompt: there are none.
        NoSuchRow: the tokenizer has more tokens than E has rows.
    """
    clean = text.encode("utf-8", "replace").decode()  # lone surrogates are no text
    with loaded.lock:
        ids = loaded.tokenizer(clean, add_special_tokens=False, verbose=False)["input_ids"]
    if not ids:
        raise EmptyPrompt(loaded.title)
    rows = loaded.embedding.shape[0]
    if (largest := max(ids)) >= rows:
        raise NoSuchRow(largest, rows)
    return loaded.vocabulary.tokens(list(ids[:LONGEST]))
