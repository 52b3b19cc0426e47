"""Verdicts: better, worse, alike, or nothing that can be told, from numbers where it is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from sojourn.errors import InputError
from sojourn.verdict import Verdict, entrants, judge
from sojourn.verdict.pairing import case_name, reference

PATH = "bottleneck.qdisc"


@dataclass
class Made:
    """A run with a response time, a loss and a throughput."""

    kind: object
    seed: int
    response_s: float
    loss: float = 0.01
    throughput_bps: float = 1e7
    varied: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.varied = {PATH: self.kind, **self.varied}

    @property
    def label(self) -> str:
        return str(self.kind)

    @property
    def summary(self) -> dict[str, Any]:
        link = {"name": "bottleneck", "rate_bps": 2e7, "loss": self.loss}
        times = {"count": 9, "p50": self.response_s, "cdf": [[self.response_s, 1.0]]}
        users = {"name": "users", "kind": "web", "started": 9, "finished": 9}
        return {
            "links": [link | {"throughput_bps": self.throughput_bps}],
            "groups": [users | {"response_time_s": times}],
        }


def verdict(runs: Sequence[Made], baseline: str | None = None) -> Verdict:
    found = judge(*entrants(runs, None, baseline))
    assert found is not None
    return found


def grades(found: Verdict) -> dict[str, str]:
    return {each.measure.name: each.grade for each in found.differences}


# Seeds differ far more from each other than disciplines do.
LEVELS = (0.9, 0.4, 1.6, 0.7, 1.1, 2.0, 0.5, 1.3, 0.8, 1.0)


def test_what_is_better_and_worse_is_said() -> None:
    runs = [Made("droptail", seed, level, 0.02, 1e7 + seed) for seed, level in enumerate(LEVELS)]
    runs += [
        Made("codel", seed, level - 0.2 - seed * 1e-3, 0.03 + seed * 1e-5, 1e7 + seed)
        for seed, level in enumerate(LEVELS)
    ]
    found = verdict(runs)
    assert grades(found) == {
        "response_p50_s": "better",
        "loss": "worse",
        "throughput_bps": "alike",
    }
    first, second, third = found.sentences
    assert first == (
        "CoDel is better than drop-tail, in all 10 seeds: median response time 826 ms against "
        "1\u202f030 ms (−20 %, 95 % interval −20 to −20 %)."
    )
    assert "loss 3.00 % against 2.00 % (+50 %" in second
    assert second.startswith("CoDel is worse than drop-tail, in all 10 seeds: ")
    assert third == "CoDel and drop-tail are alike, within 1 %: throughput."
    # Ten seeds need no caution, and the other way round all is the other way round.
    back = verdict(runs, "codel")
    assert grades(back)["response_p50_s"] == "worse"
    assert back.sentences[1].startswith("drop-tail is worse than CoDel, in all 10 seeds: median")


def test_what_cannot_be_told_is_not_told() -> None:
    noise = (0.3, -0.2, 0.25, -0.35, 0.1, -0.15, 0.2, -0.1, 0.05, -0.05)
    runs = [Made("droptail", seed, level) for seed, level in enumerate(LEVELS)]
    runs += [Made("codel", seed, LEVELS[seed] + n) for seed, n in enumerate(noise)]
    found = verdict(runs)
    assert grades(found)["response_p50_s"] == "open"
    said = " ".join(found.sentences)
    assert "No difference between CoDel and drop-tail can be told: median response time" in said
    assert "is better" not in said
    assert "is worse" not in said


def test_too_few_seeds_are_said_to_be_too_few() -> None:
    # All three agree, and the interval leaves 0 out: after correction that is not enough.
    runs = [Made("droptail", seed, 1.0, 0.02, 1e7 + seed * 1e6) for seed in range(3)]
    runs += [
        Made("codel", seed, 1.0 - gain, 0.02 - gain / 50, 1e7 + seed * 1e6)
        for seed, gain in enumerate((0.20, 0.30, 0.15))
    ]
    found = verdict(runs)
    assert grades(found)["response_p50_s"] == "seems better"
    assert found.sentences[0].startswith(
        "CoDel seems better than drop-tail, in all 3 seeds, but 3 are too few to be sure: "
    )
    assert found.sentences[-1].startswith("3 seeds give a first impression")


def test_one_seed_is_no_verdict() -> None:
    found = verdict([Made("droptail", 1, 1.0), Made("codel", 1, 0.5)])
    assert set(grades(found).values()) == {"single"}
    assert found.sentences[0].startswith("CoDel beside drop-tail: median response time 500 ms")
    assert found.sentences[-1].startswith("One seed tells nothing of chance")


def test_p_values_are_adjusted_for_all_that_is_judged() -> None:
    runs = [Made("droptail", seed, level) for seed, level in enumerate(LEVELS)]
    for k in range(5):
        runs += [
            Made({"kind": "pi", "qref": k}, seed, level - 0.1 * ((seed * 7 + k) % 10 - 3))
            for seed, level in enumerate(LEVELS)
        ]
    found = verdict(runs)
    tested = [each for each in found.differences if each.p is not None]
    assert len({(each.case, each.measure.name) for each in found.differences}) == 15
    least = min(tested, key=lambda each: each.p or 0)
    assert least.p is not None
    assert least.p_holm == pytest.approx(min(1, least.p * len(tested)))


def test_many_cases_get_a_line_each_and_all_numbers_when_asked_for() -> None:
    runs = [Made("droptail", seed, level) for seed, level in enumerate(LEVELS)]
    for k in range(4):
        runs += [
            Made({"kind": "pi", "qref": k}, seed, level - 0.2 - seed * 1e-3)
            for seed, level in enumerate(LEVELS)
        ]
    found = verdict(runs)
    assert len(found.sentences) == 4
    assert found.sentences[0].startswith("PI qref 0 is better than drop-tail, in all 10 seeds: ")
    assert "interval" not in found.sentences[0]
    assert "95 % interval" in found.in_full[0]


def test_pairs_share_everything_else_that_is_varied() -> None:
    runs = [
        Made(kind, seed, level + seed * 1e-3, varied={"load": load})
        for load, level in ((0.9, 1.0), (0.98, 3.0))
        for kind in ("droptail", "codel")
        for seed in range(3)
    ]
    found = verdict(runs)
    assert {(each.case, each.place) for each in found.differences} == {
        ("CoDel", "load 0.9"),
        ("CoDel", "load 0.98"),
    }
    assert all(each.mean == 0 for each in found.differences)


@pytest.mark.parametrize(
    ("path", "value", "name"),
    [
        (PATH, "fq_codel", "FQ-CoDel"),
        (PATH, {"kind": "pi", "qref": 24, "ecn": True}, "PI qref 24 ECN"),
        ("tcp.congestion", "cubic", "congestion cubic"),
        ("bottleneck.rate", "5mbit", "rate 5mbit"),
    ],
)
def test_cases_are_named_as_the_literature_does(path: str, value: object, name: str) -> None:
    assert case_name(path, value) == name


@pytest.mark.parametrize("name", ["pi", "PI qref 24 ECN", "pi qref=24 ecn"])
def test_a_baseline_is_known_by_any_of_its_names(name: str) -> None:
    varied = [{PATH: "droptail"}, {PATH: {"kind": "pi", "qref": 24, "ecn": True}}]
    assert reference(varied, None, name) == (PATH, "PI qref 24 ECN")


def test_a_baseline_that_two_are_called_is_refused() -> None:
    varied = [{PATH: {"kind": "pi", "qref": 1}}, {PATH: {"kind": "pi", "qref": 2}}]
    with pytest.raises(InputError, match=r"several variations are called so; there are pi qref=1"):
        reference(varied, None, "pi")
