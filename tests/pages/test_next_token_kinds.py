"""Next token on models that fill gaps and on models that read one text and write another."""

import pytest
import torch

from tests.hub.released import published_like
from tests.pages.conftest import open_model, text_of


@pytest.fixture
def opened(visit, tmp_path):
    def open_family(family, **parameters):
        folder = published_like(family, tmp_path / family)
        return open_model(visit("next_token", model=str(folder), **parameters), family), folder

    return open_family


def own_logits(folder, position, prompt, **more):
    """The library's own logits, by its own auto classes."""
    import transformers as library

    tokenizer = library.AutoTokenizer.from_pretrained(folder)
    config = library.AutoConfig.from_pretrained(folder)
    model = getattr(library, config.architectures[0]).from_pretrained(folder)
    ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        return model(ids, **more).logits[0, position]


def test_a_masked_model_is_read_at_its_mask(opened):
    app, folder = opened("bert", prompt="the cat <mask> on the mat")
    logits = own_logits(folder, 2, "the cat <mask> on the mat")
    assert app.dataframe[0].value["id"].tolist() == logits.topk(10).indices.tolist()
    assert "Position 2 of 6" in text_of(app)
    assert "<mask>" in app.subheader[0].value.replace("\\", "")


def test_a_masked_model_without_a_mask_says_so_and_offers_one(opened):
    app, _ = opened("bert", prompt="the cat sat")
    assert "has no mask to fill" in text_of(app)
    [offer] = [button for button in app.button if "at the end" in button.label]
    offer.click().run()
    assert app.text_input(key="prompt").value == "the cat sat <mask>"
    assert "Position 3 of 4" in text_of(app)


def test_a_seq2seq_model_reads_the_prompt_and_the_answer_so_far(opened):
    app, folder = opened("t5", prompt="the cat sat on the mat")
    begun = own_logits(folder, -1, "the cat sat on the mat", decoder_input_ids=torch.tensor([[0]]))
    assert app.dataframe[0].value["id"].tolist() == begun.topk(10).indices.tolist()
    app.text_input(key="decoder").set_value("the dog").run()
    assert "Position 2 of 3" in text_of(app)
    shown = app.dataframe[0].value
    assert shown["logit"].tolist() != pytest.approx(begun.topk(10).values.tolist())


def test_t5_shows_its_factor_and_bert_its_bias(opened):
    app, _ = opened("t5", prompt="the cat sat")
    assert "1/√d_model" in text_of(app)
    app, _ = opened("bert", prompt="the <mask> sat")
    assert "b is cls.predictions" in text_of(app)


def test_an_untied_model_is_scored_by_its_own_matrix(opened):
    app, _ = opened("pythia", prompt="the cat sat")
    assert "W" in app.latex[0].value
    assert "two matrices in memory" in text_of(app)
