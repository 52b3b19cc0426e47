"""Statistics against scipy, closed forms and the definitions written out, on random samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from sojourn import Error
from sojourn.statistics import holm, paired_difference, relative_interval, student_interval
from sojourn.statistics.equivalence import equivalence, variance_saved
from sojourn.statistics.series import aggregated_variance, mser5, rescaled_range, wavelet
from sojourn.sweep import Rule

SEEDS = range(8)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_intervals_are_those_of_scipy(seed: int, confidence: float) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(3, 2, 2 + seed)
    found = student_interval(values.tolist(), confidence)
    low, high = stats.t.interval(confidence, len(values) - 1, values.mean(), stats.sem(values))
    assert found.n == len(values) and found.mean == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((low, high))

    base = values + rng.normal(0.3, 1, len(values))
    paired = paired_difference(values.tolist(), base.tolist(), confidence)
    test = stats.ttest_rel(values, base)
    expected = test.confidence_interval(confidence)
    assert (paired.low, paired.high) == pytest.approx((expected.low, expected.high))
    assert paired.p == pytest.approx(test.pvalue) and paired.pairs == len(values)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_ends_of_a_relative_interval_are_ratios_that_a_test_just_rejects(seed: int) -> None:
    rng = np.random.default_rng(seed)
    base = rng.normal(10, 1, 3 + seed)
    values = 0.6 * base + rng.normal(0, 1, len(base))
    found = relative_interval(values.tolist(), base.tolist())
    assert found is not None
    for end in found:
        test = stats.ttest_1samp(values - (1 + end) * base, 0)
        assert test.pvalue == pytest.approx(0.05)
    assert found[0] < values.mean() / base.mean() - 1 < found[1]
    assert (found[0] <= 0 <= found[1]) == (stats.ttest_rel(values, base).pvalue >= 0.05)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_interval_holds_wherever_the_exact_values_lie(seed: int) -> None:
    """The ends are those of the values that are least and most, and p agrees with them."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(1, 2, 3 + seed)
    values = base * rng.uniform(0.98, 1.01, len(base))
    error = 0.002
    found = paired_difference(values.tolist(), base.tolist(), error=error)
    least, most = (
        stats.ttest_rel(values * (1 + up), base * (1 - up)).confidence_interval(0.95)
        for up in (-error, error)
    )
    assert (found.low, found.high) == pytest.approx((least.low, most.high))
    assert found.mean == pytest.approx((values - base).mean())
    assert found.low is not None and found.high is not None and found.p is not None
    assert (found.low <= 0 <= found.high) == (found.p >= 0.05)
    relative = relative_interval(values.tolist(), base.tolist(), error)
    assert relative is not None
    assert (relative[0] <= 0 <= relative[1]) == (found.low <= 0 <= found.high)


def test_what_one_cell_of_a_histogram_may_make_is_no_difference() -> None:
    """Two neighbouring cells give the same difference in every pair."""
    error = 1 / 512
    values, base = [1.0 + 2 * error] * 5, [1.0] * 5
    assert paired_difference(values, base).p == 0.0
    found = paired_difference(values, base, error=error)
    assert found.p == 1.0
    assert found.low is not None and found.high is not None and found.low < 0 < found.high
    assert paired_difference([1.01] * 5, base, error=error).p == 0.0
    assert paired_difference(base, base, error=error).p == 1.0


def test_a_relative_interval_needs_a_baseline_that_is_surely_more_than_0() -> None:
    assert relative_interval([1.0], [2.0]) is None
    assert relative_interval([1.0, 2.0], [0.0, 0.0]) is None
    assert relative_interval([1.0, 2.0, 3.0], [0.1, 9.0, 0.1]) is None
    assert relative_interval([1.0, 1.0], [2.0, 2.0]) == (-0.5, -0.5)


def test_what_is_never_below_0_falls_by_no_more_than_all_of_it() -> None:
    base = [2.0, 2.1, 1.9]
    low, high = relative_interval([0.0, 0.3, 0.01], base) or (0, 0)
    assert low == -1.0 and -1 < high < 0
    # What can be below it can.
    low, _ = relative_interval([-0.1, 0.3, 0.01], base) or (0, 0)
    assert low < -1.0


def test_an_interval_needs_values() -> None:
    with pytest.raises(ValueError, match="no values"):
        student_interval([])
    one = student_interval([4.0])
    assert (one.n, one.mean, one.half, one.low, one.high) == (1, 4.0, None, None, None)
    with pytest.raises(ValueError, match="argument"):
        paired_difference([1.0, 2.0], [1.0])


