"""The loop as a drawing: one table at both ends, or two."""

from __future__ import annotations

import re

from tiedviz.charts.palette import INPUT, OUTPUT, SHARED, scoring_colour
from tiedviz.charts.walkthrough import loop_diagram


def drawn(*, tied: bool) -> str:
    return loop_diagram(rows="49,152", width="576", blocks="30", tied=tied)


def test_a_tied_model_has_one_table_at_both_ends_and_a_bond_between_them():
    dot = drawn(tied=True)
    assert "row of E" in dot and "every row of E" in dot and "the same matrix" in dot
    assert SHARED in dot and INPUT not in dot and OUTPUT not in dot


def test_an_untied_model_has_two_and_no_bond():
    dot = drawn(tied=False)
    assert "every row of W" in dot and "the same matrix" not in dot
    assert INPUT in dot and OUTPUT in dot and SHARED not in dot


def test_the_models_own_numbers_are_in_it():
    for number in ("49,152 × 576", "30 blocks", "49,152 logits"):
        assert number in drawn(tied=True)


def test_every_arrow_joins_two_boxes_that_are_drawn():
    for tied in (True, False):
        dot = drawn(tied=tied)
        boxes = set(re.findall(r"^  (\w+) \[label=", dot, flags=re.MULTILINE))
        ends = {name for pair in re.findall(r"(\w+) -> (?=(\w+))", dot) for name in pair}
        assert ends <= boxes
        assert dot.count("{") == dot.count("}") and dot.count('"') % 2 == 0


def test_the_side_that_scores_has_the_shared_colour_only_where_it_is_shared():
    assert scoring_colour(True) == SHARED
    assert scoring_colour(False) == OUTPUT


def test_it_can_run_from_top_to_bottom():
    upright = loop_diagram(rows="4", width="3", blocks="some", tied=True, upright=True)
    assert "rankdir=TB" in upright and "rankdir=LR" in drawn(tied=True)
