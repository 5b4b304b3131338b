"""One question for each of the first nine steps, answered from the toy as it is now."""

from __future__ import annotations

from tiedviz.compute.toy import Toy
from tiedviz.ui.walkthrough.step import Choice, Numbers, Question

_TOKENS = 5  # how many tokens the question about shapes reads


def check_question(step: int, toy: Toy) -> Question:
    """The question at the end of step 1 to 9."""
    return {
        1: _address,
        2: _table,
        3: _product,
        4: _shapes,
        5: _halves,
        6: _temperature,
        7: _unread,
        8: _unknown,
        9: _cost,
    }[step](toy)


def _address(toy: Toy) -> Question:
    one, two = toy.words[1], toy.words[2]
    return Choice(
        "step 1",
        f"“{one}” has ID 1 and “{two}” has ID 2. What follows from that?",
        (
            f"“{two}” means twice as much as “{one}”",
            f"“{one}” and “{two}” mean nearly the same",
            "They are read from row 1 and row 2, and nothing else",
            f"“{two}” is the rarer word",
        ),
        2,
        "Would anything change if the two rows and their numbers were swapped together?",
        "An ID is an address. Renumber all tokens, move their rows along, and the model is the "
        "same.",
    )


def _table(toy: Toy) -> Question:
    return Numbers(
        "step 2",
        "How many learned numbers does the toy's table hold?",
        (("V × d", toy.V * toy.d),),
        "One row for each word, the same number of columns in each.",
        f"V × d = {toy.V} × {toy.d} = {toy.V * toy.d}.",
    )


def _product(toy: Toy) -> Question:
    wasted = (toy.V - 1) * toy.d
    return Numbers(
        "step 3",
        "One-hot times E on the toy: how many of its products multiply by 0?",
        (("products with 0", wasted),),
        "All rows but one, and every column of them.",
        f"(V − 1) · d = {toy.V - 1} · {toy.d} = {wasted} of {toy.V * toy.d}.",
    )


def _shapes(toy: Toy) -> Question:
    return Choice(
        "step 4",
        f"The toy reads {_TOKENS} words at once, so h_L has shape {_TOKENS} × {toy.d}. What shape "
        "have the logits?",
        (
            f"{_TOKENS} × {toy.d}",
            f"{toy.V} × {toy.d}",
            f"{_TOKENS} × {toy.V}",
            f"{toy.V} × {toy.V}",
        ),
        2,
        "Each position gets one score for each word of the vocabulary.",
        f"({_TOKENS} × {toy.d}) times ({toy.d} × {toy.V}) is {_TOKENS} × {toy.V}, tied or not.",
    )


def _halves(toy: Toy) -> Question:
    table = toy.V * toy.d
    return Numbers(
        "step 5",
        "How many numbers do the toy's tables hold?",
        (("separate", 2 * table), ("tied", table)),
        "Two tables of the same shape, or one.",
        f"2·V·d = {2 * table} and V·d = {table}. The two tables are halved, not the model: its "
        "blocks stay as they are.",
    )


def _temperature(toy: Toy) -> Question:
    best = toy.words[toy.best]
    return Choice(
        "step 6",
        "The temperature is halved. Which word is the likeliest then?",
        toy.words,
        toy.best,
        "Dividing all logits by the same positive number leaves one thing as it was.",
        f"“{best}”, as before: softmax keeps the order of the logits at any temperature. Only its "
        "lead grows.",
    )


def _unread(toy: Toy) -> Question:
    return Choice(
        "step 7",
        "The tables are separate. A word was not read; it was the right answer. After one step …",
        (
            "its input vector has moved, its logit has not",
            "both have moved",
            "its logit has moved, its input vector has not",
            "neither has moved",
        ),
        2,
        "Through the input a gradient reaches only rows that were read.",
        "The output side corrects its row of W, so its logit moves. Its row of E was not read and "
        "gets nothing. Were the tables tied, the one row would have moved, and both with it.",
    )


def _unknown(toy: Toy) -> Question:
    return Choice(
        "step 8",
        "A byte-level vocabulary meets a word nobody ever wrote. What happens?",
        (
            "It becomes UNK",
            "It is cut into smaller pieces, bytes if need be",
            "It gets a new row of E",
            "The model refuses it",
        ),
        1,
        "Every text is a sequence of bytes, and there are only 256 of them.",
        "It is cut into pieces that exist. With a piece for each byte nothing is ever unknown.",
    )


def _cost(toy: Toy) -> Question:
    return Choice(
        "step 9",
        "Which part of the loop takes 2·V·d operations for each token, tied or not?",
        ("Reading the row of E", "Adding the position", "Scoring h_L against every row", "Softmax"),
        2,
        "Look for the place where all V rows of d numbers are used.",
        f"The scores: V rows, d multiplications and additions each; 2·{toy.V}·{toy.d} = "
        f"{2 * toy.V * toy.d} on the toy. Tying saves memory there, not time.",
    )
