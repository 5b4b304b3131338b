"""The formula as it was measured, in text and in LaTeX, with where each part comes from."""

from __future__ import annotations

import pytest
import torch

from tiedviz.compute.next_token.formula import formula_latex, formula_notes, formula_text
from tiedviz.compute.unembedding import AfterHead, unembedding_of
from tiedviz.compute.unembedding.after_head import ONE, Factor

PLAIN = AfterHead(None, "", ONE, None)
EVERYTHING = AfterHead(torch.zeros(2), "b", Factor(0.0625, "logit_scale"), Factor(30.0, "cap"))


def test_a_plain_product_is_all_there_is():
    assert formula_text(PLAIN, tied=True) == "h_L @ E.T"
    assert formula_text(PLAIN, tied=False) == "h_L @ W.T"


def test_every_part_stands_where_it_is_applied():
    assert formula_text(EVERYTHING, tied=True) == "30·tanh((0.0625·(h_L @ E.T) + b)/30)"


def test_the_text_can_be_computed_as_it_stands():
    h, matrix, b = torch.randn(3), torch.randn(2, 3), torch.randn(2)
    after = AfterHead(b, "b", Factor(0.0625, ""), Factor(30.0, ""))
    code = formula_text(after, tied=True).replace("·", "*").replace("tanh", "torch.tanh")
    names = {"h_L": h, "E": matrix, "b": b, "torch": torch}
    assert torch.allclose(eval(code, names), after(h @ matrix.T))


@pytest.mark.parametrize("after", [PLAIN, EVERYTHING])
def test_latex_has_its_braces_in_pairs(after):
    latex = formula_latex(after, tied=False)
    assert latex.count("{") == latex.count("}")
    assert latex.startswith("z = ") and "W" in latex


def test_latex_of_everything():
    latex = formula_latex(EVERYTHING, tied=True)
    assert r"\tanh" in latex and "0.0625" in latex and "+ b" in latex and r"E^{\mathsf{T}}" in latex


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("llama", ["h_L is the last block's output after model.norm"]),
        ("openai-gpt", ["h_L is the last block's output as it is"]),
        (
            "t5",
            [
                "h_L is the last block's output after decoder.final_layer_norm, "
                "then a factor 0.176777 (1/√d_model)"
            ],
        ),
        (
            "cohere",
            ["h_L is the last block's output after model.norm", "the factor is logit_scale"],
        ),
        (
            "gemma2",
            [
                "h_L is the last block's output after model.norm",
                "the cap is final_logit_softcapping",
            ],
        ),
        ("bart", ["h_L is the last block's output as it is", "b is final_logits_bias"]),
        (
            "distilbert",
            [
                "h_L is the last block's output after vocab_transform, then activation, "
                "then vocab_layer_norm",
                "b is vocab_projector.bias",
            ],
        ),
        ("mobilebert", []),
    ],
)
def test_the_notes_name_what_h_has_passed_and_where_each_number_is_written(
    architecture, name, notes
):
    assert formula_notes(unembedding_of(architecture(name))) == notes
