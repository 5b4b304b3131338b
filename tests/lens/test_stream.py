"""Streaming over blocks of the vocabulary gives what the whole table would give."""

import math
import subprocess
import sys

import pytest
import torch

from tests.conftest import ROOT
from tiedviz.compute.lens_stream import Mass, Ranks, Top, block_width, stream
from tiedviz.compute.unembedding.after_head import ONE, AfterHead, Factor

PLAIN = AfterHead(None, "", ONE, None)


def test_three_tokens_by_hand():
    """h = (1, 0) and (0, 2) against rows (0,0), (ln 2, 0), (0, ln 2)."""
    ln2 = math.log(2)
    matrix = torch.tensor([[0.0, 0.0], [ln2, 0.0], [0.0, ln2]])
    h = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    found = stream(h, matrix, PLAIN, torch.tensor([[0], [0]]), top=2, width=1)
    # first state: weights 1, 2, 1 of 4; second: 1, 1, 4 of 6
    assert found.ids[:, 0].tolist() == [1, 2]
    assert found.log_total.exp().tolist() == pytest.approx([4.0, 6.0])
    assert found.entropy.tolist() == pytest.approx(
        [1.5 * ln2, math.log(6) - 4 / 6 * math.log(4)], abs=1e-6
    )
    # nothing outranks a token that only ties with it
    assert found.tracked_ranks.tolist() == [[2], [2]]


@pytest.mark.parametrize("width", [1, 7, 64, 100, 641, 1000, 1001, 5000])
@pytest.mark.parametrize("cap", [None, 5.0])
def test_any_block_size_gives_the_plain_answer(width, cap):
    generator = torch.Generator().manual_seed(width)
    h = torch.randn(6, 12, generator=generator) * 3
    matrix = torch.randn(1001, 12, generator=generator)
    bias = torch.randn(1001, generator=generator)
    factor = None if cap is None else Factor(cap, "cap")
    after = AfterHead(bias, "b", Factor(0.5, "s"), factor)
    tracked = torch.randint(0, 1001, (6, 3), generator=generator)
    found = stream(h, matrix, after, tracked, top=10, width=width)

    logits = after(h @ matrix.T)
    best = logits.topk(10, dim=1)
    assert torch.equal(found.ids, best.indices)
    assert torch.allclose(found.logits, best.values, atol=1e-5)
    assert torch.allclose(found.log_total, logits.double().logsumexp(1), atol=1e-5)
    p = logits.double().softmax(1)
    assert torch.allclose(found.entropy, -(p * p.log()).sum(1), atol=1e-5)
    mine = logits.gather(1, tracked)
    assert torch.allclose(found.tracked_logits, mine, atol=1e-5)
    assert torch.equal(found.tracked_ranks, (logits[:, None] > mine[..., None]).sum(2) + 1)


def test_equal_rows_share_a_rank():
    matrix = torch.tensor([[3.0], [1.0], [3.0], [2.0], [1.0]])
    tracked = torch.tensor([[0, 2, 3, 1, 4]])
    for width in (1, 2, 5):
        found = stream(torch.tensor([[2.0]]), matrix, PLAIN, tracked, width=width)
        assert found.tracked_ranks.tolist() == [[1, 1, 3, 4, 4]]


def test_fewer_tokens_than_asked_for():
    found = stream(torch.ones(1, 1), torch.tensor([[1.0], [2.0]]), PLAIN, torch.zeros(1, 0).long())
    assert found.ids.tolist() == [[1, 0]]
    assert found.tracked_ranks.shape == (1, 0)


def test_the_models_own_logits_stand_in_the_last_rows_and_are_compared():
    h, matrix = torch.eye(2), torch.tensor([[1.0, 5.0], [2.0, 6.0]])
    own = torch.tensor([[5.0, 6.25]])
    found = stream(h, matrix, PLAIN, torch.tensor([[1], [1]]), own=own, width=1)
    assert found.max_abs_error == 0.25
    assert found.logits.tolist() == [[2.0, 1.0], [6.25, 5.0]]
    assert found.tracked_logits.tolist() == [[2.0], [6.25]]


def test_half_precision_rows_are_read_as_they_are():
    matrix = torch.randn(50, 4).bfloat16()
    h = torch.randn(3, 4)
    found = stream(h, matrix, PLAIN, torch.zeros(3, 1).long(), width=8, top=3)
    assert torch.equal(found.ids, (h @ matrix.float().T).topk(3).indices)


def test_entropy_of_huge_logits_is_not_lost():
    """The difference of ln Σ and Σ p·z would be off by the last bit of 60,000 here."""
    logits = torch.tensor([[60_000.0, 60_000.0, 0.0]])
    mass = Mass(1)
    for column in range(3):
        block = logits[:, column : column + 1].clone()
        mass.add(block, torch.empty_like(block))
    assert float(mass.entropy) == pytest.approx(math.log(2), abs=1e-9)


def test_the_top_is_found_in_a_block_of_many_groups_and_a_rest():
    logits = torch.randn(4, 64 * 30 + 17, generator=torch.Generator().manual_seed(1))
    top = Top(4, 10)
    top.add(logits, 100)
    best = logits.topk(10, dim=1)
    assert torch.equal(top.values, best.values)
    assert torch.equal(top.ids, best.indices + 100)


def test_a_token_does_not_outrank_itself_by_a_rounding():
    kept = torch.tensor([[1.0]])
    ranks = Ranks(kept, torch.tensor([[2]]))
    block = torch.tensor([[0.0, 0.5, 1.0 + 1e-6]])
    ranks.add(block, 0, torch.empty_like(block))
    assert ranks.ranks.tolist() == [[1]]


def test_a_block_is_a_small_part_of_the_whole_table():
    for states, rows in ((228, 262_144), (155, 49_152), (3_000, 262_144)):
        assert states * block_width(states, rows) <= states * rows / 20


def test_memory_stays_below_a_fifth_of_the_notebook_way():
    """Peak resident memory in a child process, above what it held before."""
    script = """
import torch
from benchmarks.peak import peak_above
from tiedviz.compute.lens_stream import stream
from tiedviz.compute.unembedding.after_head import AfterHead
from tiedviz.compute.unembedding.after_head import ONE
matrix, h = torch.randn(65_536, 64), torch.randn(228, 64)
tracked, after = torch.zeros(228, 3).long(), AfterHead(None, "", ONE, None)
with torch.inference_mode():
    stream(h, matrix[:1024], after, tracked)
    mine = peak_above(lambda: stream(h, matrix, after, tracked))
    print(mine, peak_above(lambda: torch.softmax(h @ matrix.T, -1).topk(10)))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    mine, notebook = (int(number) for number in done.stdout.split())
    assert notebook > 228 * 65_536 * 4  # the measurement sees the whole table
    assert mine <= notebook / 5


def test_a_difference_that_is_no_number_is_not_lost_behind_others():
    """`max(0.1, nan)` is 0.1: the lens would say that it agrees."""
    matrix, h = torch.eye(4), torch.ones(1, 4)
    own = torch.tensor([[1.0, 1.0, torch.nan, 1.0]])
    found = stream(h, matrix, PLAIN, torch.tensor([[0]]), own=own, top=2, width=1)
    assert math.isnan(found.max_abs_error)
