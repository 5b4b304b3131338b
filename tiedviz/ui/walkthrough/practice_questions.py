"""The questions of step 10, and those made from a model's sizes; every number is computed."""

from __future__ import annotations

from tiedviz.compute.counts import vocabulary_cost
from tiedviz.ui.walkthrough.step import Choice, Numbers, OwnWords, Question
from tiedviz.words.numbers import count, percent, short_count

_SIZES = ((50_000, 768), (50_000, 4_096), (32_000, 1_024))


def practice() -> tuple[Question, ...]:
    """All of them, in the order in which they are asked."""
    return (*_about_shapes(), *(_size(V, d) for V, d in _SIZES), *_about_tying(), _interview())


def _about_shapes() -> tuple[Question, ...]:
    return (
        Choice(
            "practice width",
            "Why does every block of a transformer keep the width d_model?",
            (
                "Because attention only works on one width",
                "Because each block adds to what it was given, and only equal widths can be added",
                "Because all blocks share their weights",
                "To save memory",
            ),
            1,
            "r_k = r_(k−1) + something.",
            "The residual stream: a block's output is added to its input, so both have d numbers. "
            "Inside a block the width may change (often to 4·d in the MLP); at its end it may not. "
            "It also lets any number of blocks be stacked, and h_L meet rows of d numbers.",
        ),
        Choice(
            "practice sharing",
            "All blocks have the same shape. Do they share their weights?",
            (
                "Yes, a block is one module called L times",
                "Yes, wherever the embeddings are tied",
                "No, each block usually has its own; ALBERT is a known exception",
                "No, that would be impossible",
            ),
            2,
            "Same shape does not mean same numbers.",
            "Each block has numbers of its own: L times the parameters, and L different things "
            "learned. ALBERT calls one block L times: far fewer parameters, as much computing, and "
            "less it can tell apart. Weight tying is about the tables, not the blocks.",
        ),
        Choice(
            "practice input",
            "What shape has the input embedding, and what is a lookup?",
            (
                "d × V; a product of the ID with the matrix",
                "V × d; reading row x, the same as one-hot(x) times E",
                "V × V; one row of similarities",
                "L × d; one row for each block",
            ),
            1,
            "How many tokens are there, and how long is the vector of one?",
            "V rows of d numbers. Reading row x gives what one-hot(x)·E would, without its "
            "(V − 1)·d products with 0.",
        ),
        Choice(
            "practice output",
            "How does the output matrix's shape relate to the embedding's, and what does that "
            "make possible?",
            (
                "They have nothing in common, so both must be learned",
                "Both are square, so one can be inverted into the other",
                "As maps, V → d and d → V, one is the transpose of the other, so one table can be "
                "both",
                "The output is larger, because it also holds the biases",
            ),
            2,
            "One leads from V to d, the other from d to V.",
            "Eᵀ has exactly the shape the output needs, whatever V and d are. So one table can do "
            "both jobs without any other change to the model.",
        ),
    )


def _size(V: int, d: int) -> Question:
    cost = vocabulary_cost(V, d, 0)
    return Numbers(
        f"practice {V} {d}",
        f"V = {count(V)}, d = {count(d)}. How many parameters do the tables hold?",
        (("without tying", 2 * cost.table), ("with tying", cost.table)),
        "2·V·d and V·d.",
        f"2 · {count(V)} · {count(d)} = {count(2 * cost.table)} and {count(cost.table)}: tying "
        f"saves {short_count(cost.table)}, and leaves the "
        f"{short_count(cost.product_operations)} operations of the output product for each token.",
    )


def _about_tying() -> tuple[Question, ...]:
    small, large = vocabulary_cost(50_000, 768, 12), vocabulary_cost(50_000, 8_192, 80)
    return (
        Choice(
            "practice sense",
            "Saving apart, why does tying make sense?",
            (
                "Softmax needs the same matrix on both sides",
                "Both tables say how tokens relate: words that are read alike should be predicted "
                "alike, and each row learns from both",
                "It makes the output product faster",
                "It makes E an orthogonal matrix",
            ),
            1,
            "What would a good row say about a token on each side?",
            "A row that places a token well among the others serves both. Rare tokens are read "
            "seldom, but every step corrects their row through the output. It restricts them too, "
            "which can act against overfitting. Press & Wolf found lower perplexity with it in the "
            "language models they tried.",
        ),
        Choice(
            "practice claim",
            "Which claim is true?",
            (
                "The two must be learned apart, because they serve unrelated purposes",
                "Their shapes are transposes of each other, which makes reuse possible",
                "Tying only saves parameters and changes nothing else",
                "The shape of the output matrix depends on V alone",
            ),
            1,
            "Three of them can be refuted with steps 4 and 7.",
            "Shapes allow it. The purposes are related; tying also changes what a row learns; and "
            "the output matrix has d columns as well as V rows.",
        ),
        Choice(
            "practice scale",
            "Does tying help at any scale?",
            (
                "Yes, it always halves the model",
                "It saves V·d at any scale, but that is a small part of a large model, and two "
                "tables can say more",
                "No, it only works below a billion parameters",
                "Yes, because it halves the operations as well",
            ),
            1,
            "A table grows with d, the blocks with L·d².",
            f"With V = 50,000 and plain layers, tying saves {percent(small.saving)} of the untied "
            f"model at d = 768, L = 12, and {percent(large.saving)} at d = 8,192, L = 80. Large "
            "models can afford a second table that is free to differ, so many stop tying.",
        ),
        Choice(
            "practice gradient",
            "The tables are tied. A gradient step is taken because a token was a wrong answer "
            "(output side). What happens to its input vector?",
            (
                "Nothing, it was not read",
                "It moves: the row that scored it is the row that embeds it",
                "It is copied over at the next save",
                "It moves only if the token is read in the same batch",
            ),
            1,
            "How many rows does this token have?",
            "There is one row. Whatever corrects it as an answer also changes how it will be read "
            "from then on.",
        ),
    )


def _interview() -> Question:
    return OwnWords(
        "practice interview",
        "In two sentences: what is weight tying, and why is it used?",
        (
            ("one matrix for input and output", r"same|share|one (matrix|table|tensor)|reus|both"),
            (
                "which ends: embedding and output",
                r"embedd.*(output|unembed|head|softmax|logit)|(output|head).*embedd",
            ),
            ("what it saves", r"save|fewer|halv|less|param|memory|V\s*[·*x×]\s*d"),
            (
                "what it does beyond saving",
                r"gradient|learn|signal|regulari[sz]|general|perplex|relat|quality|consist",
            ),
        ),
        "One sentence on what is the same thing twice, one on what that gains.",
        "Weight tying uses one matrix both as the input embedding and, transposed, as the output "
        "matrix that turns h_L into logits. It saves V·d parameters, and as each row then learns "
        "from being read and from being predicted, small models often become better by it.",
    )


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
