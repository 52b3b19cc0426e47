"""Equivalence, what pairing saves, warm-up, memory: against what is known of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sojourn.statistics import student_interval
from sojourn.statistics.equivalence import equivalence, variance_saved
from sojourn.statistics.series import aggregated_variance, mser5, rescaled_range, wavelet
from sojourn.studies.pairs import Pairs
from sojourn.studies.study import Verdict
from sojourn.studies.verdicts import less, more, not_less, same
from sojourn.studies.words import number, percent, with_interval


def test_an_interval_is_students() -> None:
    found = student_interval([1.0, 2.0, 3.0, 4.0])
    # t(0.975, 3) = 3.182446; standard error = sqrt(5/3)/2
    assert found.half == pytest.approx(3.182446 * math.sqrt(5 / 3) / 2, rel=1e-6)
    assert (found.low, found.high) == (2.5 - found.half, 2.5 + found.half)
    assert student_interval([3.0]).half is None


def test_equivalence_agrees_with_two_t_tests() -> None:
    from scipy.stats import ttest_1samp

    rng = np.random.default_rng(1)
    base = rng.normal(100, 10, 12)
    values = base + rng.normal(0.5, 1.0, 12)
    found = equivalence(values.tolist(), base.tolist(), 1.5)
    d = values - base
    upper = ttest_1samp(d, 1.5, alternative="less").pvalue
    lower = ttest_1samp(d, -1.5, alternative="greater").pvalue
    assert found.p == pytest.approx(max(upper, lower), rel=1e-9)
    assert found.holds == (max(upper, lower) < 0.05)
    assert not equivalence(values.tolist(), base.tolist(), 0.1).holds
    assert equivalence((values + 30).tolist(), base.tolist(), 1.5).refuted


def test_one_pair_shows_nothing() -> None:
    found = equivalence([1.0], [1.0], 1.0)
    assert not found.holds and not found.refuted
    assert less({"x": ([1.0], [2.0])}).verdict == Verdict.UNDECIDED


def test_pairing_removes_variance_shared_by_seeds() -> None:
    rng = np.random.default_rng(2)
    shared = rng.normal(0, 3, 2000)
    a, b = (shared + rng.normal(0, 1, 2000) for _ in range(2))
    # (9 + 1 + 9 + 1) / (1 + 1)
    assert variance_saved(a.tolist(), b.tolist()) == pytest.approx(10, rel=0.1)
    assert variance_saved([1.0, 2.0], [1.0, 2.0]) is None


def test_claim_agrees_only_if_every_pair_does() -> None:
    low, high = [1.0, 1.1, 0.9, 1.05], [2.0, 2.2, 1.9, 2.1]
    assert less({"a": (low, high)}).verdict == Verdict.AGREES
    assert less({"a": (low, high), "b": (high, low)}).verdict == Verdict.DIFFERS
    assert less({"a": (low, high), "b": (low, low[::-1])}).verdict == Verdict.UNDECIDED
    found = more({"a": (high, low)}, unit="ms", scale=1e3)
    assert found.verdict == Verdict.AGREES
    assert found.ours.startswith("a: +1038 (")
    assert not_less({"a": (high, low)}, 0.1).verdict == Verdict.AGREES
    assert not_less({"a": (low, high)}, 0.1).verdict == Verdict.DIFFERS
    near = [x * 1.001 for x in low]
    assert same({"a": (near, low)}, 0.05).verdict == Verdict.AGREES
    assert same({"a": (high, low)}, 0.05).verdict == Verdict.DIFFERS


def test_equal_differences_decide_as_in_a_comparison() -> None:
    base = [0.1, 0.2, 0.4]
    assert less({"a": (base, [each + 0.3 for each in base])}).verdict == Verdict.AGREES
    assert more({"a": (base, [each + 0.3 for each in base])}).verdict == Verdict.DIFFERS
    assert less({"a": (base, [each + 0.3 - 0.3 for each in base])}).verdict == Verdict.UNDECIDED


def test_pair_without_runs_decides_nothing() -> None:
    low, high = [1.0, 1.1, 0.9, 1.05], [2.0, 2.2, 1.9, 2.1]
    empty: tuple[list[float], list[float]] = ([], [])
    for found in (
        less({"a": (low, high), "b": empty}),
        less({"a": (low, high), "b": empty}, margin=0.1),
        more({"a": (high, low), "b": empty}),
        same({"a": (low, low), "b": empty}, 0.1),
        not_less({"a": (high, low), "b": empty}, 0.1),
    ):
        assert found.verdict == Verdict.UNDECIDED
        assert found.note.endswith(" No runs: b.")
    assert less({"a": (high, low), "b": empty}).verdict == Verdict.DIFFERS
    assert less({"a": (low, high), "b": Pairs(low, high, 2), "c": empty}).note.endswith(
        " Not settled, not decided by: b (2 runs). No runs: c."
    )


def test_numbers_are_formatted_for_people() -> None:
    assert [number(x) for x in (1234.4, 0.012345, -7.0, 0.0)] == ["1234", "0.0123", "−7.00", "0"]
    assert number(12.3456, sign=True) == "+12.3"
    assert number(1.5e-9) == "1.5e−9"
    assert percent(0.98) == "98 %" and percent(1.05) == "105 %"
    # 95 % of three values: 4.303 standard errors.
    assert with_interval([1.0, 2.0, 3.0]) == "2.0 ± 2.5"
    assert with_interval([0.1, 0.2, 0.3], 1e4) == "2000 ± 2484"
    assert with_interval([0.5]) == "0.500"


def test_warmup_is_detected() -> None:
    rng = np.random.default_rng(3)
    series = np.concatenate([np.linspace(50, 1, 200), np.zeros(1800)]) + rng.normal(0, 1, 2000)
    assert 150 <= mser5(series) <= 260
    assert mser5(rng.normal(0, 1, 2000)) < 400
    with pytest.raises(ValueError, match="20"):
        mser5([1.0])


def noise(h: float, n: int, seed: int) -> np.ndarray:
    """Fractional Gaussian noise by circulant embedding (Davies and Harte, 1987)."""
    k = np.arange(n)
    r = 0.5 * (np.abs(k + 1) ** (2 * h) - 2 * np.abs(k) ** (2 * h) + np.abs(k - 1) ** (2 * h))
    eigenvalues = np.fft.fft(np.concatenate([r, r[1:-1][::-1]])).real
    assert eigenvalues.min() > -1e-9
    rng = np.random.default_rng(seed)
    m = len(eigenvalues)
    z = rng.normal(size=m) + 1j * rng.normal(size=m)
    return np.fft.fft(np.sqrt(np.maximum(eigenvalues, 0) / m) * z).real[:n]


@pytest.mark.parametrize("h", [0.5, 0.7, 0.9])
def test_the_hurst_parameter_of_fractional_noise_is_found(h: float) -> None:
    series = noise(h, 2**16, 4)
    assert wavelet(series) == pytest.approx(h, abs=0.04)
    assert aggregated_variance(series) == pytest.approx(h, abs=0.07)
    assert rescaled_range(series) == pytest.approx(h, abs=0.1)


@pytest.mark.parametrize("level", [0.0, 0.1, 1e6 + 0.1])
def test_a_series_that_stays_the_same_has_no_hurst_parameter(level: float) -> None:
    for estimate in (aggregated_variance, rescaled_range, wavelet):
        with pytest.raises(ValueError, match="too few scales"):
            estimate(np.full(1024, level))
