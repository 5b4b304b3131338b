"""From witnesses to a word: the precedence, as a table."""

import pytest

from tiedviz.files.header import StoredTensor
from tiedviz.verdict.audit import Audit
from tiedviz.verdict.witnesses import Comparison, Declared, Loaded, Measured, Stored
from tiedviz.verdict.wording import tone_of

E = StoredTensor("model.embed_tokens.weight", (50, 16), "F32", 3200, "model.safetensors", 8)
W = StoredTensor("lm_head.weight", (50, 16), "F32", 3200, "model.safetensors", 3208)
SAME = Comparison(True, 0, 0, 0.0, 0.0, 1.0)
NEAR = Comparison(False, 700, 50, 0.001, 0.001, 0.999, "rounding", "BF16", 0)
OTHER = Comparison(False, 800, 50, 1.0, 1.4, 0.0, far_rows=50)


def says(tied, scores=True, **more):
    return Declared(tied=tied, scores=scores, architecture="LlamaForCausalLM", **more)


def holds(embedding=E, head=None, comparison=None, **more):
    return Stored("safetensors", embedding, head, comparison=comparison, parameters=6000, **more)


def shares(same=True, values=None, **more):
    values = same if values is None else values
    names = {"embedding_name": "model.embed_tokens.weight", "head_name": "lm_head.weight"}
    sameness = {"same_object": same, "same_storage": same, "same_values": values}
    return Loaded(**sameness | names | more)


YES, NO, SILENT = says(True), says(False), says(None)
ONE, GROUP = holds(), (("shared.weight", "model.embed_tokens.weight"),)
LORA = ("lm_head",)

TABLE = [
    # the three that come first, whatever else is there
    ("no_head", says(True, scores=False), ONE, None),
    ("no_head", YES, ONE, Loaded(has_head=False)),
    ("no_head", YES, holds(adapters=LORA), Loaded(has_head=False)),
    ("adapter", YES, holds(adapters=LORA), None),
    ("adapter", YES, ONE, shares(adapters=("output",))),
    ("adapter", NO, None, shares(adapters=("output",))),
    ("untied", NO, holds(E, W, OTHER, adapters=LORA), None),
    ("untied", NO, holds(E, W, OTHER), shares(False, adapters=("output",))),
    ("broken", NO, ONE, None),
    ("broken", NO, ONE, shares(False, missing=("lm_head.weight",))),
    ("broken", YES, ONE, shares(False, missing=("lm_head.weight",))),
    ("tied", says(True, inferred=True), ONE, None),
    # two stored copies
    ("twin", YES, holds(E, W, SAME), None),
    ("twin", NO, holds(E, W, SAME), None),
    ("twin", SILENT, holds(E, W, SAME), shares()),
    ("near_twin", YES, holds(E, W, NEAR), None),
    ("near_twin", NO, holds(E, W, NEAR), shares(False)),
    ("near_twin", YES, holds(E, W, NEAR), shares()),
    ("contradiction", YES, holds(E, W, OTHER), None),
    ("contradiction", YES, holds(E, W, OTHER), shares(False)),
    ("untied", NO, holds(E, W, OTHER), None),
    ("untied", SILENT, holds(E, W, OTHER), None),
    ("untied", NO, holds(E, W, OTHER), shares(False, groups=GROUP)),
    ("cannot_tell", YES, holds(E, W, uncompared="comparing reads 5 GB"), None),
    ("twin", YES, holds(E, W, uncompared="x"), shares()),
    ("contradiction", YES, holds(E, W, uncompared="x"), shares(False)),
    ("untied", NO, holds(E, W, uncompared="x"), shares(False)),
    # one stored matrix
    ("tied", YES, ONE, None),
    ("tied", YES, ONE, shares()),
    ("tied", YES, holds(None, W), None),
    ("tied", YES, ONE, shares(on_meta=False, same_object=False)),
    ("tied", says(True, scores=None), ONE, shares()),
    ("cannot_tell", says(True, scores=None), ONE, None),
    ("cannot_tell", says(False, scores=None), ONE, None),
    ("cannot_tell", SILENT, ONE, None),
    ("cannot_tell", Declared(), ONE, None),
    ("cannot_tell", None, ONE, None),
    ("tied", YES, ONE, Loaded(on_meta=True)),  # the files speak
    ("cannot_tell", NO, holds(None, W), None),
    ("cannot_tell", YES, holds(None, None), None),
    ("cannot_tell", YES, ONE, shares(False)),
    # two names of one run of numbers in a .bin
    ("tied", YES, holds(E, W, shares_storage=True), None),
    ("tied", None, holds(E, W, shares_storage=True), None),
    ("twin", NO, holds(E, W, shares_storage=True), None),
    # memory alone
    ("tied", None, None, shares()),
    ("twin", None, None, shares(False, True)),
    ("untied", NO, None, shares(False)),
    ("untied", None, None, shares(False)),
    ("contradiction", YES, None, shares(False)),
    ("partly_tied", NO, None, shares(False, groups=GROUP)),
    ("partly_tied", YES, None, shares(False, overlapping=True)),
    ("near_twin", YES, None, shares(False, quantised="qint8", near="quantisation")),
    ("cannot_tell", YES, None, Loaded(quantised="QuantLinear")),
    ("cannot_tell", YES, None, Loaded(on_meta=True)),
    ("cannot_tell", None, None, None),
    # an encoder with a table of its own
    ("partly_tied", YES, holds(decoder_table=W), None),
]


