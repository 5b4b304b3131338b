"""A text as this model's pieces, without the marks a tokenizer puts around a prompt."""

from __future__ import annotations

from tiedviz.models.loaded import LoadedModel
from tiedviz.models.prompt import bare_ids
from tiedviz.words.refusals.prompt import PromptRefusal, require_row
from tiedviz.words.tokens import Token

# More pills than this bury the page.
LONGEST = 40


def pieces_of(loaded: LoadedModel, text: str) -> list[Token]:
    """The tokens of `text`, the first `LONGEST` of them.

    Raises:
        PromptRefusal: there are none.
        PromptRefusal: the tokenizer has more tokens than E has rows.
    """
    ids = bare_ids(loaded, text)
    if not ids:
        raise PromptRefusal.empty(loaded.title)
    require_row(max(ids), loaded.embedding.shape[0])
    return loaded.vocabulary.tokens(ids[:LONGEST])
