"""The count of cases that `conftest` makes at the end of a whole run."""

from types import SimpleNamespace

import pytest

from tests.cases import CASES, CaseRecord, cases_of


def report(when, outcome, *cases):
    ended = {"passed": outcome == "passed", "skipped": outcome == "skipped"}
    return SimpleNamespace(when=when, user_properties=[("cases", list(cases))], **ended)


@pytest.mark.parametrize(
    ("when", "outcome", "held"),
    [
        ("call", "passed", {3, 7}),
        ("call", "failed", set()),
        ("setup", "passed", set()),
        ("setup", "failed", set()),
        ("setup", "skipped", {3, 7}),
    ],
)
def test_only_a_test_that_passed_or_was_skipped_stands_for_its_cases(when, outcome, held):
    record = CaseRecord()
    record.add(report(when, outcome, 3, 7))
    assert record.held == held
    assert record.missing() == sorted(CASES - held)


def test_a_test_carries_the_numbers_of_its_marks(request):
    request.node.add_marker(pytest.mark.case(70, 69))  # after collection, so it counts for nothing
    assert cases_of(request.node) == [69, 70]
    assert len(CASES) == 62


def test_a_number_that_no_case_has_is_a_slip(request):
    marked = {number for item in request.session.items for number in cases_of(item)}
    assert marked <= CASES
