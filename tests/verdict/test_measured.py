import math

from tests.tiny_models import build, opened
from tests.verdict.conftest import tiny
from tiedviz.compute.witnesses.measured import hear_measured
from tiedviz.files.verdict.decide import decide


def test_logits_of_a_tied_model_come_out_of_e():
    found = hear_measured(opened(tiny(True), "tied"))
    assert found.reproduced and found.formula == "h_L @ E.T"
    assert found.max_abs_error <= found.tolerance < 1e-3


def test_an_untied_model_is_measured_on_w():
    assert hear_measured(opened(tiny(False), "untied")).formula == "h_L @ W.T"


def test_a_softcap_is_in_the_formula():
    assert "tanh" in hear_measured(build("gemma2")).formula


def test_what_is_not_reproduced_says_why():
    loaded = build("llama")
    plain = loaded.model.lm_head.forward
    loaded.model.lm_head.forward = lambda h: plain(h).square()
    found = hear_measured(loaded)
    assert not found.reproduced and found.reason
    assert found.max_abs_error is None or math.isfinite(found.max_abs_error)
    row = decide(None, None, None, found).evidence[3]
    assert row.state == "not reproduced" and found.reason in row.text