@pytest.mark.parametrize(("word", "declared", "stored", "loaded"), TABLE)
def test_the_first_rule_that_holds_decides(word, declared, stored, loaded):
    verdict = Audit(declared, stored, loaded).verdict
    assert verdict.word == word
    assert verdict.tone == tone_of(word)
    assert verdict.state.endswith(".") and verdict.advice.endswith(".")
    assert "None" not in verdict.summary + verdict.advice


def test_meta_in_memory_leaves_the_files_to_speak():
    assert Audit(YES, holds(E, W, SAME), Loaded(on_meta=True)).verdict.word == "twin"


def test_what_was_not_heard_is_named():
    assert Audit(YES, ONE).verdict.unheard == ("loaded", "measured")
    proof = Measured("h_L @ E.T", 1e-6, 1e-4, True)
    assert Audit(YES, ONE, shares(), proof).verdict.unheard == ()
    rows = Audit(YES, ONE, not_loaded="X is too large.").verdict.evidence
    assert [row.witness for row in rows] == ["declared", "stored", "loaded", "measured"]
    assert rows[2] == ("loaded", "not heard", "X is too large.")


@pytest.mark.parametrize(
    ("wrong", "declared", "stored"),
    [
        (False, YES, holds(E, W, SAME)),
        (True, NO, holds(E, W, SAME)),
        (True, YES, holds(E, W, NEAR)),
        (True, YES, holds(E, W, OTHER)),
        (False, NO, holds(E, W, OTHER)),
        (True, NO, ONE),
        (False, YES, ONE),
    ],
)
def test_what_should_be_mended_is_wrong(wrong, declared, stored):
    assert Audit(declared, stored).verdict.is_wrong is wrong


def test_a_live_count_replaces_that_of_the_headers():
    loaded = shares(parameters=6000, embedding=800, head=800)
    costs = Audit(YES, ONE, loaded).verdict.costs
    assert (costs.counted_from, costs.total, costs.head) == ("loaded", 6000, 0)
    assert Audit(YES, ONE).verdict.costs.counted_from == "headers"


def test_a_promised_head_that_no_shard_holds_is_the_first_cause():
    verdict = Audit(NO, holds(absent=("lm_head.weight",))).verdict
    assert "promises lm_head.weight" in verdict.causes[0]


# The fourth witness.

REPRODUCED = Measured("h_L @ E.T", 1e-6, 1e-4, True, scored_by="E")
OWN_WAY = Measured(None, None, None, False, "the output matrix was called 0 times, not once")


def seen(scored_by):
    return OWN_WAY._replace(scored_by=scored_by)


@pytest.mark.parametrize(
    ("word", "declared", "stored", "loaded", "measured"),
    [
        ("tied", YES, ONE, shares(), REPRODUCED),
        # a head with a way of its own is no fault of tying
        ("tied", YES, ONE, shares(), seen("E")),
        ("tied", YES, ONE, shares(), seen("")),
        ("untied", NO, holds(E, W, OTHER), shares(False), seen("W")),
        ("untied", NO, holds(E, W, OTHER), shares(False), seen("")),
        # the logits come from another matrix
        ("cannot_tell", YES, ONE, shares(), seen("neither")),
        ("cannot_tell", YES, ONE, shares(), seen("W")),
        ("cannot_tell", YES, ONE, shares(False), seen("W")),
        ("cannot_tell", YES, ONE, Loaded(on_meta=True), seen("W")),
        ("cannot_tell", NO, holds(E, W, OTHER), shares(False), seen("E")),
        ("cannot_tell", NO, holds(E, W, OTHER), shares(False), seen("neither")),
        # what files hold no logit refutes
        ("contradiction", YES, holds(E, W, OTHER), shares(False), seen("E")),
        ("twin", YES, holds(E, W, SAME), shares(), seen("neither")),
        ("broken", NO, ONE, None, seen("neither")),
    ],
)
def test_what_was_measured_may_forbid_a_word_and_never_makes_one(
    word, declared, stored, loaded, measured
):
    verdict = Audit(declared, stored, loaded, measured).verdict
    assert verdict.word == word
    if word in ("tied", "untied"):
        said = f"Its logits were not reproduced: {measured.reason}." in verdict.summary
        assert said is not measured.reproduced
    if word == "cannot_tell":
        assert "the logits come from" in verdict.state and "forward pass" in verdict.advice
