"""The words of the app, one line each, in a popover."""

from __future__ import annotations

import streamlit as st

GLOSSARY = {
    "E": "the embedding matrix: row x is the vector of token x. Shape V × d.",
    "W": "the matrix that scores the next token. Tied means that W is E.",
    "V": "how many rows E has: the size of the vocabulary, padding included.",
    "d": "how long a row is: the model's width, in most models.",
    "L": "how many blocks a state passes.",
    "r_k": "the state after block k, in the residual stream; r_0 enters block 1.",
    "h_L": "exactly what enters the output matrix: r_L after the final norm and whatever else "
    "this model does there.",
    "logit z_j": "the score of token j: the dot product h_L · w_j, plus what this model adds.",
    "softmax": "turns all logits into probabilities that add up to 1.",
    "unembedding": "the way from a state to the logits.",
    "share": "the part of all parameters that lies in E (and in W, where it is another matrix).",
    "W_E and W_U": "E and W.T as TransformerLens prints them. It folds the norm's weight into W_U "
    "and centres it (fold_ln, center_unembed), so its numbers differ from the checkpoint's, which "
    "are shown here; the probabilities are the same.",
    "BOS": "a special token that marks the beginning of a text.",
}


def glossary() -> None:
    """The popover."""
    with st.popover("Words", icon=":material/menu_book:"):
        st.markdown("\n".join(f"- **{word}**: {meaning}" for word, meaning in GLOSSARY.items()))
