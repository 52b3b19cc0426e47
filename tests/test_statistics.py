"""Paired differences and Holm's adjustment, against values worked out elsewhere."""

from __future__ import annotations

import math

import pytest

from sojourn.statistics import holm, paired_difference, student, student_interval


def test_the_interval_is_student_s() -> None:
    # Gosset's own data (Biometrika 6, 1908): extra hours of sleep, two drugs, ten patients.
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    found = paired_difference(second, first)
    assert found.pairs == 10
    assert found.mean == pytest.approx(1.58)
    assert (found.low, found.high) == pytest.approx((0.7001142, 2.4598858), abs=1e-6)
    assert found.p == pytest.approx(0.00283289, abs=1e-7)


def test_one_pair_has_no_interval() -> None:
    found = paired_difference([3.0], [1.0])
    assert (found.mean, found.low, found.high, found.p) == (2.0, None, None, None)
    with pytest.raises(ValueError, match="no pairs"):
        paired_difference([], [])


@pytest.mark.parametrize("n", [2, 3, 5, 7, 10])
def test_equal_differences_are_sure_whatever_rounding_leaves(n: int) -> None:
    for step in (0.1, 0.3, 1 / 3, 1e-9, 12.7):
        baseline = [1.1 * seed for seed in range(n)]
        found = paired_difference([base + step for base in baseline], baseline)
        assert (found.low, found.high, found.p) == (found.mean, found.mean, 0.0)
        again = [base + step - step for base in baseline]
        found = paired_difference(again, baseline)
        assert (found.mean, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)
        assert student_interval([step] * n).half == 0.0


def test_small_differences_are_no_rounding() -> None:
    found = paired_difference([1e6 + 1e-8, 1e6 + 2e-8], [1e6, 1e6])
    assert found.p is not None and 0 < found.p < 1


@pytest.mark.parametrize("probability", [0.0, 1.0, 48.0, math.nan])
def test_only_a_probability_has_a_quantile(probability: float) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        student.quantile(probability, 3)


def test_infinite_values_have_no_interval() -> None:
    found = student_interval([1.0, math.inf])
    assert (found.mean, found.half, found.low) == (math.inf, None, None)


def test_holm_steps_down_and_never_falls() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_students_distribution_has_its_closed_forms() -> None:
    # With 1 and 2 degrees of freedom.
    for t in (-30.0, -1.0, 0.0, 0.25, 5.0):
        assert student.cdf(t, 1) == pytest.approx(0.5 + math.atan(t) / math.pi, rel=1e-13)
        assert student.cdf(t, 2) == pytest.approx(0.5 + t / 2 / math.sqrt(2 + t * t), rel=1e-12)
    # Values whose square is no number any more.
    assert (student.cdf(-1e200, 3), student.cdf(1e200, 3)) == (0.0, 1.0)
    for freedom in (1, 2, 7, 400):
        assert student.quantile(0.5, freedom) == pytest.approx(0, abs=1e-15)
        for p in (0.025, 0.3, 0.9, 0.999):
            assert student.cdf(student.quantile(p, freedom), freedom) == pytest.approx(p, rel=1e-12)
    assert student.quantile(0.75, 1) == pytest.approx(1.0, rel=1e-13)
    assert student.quantile(0.9, 2) == pytest.approx(0.8 * math.sqrt(2 / (1 - 0.64)), rel=1e-12)
