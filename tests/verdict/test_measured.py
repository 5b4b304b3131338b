import math
from types import MethodType

import torch
from torch import nn

from tests.tiny_models import build, opened
from tests.verdict.conftest import tiny
from tiedviz.verdict.audit import Audit
from tiedviz.verdict.live import hear_measured
from tiedviz.verdict.loaded import hear_loaded


def test_logits_of_a_tied_model_come_out_of_e():
    found = hear_measured(opened(tiny(True), "tied"))
    assert found.reproduced and found.formula == "h_L @ E.T"
    assert found.max_abs_error <= found.tolerance < 1e-3


def test_an_untied_model_is_measured_on_w():
    assert hear_measured(opened(tiny(False), "untied")).formula == "h_L @ W.T"


def test_a_softcap_is_in_the_formula():
    assert "tanh" in hear_measured(build("gemma2")).formula


def with_a_head_that(loaded, forward):
    """The model with another way from h to the logits: `forward(head, h)`."""
    head = loaded.model.lm_head
    head.forward = MethodType(forward, head)
    return loaded


def bent(loaded):
    """A model whose head squares its product."""
    return with_a_head_that(loaded, lambda head, h: nn.Linear.forward(head, h).square())


def word_of(loaded):
    found = hear_measured(loaded)
    return Audit(None, None, hear_loaded(loaded.model), found).verdict.word, found.scored_by


def test_a_head_with_a_way_of_its_own_is_still_tied():
    assert word_of(bent(build("gemma2"))) == ("tied", "E")
    assert word_of(build("mobilebert")) == ("tied", "E")


def test_an_untied_head_with_a_way_of_its_own_is_still_untied():
    assert word_of(bent(opened(tiny(False), "untied"))) == ("untied", "W")


def test_logits_from_a_third_matrix_are_not_called_tied():
    third = torch.randn(50, 16)
    loaded = with_a_head_that(opened(tiny(True), "third"), lambda head, h: h @ third.T)
    assert word_of(loaded) == ("cannot_tell", "neither")


def test_logits_from_e_beside_a_head_that_is_not_used_are_not_called_untied():
    loaded = opened(tiny(False), "unused")
    loaded.model.lm_head.read = (loaded.model.model.embed_tokens,)
    with_a_head_that(loaded, lambda head, h: h @ head.read[0].weight.T)
    assert word_of(loaded) == ("cannot_tell", "E")


def test_a_model_that_reads_no_tokens_leaves_it_open():
    assert hear_measured(build("whisper")).scored_by == ""


def test_the_experiment_changes_nothing():
    loaded = bent(build("gemma2"))
    before = loaded.embedding.clone()
    hear_measured(loaded)
    assert torch.equal(loaded.embedding, before)


def test_what_is_not_reproduced_says_why():
    loaded = bent(build("llama"))
    found = hear_measured(loaded)
    assert not found.reproduced and found.reason
    assert found.max_abs_error is None or math.isfinite(found.max_abs_error)
    row = Audit(None, None, None, found).verdict.evidence[3]
    assert row.state == "not reproduced" and found.reason in row.text
