"""The numbers the project must give on the two models that travel in wheels."""

import json
import subprocess
import sys

import pytest
import torch

from tests.conftest import ROOT
from tiedviz.commands.line import main
from tiedviz.compute.next_token.candidates import By, nearest_tokens
from tiedviz.compute.next_token.state import score_state
from tiedviz.compute.unembedding import unembedding_of
from tiedviz.compute.unembedding.product import plain_product
from tiedviz.files.facts import read_facts
from tiedviz.models.prompt import Bos, encode

pytestmark = pytest.mark.real


def answer(loaded, text, bos=Bos.DEFAULT):
    return score_state(loaded, encode(loaded, text, bos).ids)


def test_smollm2_has_the_shape_its_publisher_states(smollm2):
    assert tuple(smollm2.embedding.shape) == (49_152, 576)
    assert smollm2.parameters == 134_515_008
    assert round(smollm2.share * 100, 2) == 21.05
    assert smollm2.tied and smollm2.dtype == "float32"


def test_smollm2_says_paris_and_the_plain_product_says_it_too(smollm2):
    reading = answer(smollm2, "The capital of France is")
    best = nearest_tokens(smollm2, reading, top=5)
    assert best["text"].tolist() == ["␣Paris", "␣the", "␣London", "␣Le", "␣New"]
    assert best["logit"][0] == pytest.approx(17.37, abs=0.01)
    assert best["probability"][0] == pytest.approx(0.771, abs=0.005)
    assert reading.max_abs_error < 1e-4
    by_cosine = nearest_tokens(smollm2, reading, by=By.COSINE, top=5)["text"].tolist()
    assert by_cosine == ["␣Paris", "␣Le", "␣London", "␣Mon", "␣La"]
    assert float(reading.h.norm()) == pytest.approx(43.8, abs=0.05)


def test_a_perturbed_row_makes_the_difference_jump(smollm2):
    """The proof can fail: with one row off, the product no longer is the model's answer."""
    reading = answer(smollm2, "The capital of France is")
    after = unembedding_of(smollm2).after
    wrong = smollm2.embedding.detach().clone()
    wrong[7042] += 0.01
    error = float((after(plain_product(reading.h, wrong)) - reading.logits).abs().max())
    assert error > 100 * reading.tolerance


def test_gemma_has_the_shape_its_publisher_states(gemma):
    assert tuple(gemma.embedding.shape) == (262_144, 640)
    assert gemma.parameters == 268_098_176
    assert round(gemma.share * 100, 2) == 62.58
    assert gemma.tied


def test_gemma_answers_and_proves_it(gemma):
    reading = answer(gemma, "The opposite of hot is")
    best = nearest_tokens(gemma, reading, top=1)
    assert best["text"][0] == "␣cold"
    assert best["probability"][0] == pytest.approx(0.592, abs=0.005)
    assert reading.max_abs_error < 1e-4
    paris = answer(gemma, "The capital of France is")
    assert float(paris.h.norm()) == pytest.approx(112, abs=0.5)


def test_gemma_needs_its_bos_and_the_app_says_so(gemma):
    without = encode(gemma, "The capital of France is", Bos.OMIT)
    assert any("without it the answer suffers" in note for note in without.notes)
    first = nearest_tokens(gemma, score_state(gemma, without.ids), top=1)
    assert first["text"][0] == "␣France"
    twice = encode(gemma, "<bos>The capital of France is")
    assert any("BOS stands 2 times" in note for note in twice.notes)


def test_both_files_say_the_same_as_the_open_models(smollm2, gemma):
    for loaded in (smollm2, gemma):
        facts = read_facts(loaded.folder)
        assert facts.parameters == loaded.parameters
        assert (facts.V, facts.d) == tuple(loaded.embedding.shape)
        assert facts.head is None


def test_the_last_layer_of_the_lens_is_the_answer_and_inner_ones_are_normed(smollm2):
    ids = encode(smollm2, "The capital of France is").ids
    last = score_state(smollm2, ids)
    assert torch.equal(score_state(smollm2, ids, layer=30).logits, last.logits)
    inner = nearest_tokens(smollm2, score_state(smollm2, ids, layer=15), top=1)
    assert inner["text"][0] == "␣"
    assert inner["probability"][0] == pytest.approx(0.80, abs=0.01)


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "tiedviz", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )


def test_the_command_line_prints_one_json_object_and_nothing_else(smollm2):
    ended = command("inspect", "smollm2", "--prompt", "The capital of France is", "--json")
    assert ended.returncode == 0, ended.stderr
    record = json.loads(ended.stdout)
    assert record["top"][0]["text"] == " Paris"
    assert record["formula"] == "h_L @ E.T"
    assert record["max_abs_error"] < 1e-4
    assert record["h"] | {"norm": 0} == {"norm": 0, "width": 576, "layer": 30, "position": 4}
    assert [token["id"] for token in record["tokens"]] == [504, 3575, 282, 4649, 314]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--prompt", ""], "The prompt is empty"),
        (["--prompt", "a", "--position", "9"], "There is no position 9"),
        (["--prompt", "a", "--layer", "99"], "layers 0 to 30"),
        (["--prompt", "word " * 9000], "tokens long"),
    ],
)
def test_what_cannot_be_done_ends_in_status_2_and_one_line(smollm2, arguments, said, capsys):
    assert main(["inspect", "smollm2", *arguments, "--json"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    last = printed.err.strip().splitlines()[-1]
    assert last.startswith("tiedviz: ") and said in last


def test_fetch_says_where_the_files_are(smollm2):
    ended = command("fetch", "smollm2", "--json")
    assert ended.returncode == 0, ended.stderr
    record = json.loads(ended.stdout)
    assert record["sha256"].startswith("b179c9523d0e")
    assert record["folder"] == str(smollm2.folder)
