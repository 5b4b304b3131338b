"""A prompt inspected, as plain values."""

from __future__ import annotations

import json

import pytest

from tiedviz.compute.next_token.candidates import inspection, token_record
from tiedviz.compute.next_token.state import score_state
from tiedviz.models.prompt import encode
from tiedviz.words.tokens import Token


def inspected(loaded, text, **settings):
    prompt = encode(loaded, text)
    reading = score_state(loaded, prompt.ids, decoder_ids=prompt.decoder_ids, position=prompt.place)
    return inspection(loaded, prompt, reading, **settings), reading


@pytest.mark.parametrize("name", ["llama", "bert", "bart", "t5", "gemma2"])
def test_it_can_be_written_as_json_and_read_back(architecture, name):
    record, _ = inspected(architecture(name), "w5 w6 w7")
    assert json.loads(json.dumps(record)) == record


def test_it_says_what_was_read_and_how_close_it_came(architecture):
    record, reading = inspected(architecture("llama"), "w5 w6 w7", top=4)
    assert [token["id"] for token in record["tokens"]] == [5, 6, 7]
    assert record["prompt"] == "w5 w6 w7" and record["dtype"] == "float32"
    assert record["h"] == {
        "norm": pytest.approx(float(reading.h.norm())),
        "width": 32,
        "layer": 2,
        "position": 2,
    }
    assert record["formula"] == "h_L @ W.T"
    assert record["max_abs_error"] == reading.max_abs_error <= record["tolerance"]


def test_the_top_is_in_order_and_as_long_as_was_asked(architecture):
    record, reading = inspected(architecture("llama"), "w5 w6", top=4)
    assert [row["rank"] for row in record["top"]] == [1, 2, 3, 4]
    logits = [row["logit"] for row in record["top"]]
    assert logits == sorted(reading.logits.tolist(), reverse=True)[:4]
    assert set(record["top"][0]) == {
        "rank",
        "id",
        "text",
        "logit",
        "probability",
        "cosine",
        "distance",
    }


def test_texts_are_decoded_and_not_as_printed(tied_model):
    record, _ = inspected(tied_model, " the cat")
    assert "".join(token["text"] for token in record["tokens"]) == " the cat"
    assert not any("␣" in row["text"] for row in record["top"])


def test_a_decoder_has_tokens_of_its_own(architecture):
    record, _ = inspected(architecture("bart"), "w5 w6")
    assert [token["id"] for token in record["decoder_tokens"]] == [2]
    record, _ = inspected(architecture("llama"), "w5 w6")
    assert record["decoder_tokens"] is None


def test_a_token_of_stray_bytes_keeps_them():
    assert token_record(Token(9, "ä½", b"\xe4\xbd")) == {
        "id": 9,
        "text": "\ufffd",
        "piece": "ä½",
        "bytes": "E4 BD",
    }
