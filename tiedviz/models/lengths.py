"""How long a sequence a model can be run on, and what is said of one past its trained length."""

from __future__ import annotations

from torch import nn

from tiedviz.models.loaded import LoadedModel
from tiedviz.words.numbers import count
from tiedviz.words.refusals.prompt import PromptTooLong

# The most tokens run past a rotary model's trained length: attention grows with their square.
LONGEST_UNTRAINED = 4096


def most_tokens(loaded: LoadedModel) -> int:
    """The longest sequence that is run here: what the model has positions for, within reason."""
    trained = loaded.positions
    if trained is None:
        return LONGEST_UNTRAINED
    rows = _position_limit(loaded, trained)
    return max(trained, LONGEST_UNTRAINED) if rows is None else rows


def length_notes(loaded: LoadedModel, tokens: int) -> list[str]:
    """What a person should know of an answer to so many tokens, as sentences.

    Raises:
        PromptTooLong: the model has no position for the last ones, or it would take too long.
    """
    trained, most = loaded.positions, most_tokens(loaded)
    if tokens > most:
        learned = trained is not None and _position_limit(loaded, trained) is not None
        has = f"{loaded.title} has a learned vector for each of"
        runs = f"for {loaded.title} the longest that is run here is"
        raise PromptTooLong(tokens, most, has if learned else runs)
    if trained is None or tokens <= trained:
        return []
    return [
        f"{count(tokens)} tokens is past the {count(trained)} this model was trained for: "
        "it still answers, but nothing says how well."
    ]


def _position_limit(loaded: LoadedModel, positions: int) -> int | None:
    """The tokens that a learned table of positions has rows for; None where none is looked up.

    Args:
        loaded: the model.
        positions: the longest sequence it was trained for, as its config states it.
    """
    if "position_limit" in loaded.memo:
        return loaded.memo["position_limit"]
    others = {loaded.model.get_input_embeddings(), loaded.model.get_output_embeddings()}
    usable = [
        # a table with a row for padding counts its positions from the row after that
        module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
        for module in loaded.model.modules()
        if isinstance(module, nn.Embedding)
        and module not in others
        # some tables keep two rows more than positions
        and positions <= module.num_embeddings <= positions + 8
    ]
    limit = min([positions, *usable]) if usable else None
    loaded.memo["position_limit"] = limit
    return limit
