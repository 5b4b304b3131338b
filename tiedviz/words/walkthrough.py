"""The ten steps: what each is called, its one idea, and what to do there."""

from __future__ import annotations

from dataclasses import dataclass

PAPER = (
    "Press & Wolf, *Using the Output Embedding to Improve Language Models*, 2017, "
    "[arXiv 1608.05859](https://arxiv.org/abs/1608.05859)"
)


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes:
        title: its name.
        idea: the one thing to take away, in two or three sentences.
        task: the one thing to do.
    """

    title: str
    idea: str
    task: str


STEPS = (
    Step(
        "A token ID is an address",
        "A tokenizer cuts text into pieces and gives each piece a number, its **ID**. The ID says "
        "only *which row* of a table to read. It is a house number, not a quantity: ID 2 is not "
        "twice ID 1, and neighbours by number need not mean anything alike.",
        "Pick a word and compare its neighbours by ID with its neighbours by meaning.",
    ),
    Step(
        "The lookup table",
        "**E** is a table of V rows and d columns: one row for each token, d learned numbers in "
        "each. To embed token x is to read row x. Nothing is computed.",
        "Light another row, and change one of its numbers.",
    ),
    Step(
        "Lookup is a matrix multiply",
        "The same row comes out of a product: a vector with a single 1 at place x, times E. All "
        "other products are with 0, so nobody computes them; but the product explains what "
        "learning does: it is differentiable, and **only the row that was read gets a gradient**.",
        "Pick a row, and find the part of the table that is multiplied by zero.",
    ),
    Step(
        "Two jobs, two shapes",
        "A table stands at the entrance (E_in: ID → vector) and a matrix at the exit (W_out: "
        "vector → V scores). Between them L blocks turn h_0 into h_L, all d wide. Stored row by "
        "row, both are V × d; written as maps, each has the transpose of the other's shape.",
        "Try to make a block wider, then build both versions.",
    ),
    Step(
        "Tying: one table for both",
        "Weight tying sets **W_out = Eᵀ**: the row that embeds a token also scores it. It is one "
        "tensor under two names, not two tensors that agree. The two tables shrink from 2·V·d "
        "numbers to V·d.",
        "Switch to an equal copy and train it for one step.",
    ),
    Step(
        "Logits, then probabilities",
        "Token j scores **z_j = h_L · e_j**, plus what this model adds. h_L is the state after the "
        "final norm. Softmax turns the V logits into probabilities and keeps their order.",
        "Change h_L until another word wins.",
    ),
    Step(
        "The table learns twice",
        "One step of training sends a gradient to E on two ways: through the input, to the rows "
        "that were read, and through the output, to **every** row. Tied, both meet in one table, "
        "so a token's input vector and its logit move together.",
        "Train one step tied, then the same step with a copy.",
    ),
    Step(
        "Edge cases",
        "Some rows are marks, not text. Some words have no row. Position is added elsewhere or "
        "not at all. And many models put something between E and the block, or between the "
        "product and the logit.",
        "Type a word the toy does not know.",
    ),
    Step(
        "One picture",
        "Text becomes IDs, IDs become rows, blocks turn rows into h_L, h_L is compared with every "
        "row, the winner is appended, and it all begins again.",
        "Tell the story to somebody, with the picture and nothing else.",
    ),
    Step(
        "Practice",
        "Answer first, then look. Each answer is checked at once; a hint comes before the answer.",
        "Solve them all; your progress is kept while this browser tab is open.",
    ),
)

STORY = (
    "Think of a **notebook with one page per token**. On each page stand d numbers.",
    "**Read it forwards to embed.** A token arrives as a page number. Open that page, copy its "
    "numbers: that is the token's vector. No arithmetic, just turning to a page.",
    "The blocks pass the vector on, each adding something, always in d numbers. What "
    "comes out after the final norm is h_L: a wish, written in the same d numbers.",
    "**Tip the notebook on its side to score.** Now every page is a column. Lay h_L across all of "
    "them: on each page multiply number by number and add up. The page that fits best has the "
    "largest logit. Softmax turns fits into probabilities.",
    "A model that is not tied carries **two notebooks**, one for each job. A tied model tips the "
    "one it has. That costs no storage; the scoring costs its 2·V·d operations either way.",
    "And when the model learns, it corrects a page for both reasons: for how it was read, and for "
    "how it scored. Which is why a page that was never opened still changes.",
)

REPS = (
    "Build it separate, then tied, and see equal shapes (step 4 does both; do it once yourself).",
    "Work out what tying saves in a model you know.",
    "Find out whether a real implementation ties, and where that is configured.",
)

CARDS = (
    (
        "What does an ID carry?",
        "An address: which row of E to read. No size, no order, no meaning.",
    ),
    (
        "Why is a lookup no multiply?",
        "One-hot times E gives the same row, but (V − 1)/V of its products are with 0. Reading the "
        "row costs d copies and no arithmetic.",
    ),
    (
        "What does a transpose do, and why is it free?",
        "Rows become columns: Eᵀ[i, j] = E[j, i]. The numbers stay where they are; only the order "
        "in which they are walked changes. The product with it still costs 2·V·d operations.",
    ),
    (
        "What exactly is tied?",
        "The input embedding and the output matrix: one tensor under two names. Not the blocks, "
        "not biases, not positions.",
    ),
    (
        "What does one logit measure?",
        "How well h_L fits one token's row: the dot product h_L · e_j, plus what this model adds. "
        "It grows with the length of both, and with how much they point the same way.",
    ),
    (
        "What is L?",
        "The number of blocks a state passes. h_L is what enters the output matrix after the last "
        "of them and the final norm.",
    ),
    (
        "Why does the table learn from two sources?",
        "As input: the gradient of the rows that were read. As output: (p_j − 1 for the right "
        "token)·h_L, for every row. Tied, it gets the sum.",
    ),
    (
        "What about special and unknown tokens?",
        "PAD, BOS, EOS and UNK are rows like others. A word-level vocabulary turns every word it "
        "lacks into UNK; a byte-level one has no need of it.",
    ),
    (
        "Where does position enter?",
        "Not in E. It is added to the row (learned or sinusoidal positions) or turned into the "
        "attention (rotary, relative). The output side never sees it.",
    ),
)
"""Question and answer."""
