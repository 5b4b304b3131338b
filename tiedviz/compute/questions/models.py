"""Questions made from the sizes of the chosen model."""

from __future__ import annotations

from tiedviz.compute.counts import vocabulary_cost
from tiedviz.words.numbers import count, percent
from tiedviz.words.questions import Numbers, Question


def model_questions(
    title: str, V: int, d: int, parameters: int, tied: bool
) -> tuple[Question, ...]:
    """Three questions on this model's own numbers.

    Args:
        title: its name, as it may be printed.
        V: rows of E.
        d: width of E.
        parameters: of the whole model as it is, each stored number once.
        tied: whether one table does both jobs.
    """
    table = vocabulary_cost(V, d, 0).table
    other = parameters + table if tied else parameters - table
    sizes = f"{title}: V = {count(V)}, d = {count(d)}"
    return (
        Numbers(
            f"model table {V} {d}",
            f"{sizes}. How many parameters do the tables hold?",
            (("separate", 2 * table), ("tied", table)),
            "2·V·d and V·d.",
            f"{count(2 * table)} and {count(table)}. This model is "
            f"{'tied' if tied else 'not tied'}.",
        ),
        Numbers(
            f"model other {V} {d} {parameters}",
            f"It has {count(parameters)} parameters. How many would it have "
            f"{'untied' if tied else 'tied'}?",
            (("parameters", other),),
            "One table more or less; everything else stays.",
            f"{count(parameters)} {'+' if tied else '−'} {count(table)} = {count(other)}. Tying "
            f"halves the tables; it takes {percent(table / max(parameters, other))} off the model.",
        ),
        Numbers(
            f"model wasted {V} {d}",
            "If its lookup were done as one-hot times E, how many products would be with 0?",
            (("products with 0", (V - 1) * d),),
            "All rows but one.",
            f"(V − 1) · d = {count((V - 1) * d)} of {count(table)}, that is "
            f"{percent((V - 1) / V, 4)}.",
        ),
    )