@pytest.mark.parametrize("seed", SEEDS)
def test_holm_is_its_definition(seed: int) -> None:
    p = np.random.default_rng(seed).uniform(0, 0.4, 7)
    # The largest of (m - j) p(j) over those that are not greater, j from 0; at most 1.
    ordered = np.sort(p)
    steps = (len(p) - np.arange(len(p))) * ordered
    expected = [min(1.0, max(steps[: np.searchsorted(ordered, x) + 1])) for x in p]
    assert holm(p.tolist()) == pytest.approx(expected)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_equivalence_is_two_t_tests(seed: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    base = rng.normal(10, 3, 3 + seed)
    values = base + rng.normal(0.4, 0.5, len(base))
    for margin in (0.1, 0.8, 2.0):
        found = equivalence(values.tolist(), base.tolist(), margin, alpha)
        d = values - base
        p = max(
            stats.ttest_1samp(d, margin, alternative="less").pvalue,
            stats.ttest_1samp(d, -margin, alternative="greater").pvalue,
        )
        assert found.p == pytest.approx(p)
        assert found.holds == (p < alpha)
        above = stats.ttest_1samp(d, margin, alternative="greater").pvalue
        below = stats.ttest_1samp(d, -margin, alternative="less").pvalue
        assert found.refuted == (min(above, below) < alpha)
        interval = stats.ttest_1samp(d, 0).confidence_interval(1 - 2 * alpha)
        assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
        assert (found.pairs, found.margin) == (len(base), margin)


def test_equal_differences_are_equivalent_if_small() -> None:
    near = equivalence([2.0, 3.0], [1.0, 2.0], 1.5)
    assert near.p == 0.0 and near.holds and not near.refuted
    far = equivalence([2.0, 3.0], [1.0, 2.0], 0.5)
    assert far.p == 1.0 and far.refuted and not far.holds
    edge = equivalence([2.0, 3.0], [1.0, 2.0], 1.0)
    assert edge.p == 1.0 and not edge.holds and not edge.refuted
    below = equivalence([1.0, 2.0], [2.0, 3.0], 0.5)
    assert below.refuted and not below.holds


@pytest.mark.parametrize("margin", [0.0, -1.0, math.nan])
def test_a_margin_is_positive(margin: float) -> None:
    with pytest.raises(ValueError, match="margin must be positive"):
        equivalence([1.0, 2.0], [1.0, 2.0], margin)


def test_one_pair_is_no_equivalence() -> None:
    found = equivalence([3.0], [1.0], 9.0)
    assert (found.pairs, found.mean, found.low, found.high, found.p) == (1, 2.0, None, None, None)


@pytest.mark.parametrize("seed", SEEDS)
def test_variance_saved_is_the_ratio(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, 2, (2, 3 + seed))
    ratio = (a.var(ddof=1) + b.var(ddof=1)) / (a - b).var(ddof=1)
    assert variance_saved(a.tolist(), b.tolist()) == pytest.approx(ratio)
    assert variance_saved([1.0, 5.0], [2.0, 3.0]) is None
    assert variance_saved([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]) is None
    assert variance_saved([0.1, 0.2, 0.4], [0.4, 0.5, 0.7]) is None


@pytest.mark.parametrize("length", [20, 23, 99, 500, 502])
@pytest.mark.parametrize("seed", range(4))
def test_mser5_is_its_definition(seed: int, length: int) -> None:
    rng = np.random.default_rng(seed)
    series = rng.normal(0, 1, length) + 4 * np.exp(-np.arange(length) / (length / 12))
    batches = [series[i : i + 5].mean() for i in range(0, length - 4, 5)]
    n = len(batches)
    errors = [
        sum((x - np.mean(batches[k:])) ** 2 for x in batches[k:]) / (n - k) ** 2
        for k in range(n // 2 + 1)
    ]
    assert mser5(series) == 5 * int(np.argmin(errors))


@pytest.mark.parametrize("level", [1e4, 1e9, 1e15])
def test_mser5_does_not_depend_on_the_level(level: float) -> None:
    """The difference of sums of squares is all rounding at a level of 10⁹."""
    rng = np.random.default_rng(3)
    series = np.concatenate([np.linspace(64, 0, 100), rng.integers(0, 8, 400)])
    assert mser5(series + level) == mser5(series) > 50


def test_mser5_needs_twenty_values() -> None:
    assert mser5([1.0, 2.0] * 10) == 0
    with pytest.raises(ValueError, match="20 values, not 19"):
        mser5([1.0] * 19)
    # Half of it at most: a series that only falls has no end of its warm-up.
    assert mser5(np.arange(200.0, 0, -1)) == 100


SCALES = [4, 8, 16, 32, 64, 128]


@pytest.mark.parametrize("seed", SEEDS)
def test_hurst_parameters_are_slopes(seed: int) -> None:
    # 128 · 32: the longest blocks are just enough.
    values = np.random.default_rng(seed).pareto(1.5, 4096 + seed)

    def blocks(m: int) -> np.ndarray:
        return values[: len(values) // m * m].reshape(-1, m)

    variances = [blocks(m).mean(axis=1).var(ddof=1) for m in SCALES]
    slope = np.polyfit(np.log2(SCALES), np.log2(variances), 1)[0]
    assert aggregated_variance(values) == pytest.approx(1 + slope / 2)

    ranges = []
    for m in SCALES[2:]:
        found = []
        for block in blocks(m):
            walk = np.cumsum(block - block.mean())
            found.append((walk.max() - walk.min()) / block.std())
        ranges.append(np.mean(found))
    assert rescaled_range(values) == pytest.approx(
        np.polyfit(np.log2(SCALES[2:]), np.log2(ranges), 1)[0]
    )

    for least in (1, 3):
        level, octaves, energies, weights = values, [], [], []
        for octave in range(1, 40):
            half = len(level) // 2
            if half < 32:
                break
            even, odd = level[0 : 2 * half : 2], level[1 : 2 * half : 2]
            if octave >= least:
                octaves.append(octave)
                energies.append(np.log2((((even - odd) / np.sqrt(2)) ** 2).mean()))
                weights.append(half)
            level = (even + odd) / np.sqrt(2)
        fit = np.polyfit(octaves, energies, 1, w=np.sqrt(weights))[0]
        assert wavelet(values, least) == pytest.approx((1 + fit) / 2)
        if least == 3:
            assert wavelet(values) == wavelet(values, 3)


def test_a_hurst_parameter_needs_512_values() -> None:
    rng = np.random.default_rng(1)
    for of in (aggregated_variance, rescaled_range):
        with pytest.raises(ValueError, match="512 values, not 511"):
            of(rng.normal(size=511))
    assert math.isfinite(aggregated_variance(rng.normal(size=512)))
    # One scale of 16 and more has no slope; two have.
    with pytest.raises(ValueError, match="too few scales"):
        rescaled_range(rng.normal(size=512))
    assert math.isfinite(rescaled_range(rng.normal(size=1024)))
    with pytest.raises(ValueError, match="too few scales"):
        wavelet(rng.normal(size=511))
    assert math.isfinite(wavelet(rng.normal(size=512)))


def test_blocks_without_spread_have_no_range() -> None:
    values = np.random.default_rng(1).normal(size=4096)
    values[:1024] = 5.0
    assert math.isfinite(rescaled_range(values))


def test_seeds_are_added_in_steps_up_to_the_most() -> None:
    rule = Rule("loss", 0.1, least=4, most=9, step=3)
    assert [rule.more([1.0] * n) for n in range(4)] == [4, 3, 2, 1]
    wide = [1.0, 9.0, 2.0, 8.0]
    assert rule.more(wide) == 3 and rule.more(wide * 2) == 1
    assert rule.more([*wide * 2, 5.0]) == 0
    # Equal values are known; none at all never will be; of one there is no interval.
    assert rule.more([2.0] * 4) == 0
    assert rule.more([None] * 4) == 0
    assert rule.more([1.0, None, None, None]) == 3


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_seeds_are_enough_when_students_interval_is_small(confidence: float) -> None:
    values = [-9.0, -10.0, -11.0, -10.5]
    half = stats.t.ppf((1 + confidence) / 2, 3) * stats.sem(values)
    part = half / abs(np.mean(values))
    for factor, more in ((1.001, 0), (0.999, 3)):
        rule = Rule("loss", float(part * factor), least=2, confidence=confidence)
        assert rule.more(values) == more


@pytest.mark.parametrize("relative", [0.0, 1.0, -0.1])
def test_a_rule_is_checked(relative: float) -> None:
    with pytest.raises(Error, match="between 0 and 1"):
        Rule("loss", relative)
    for confidence in (0.0, 1.0, 95.0):
        with pytest.raises(Error, match="between 0 and 1"):
            Rule("loss", 0.1, confidence=confidence)
    for least, most in ((1, 5), (5, 4)):
        with pytest.raises(Error, match=r"must be at least [25]"):
            Rule("loss", 0.1, least=least, most=most)
    assert Rule("loss", 0.1, least=2, most=2).more([]) == 2
    assert (Rule("loss", 0.5).least, Rule("loss", 0.5).most, Rule("loss", 0.5).step) == (5, 50, 3)
