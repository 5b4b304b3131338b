"""An answer holds what a comparison needs, and no weights."""

import json

import pytest
import torch

from tiedviz.compute.compare.agreement import agreement
from tiedviz.compute.compare.answer import answer
from tiedviz.compute.compare.shared_tokens import shared_tokens, token_texts
from tiedviz.compute.forward import forward


def test_it_is_what_the_model_says_with_its_verdict(tied_model, untied_model):
    found = answer(tied_model, "the cat sat")
    logits = forward(tied_model.model, found.prompt.ids).logits[0, -1].double()
    own = torch.softmax(logits, 0)
    assert found.probabilities == pytest.approx(own.numpy(), abs=1e-6)
    record = json.loads(json.dumps(found.record, allow_nan=False))
    assert record["verdict"] == "tied" and record["parameters"]["head"] == 0
    assert record["parameters"]["total"] == tied_model.parameters
    assert record["top"][0]["probability"] == pytest.approx(float(own.max()), abs=1e-6)
    untied = answer(untied_model, "the cat sat").record
    assert untied["verdict"] == "untied" and untied["parameters"]["head"] > 0


def test_one_model_agrees_with_itself_entirely(tied_model):
    found = answer(tied_model, "the cat sat")
    texts = token_texts(tied_model.vocabulary, len(found.probabilities))
    same = agreement([found.probabilities] * 2, shared_tokens([texts, texts]), [texts, texts])
    assert same.js_bits == 0 and len(same.in_both) == 10
    assert same.mass[0] == same.mass[1] > 0.9


def test_no_weights_are_kept(tied_model):
    import gc
    import weakref

    from tiedviz.models.loading import load

    opened = load(tied_model.source)
    found = answer(opened, "the cat sat")
    gone = weakref.ref(opened.model)
    del opened
    gc.collect()
    assert gone() is None
    assert found.record["verdict"] == "tied"


@pytest.mark.real
def test_smollm2_and_gemma_agree_on_cold(smollm2, gemma):
    prompt = "The opposite of hot is"
    answers = [answer(loaded, prompt) for loaded in (smollm2, gemma)]
    texts = [
        token_texts(loaded.vocabulary, len(each.probabilities))
        for loaded, each in zip((smollm2, gemma), answers, strict=True)
    ]
    shared = shared_tokens(texts)
    assert 20_000 < len(shared.texts) < 49_152
    found = agreement([each.probabilities for each in answers], shared, texts)
    assert found.same_first and found.in_both[0] == b" cold"
    assert 0 < found.js_bits < 0.5
    assert all(0.5 < mass <= 1 for mass in found.mass)
