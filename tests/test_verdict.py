"""Verdicts: better, worse, alike, or nothing that can be told, from numbers where it is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from conftest import SMALL
from sojourn import RunResult, run, style
from sojourn.errors import InputError
from sojourn.measures import BY_NAME, Measure
from sojourn.scenario import kind_names
from sojourn.sweep import Comparison
from sojourn.verdict import Verdict, differences, entrants, judge, pairings
from sojourn.verdict.diagnosed import merged
from sojourn.verdict.judge import judged, other_way
from sojourn.verdict.pairing import case_name, reference
from sojourn.verdict.sentences import sentences

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
        "1\u202f030 ms (−20 %, 95 % interval −30 to −14 %)."
    )
    assert "loss 3.00 % against 2.00 % (+50 %" in second
    assert second.startswith("CoDel is worse than drop-tail, in all 10 seeds: ")
    assert third == "CoDel and drop-tail are alike, within 1 %: throughput."
    assert str(found) == "\n".join([first, second, third])
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


def test_two_seeds_show_at_most_what_seems() -> None:
    """However far apart the two cases are, which is what few-seeds says too."""
    runs = [Made("droptail", seed, 1.0, 0.02, 1e7) for seed in range(2)]
    runs += [Made("codel", seed, 0.1, 0.04, 1e7) for seed in range(2)]
    found = verdict(runs)
    assert all(each.p_holm == 0 for each in found.differences if each.mean)
    assert grades(found) == {
        "response_p50_s": "seems better",
        "loss": "seems worse",
        "throughput_bps": "alike",
    }
    assert found.sentences[0].startswith(
        "CoDel seems better than drop-tail, in both seeds, but 2 are too few to be sure: "
    )


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
    assert found.sentences[0] == (
        "PI qref 0 against drop-tail: better in median response time (−20 %), in all 10 seeds; "
        "alike in throughput and loss."
    )
    assert "95 % interval" in found.in_full[0]


def test_two_cases_get_all_numbers_and_three_a_line_each() -> None:
    surely = replace(one([0.03] * 3, [0.01] * 3), p_holm=0.01, low=0.005, high=0.035)
    two = [replace(surely, case=case) for case in ("a", "b")]
    assert sum("95 % interval" in said for said in sentences(two)) == 2
    three = [*two, replace(surely, case="c", place="load 0.9")]
    said = sentences(three)
    assert not any("95 % interval" in each for each in said)
    assert said[2] == "c (load 0.9) against base: worse in loss (+200 %), in all 3 seeds."
    assert sum("95 % interval" in said for said in sentences(three, whole=True)) == 3


def test_ten_pairs_are_enough_to_be_unsure_for_another_reason() -> None:
    seems = replace(one([0.03, 0.03], [0.01, 0.01]), p_holm=0.06, low=0.005, high=0.035)
    for pairs, why in ((9, "but 9 are too few to be sure"), (10, "but not among so many")):
        said = sentences([replace(seems, pairs=pairs, agree=pairs - 1)])
        assert said[0].startswith(f"case seems worse than base, {why}")
        # A caution follows the nine.
        assert len(said) == 1 + (pairs == 9)
    assert sentences([]) == []


def test_the_adjusted_p_must_be_below_the_level() -> None:
    surely = one([0.03] * 3, [0.01] * 3)
    surely = replace(surely, low=0.005, high=0.035)
    for p, grade in ((0.0499, "worse"), (0.05, "seems worse"), (None, "seems worse")):
        assert replace(surely, p_holm=p).grade == grade


@pytest.mark.parametrize(
    ("name", "more", "less"),
    [
        ("utilisation", "better", "worse"),
        ("loss", "worse", "better"),
        # Fewer and shorter are better of whatever else is asked for.
        ("mark_fraction", "worse", "better"),
    ],
)
def test_whether_more_is_better_is_up_to_the_measure(name: str, more: str, less: str) -> None:
    up, down = one([0.4] * 3, [0.2] * 3, name), one([0.2] * 3, [0.4] * 3, name)
    assert replace(up, p_holm=0.01, low=0.1, high=0.3).grade == more
    assert replace(down, p_holm=0.01, low=-0.3, high=-0.1).grade == less


def test_where_nothing_can_be_told_of_many_cases_that_is_all_that_is_said() -> None:
    unsure = replace(one([0.03, 0.03], [0.01, 0.01]), low=-0.5, high=0.5)
    said = sentences([replace(unsure, case=case) for case in "abc"])
    assert said[:2] == [f"No difference between {case} and base can be told." for case in "ab"]


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
        (PATH, {"kind": "codel", "ecn": "ect0"}, "CoDel ECN for ECT(0)"),
        (PATH, {"kind": "codel", "ecn": False}, "CoDel"),
        ("tcp.congestion", "cubic", "congestion cubic"),
        ("bottleneck.rate", "5mbit", "rate 5mbit"),
    ],
)
def test_cases_are_named_as_the_literature_does(path: str, value: object, name: str) -> None:
    assert case_name(path, value) == name


def test_every_discipline_has_the_name_that_the_literature_gives_it() -> None:
    assert set(style.DISPLAY) == set(kind_names("QueueDiscipline"))
    assert [case_name(PATH, kind) for kind in ("fq_pie", "choke")] == ["FQ-PIE", "CHOKe"]
    assert not any("_" in name for name in style.DISPLAY.values())


@pytest.mark.parametrize("name", ["pi", "PI qref 24 ECN", "pi qref=24 ecn"])
def test_a_baseline_is_known_by_any_of_its_names(name: str) -> None:
    varied = [{PATH: "droptail"}, {PATH: {"kind": "pi", "qref": 24, "ecn": True}}]
    assert reference(varied, None, name) == (PATH, "PI qref 24 ECN")


def test_a_baseline_that_two_are_called_is_refused() -> None:
    varied = [{PATH: {"kind": "pi", "qref": 1}}, {PATH: {"kind": "pi", "qref": 2}}]
    with pytest.raises(InputError, match=r"several variations are called so; there are pi qref=1"):
        reference(varied, None, "pi")


def test_what_makes_cases_alike_is_said_of_each_measure() -> None:
    near = one([1.0] * 3, [1.001] * 3, "sojourn_mean_s")
    small = one([1e-5] * 3, [2e-5] * 3)
    assert sentences([near])[0] == "case and base are alike, within 1 %: mean queueing delay."
    assert sentences([near, small])[0] == (
        "case and base are alike: mean queueing delay (within 1 %) and loss (to the digits of the "
        "table)."
    )


def one(values: Sequence[float], base: Sequence[float], name: str = "loss") -> Any:
    """The difference of two cases whose measure has these values, seed by seed."""
    definition = BY_NAME[name].definition
    measure = Measure(name, definition, lambda summary: summary)
    runs = [
        Numbered(kind, seed, value, definition.path)
        for kind, all_ in (("base", base), ("case", values))
        for seed, value in enumerate(all_)
    ]
    (found,) = differences(pairings(*entrants(runs, None, "base")), [measure])
    return found


@dataclass
class Numbered:
    kind: str
    seed: int
    value: float
    path: tuple[str, ...]

    @property
    def label(self) -> str:
        return self.kind

    @property
    def varied(self) -> dict[str, Any]:
        return {PATH: self.kind}

    @property
    def summary(self) -> dict[str, Any]:
        value: Any = self.value
        for step in reversed(self.path):
            value = {step: value}
        return value


def test_alike_is_what_no_shown_digit_or_no_percent_tells_apart() -> None:
    # Losses have two digits of a percent: half of the last one is 0.005 %, 5e-5.
    for value, grade in ((4.9e-5, "alike"), (5.1e-5, "better")):
        found = one([0.001] * 3, [0.001 + value] * 3)
        assert (found.low, found.high) == (found.mean, found.mean)
        assert found.grade.removeprefix("seems ") == grade
    # Delays have one digit of a millisecond; one percent of the baseline is more here.
    for part, grade in ((0.0099, "alike"), (0.0101, "better")):
        found = one([1 - part] * 3, [1.0] * 3, "sojourn_mean_s")
        assert found.grade.removeprefix("seems ") == grade
        assert found.relative == pytest.approx(-part)
    # A quantile may lie anywhere in its cell, 1/512 of it to either side.
    for part, grade in ((0.006, "alike"), (0.0062, "better")):
        found = one([1 - part] * 3, [1.0] * 3, "sojourn_p99_s")
        assert found.high == pytest.approx(-part + (2 - part) / 512)
        assert found.grade.removeprefix("seems ") == grade
    # What is a small delay or rate depends on the link: 20 µs and 40 µs are not alike.
    assert one([4e-5] * 3, [2e-5] * 3, "sojourn_mean_s").grade == "worse"
    assert one([1e3] * 3, [4e4] * 3, "throughput_bps").grade == "worse"
    # An interval that ends just at the margin is within it.
    exact = one([0.5, 0.5], [0.5, 0.5])
    assert replace(exact, low=-0.005, high=0.005).grade == "alike"
    assert replace(exact, low=-0.005, high=0.0051).grade == "open"
    assert replace(exact, low=None, high=0.1).grade == "single"
    assert replace(exact, low=-0.1, high=None).grade == "single"
    assert replace(exact, low=0.0, high=0.4).grade == "open"
    assert replace(exact, low=-0.4, high=0.0).grade == "open"


def test_nothing_falls_by_more_than_all_of_it() -> None:
    found = one([0.001, 0.0, 0.0], [0.05, 0.06, 0.055])
    assert found.low is not None and found.low < -found.reference
    assert found.relative_low == -1.0 and found.relative_high is not None
    # A baseline that may as well be 0 has no interval in percent.
    unsure = one([0.1, 0.2, 0.3], [0.0, 0.0, 0.9])
    assert (unsure.relative_low, unsure.relative_high) == (None, None)
    assert unsure.low is not None


def test_a_difference_counts_the_pairs_that_agree_with_its_mean() -> None:
    found = one([0.1, 0.2, 0.9], [0.2, 0.3, 0.3])
    assert found.mean == pytest.approx(0.4 / 3) and (found.pairs, found.agree) == (3, 1)
    assert (found.value, found.reference) == (pytest.approx(0.4), pytest.approx(0.8 / 3))
    assert one([0.1] * 2, [0.0] * 2).relative is None
    told = found.to_dict()
    assert (told["label"], told["baseline"], told["agree"]) == ("case", "base", 1)


def test_a_baseline_of_nothing_gets_absolute_differences() -> None:
    found = replace(one([0.02, 0.04, 0.03], [0.0] * 3), p_holm=0.01)
    (said, _) = sentences([replace(found, low=0.01, high=0.05)])
    assert said == (
        "case is worse than base, in all 3 seeds: loss 3.00 % against 0 % "
        "(+3.00 points, 95 % interval +1.00 to +5.00 points)."
    )
    delay = replace(one([0.02], [0.0], "sojourn_mean_s"))
    (said, _) = sentences([delay])
    assert said.endswith("mean queueing delay 20.0 ms against 0 ms (+20.0 ms).")


def test_a_measure_of_several_places_is_named_once() -> None:
    loss = replace(one([0.01, 0.03, 0.02], [0.01] * 3), p_holm=0.01, low=0.005, high=0.015)
    back = replace(loss, measure=replace(loss.measure, place="reverse"))
    other = [replace(loss, case=case) for case in ("b", "c")]
    said = sentences([loss, back, *other])
    assert said[0] == "case against base: worse in loss (+100 %, of “reverse” +100 %)."
    assert said[1] == "b against base: worse in loss (+100 %)."


def summary(delay: float, loss: float, failed: float | None = None) -> dict[str, Any]:
    def link(name: str, delay: float, loss: float) -> dict[str, Any]:
        times = {"mean": delay}
        return {"name": name, "rate_bps": 1, "loss": loss, "sojourn_s": times, "throughput_bps": 1}

    group = {"name": "g", "kind": "web", "started": 1, "failed": failed, "jain": 0.9}
    return {
        "links": [link("there", 0.1, 0.1), link("back", delay, loss)],
        "groups": [group | {"response_time_s": {"count": 0}}],
    }


def test_the_way_back_is_judged_if_it_has_a_queue() -> None:
    for delay, loss, there in ((0.001, 0.0, False), (0.0011, 0.0, True), (0.0, 0.01, True)):
        names = [each.name for each in other_way([summary(delay, loss)], "there")]
        expected = ["back.sojourn_mean_s", "back.throughput_bps", "back.loss"]
        assert names == (expected if there else [])
    assert [each.place for each in other_way([summary(0, 0)], "back")] == ["there"] * 3


def test_failures_and_fairness_are_judged_where_there_are_any() -> None:
    def names(*all_: dict[str, Any]) -> list[str]:
        return [each.name for each in judged(all_)]

    assert names(summary(0, 0, 0)) == ["sojourn_mean_s", "throughput_bps", "loss", "g.jain"]
    assert names(summary(0, 0, 0), summary(0, 0, 2))[0] == "failed"
    assert "failed" not in names(summary(0, 0, None))
    two = summary(0, 0)
    two["groups"].append(two["groups"][0] | {"name": "h"})
    assert not any(name.endswith("jain") for name in names(two))


def test_a_state_that_is_not_settled_is_told_if_most_seeds_say_so() -> None:
    def runs(*told: int, name: str = "not-settled") -> list[dict[str, Any]]:
        each = {"name": name, "place": "q", "remedy": "Wait.", "message": "It moves."}
        return [{"diagnoses": [each] * there} for there in told]

    assert merged([runs(1, 1)]) == runs(1)[0]["diagnoses"]
    assert merged([runs(1, 0)]) == [] and merged([runs(1, 0, 0)]) == []
    (found,) = merged([runs(1, 1, 0)])
    assert found["message"] == "in 2 of 3 runs, such as: It moves."
    # Anything else is told of a single one; of both variations together.
    (found,) = merged([runs(1, 0, name="late"), runs(1, 1, name="late")])
    assert found["message"].startswith("in 3 of 4 runs")
    assert merged([runs(1, 0, name="ecn-on-one-side")]) == []
    assert len(merged([runs(1, 1, name="ecn-on-one-side")])) == 1


def test_what_is_not_varied_cannot_be_a_baseline() -> None:
    with pytest.raises(InputError, match="nothing is varied by 'x'"):
        reference([{PATH: "a"}], "x")
    with pytest.raises(InputError, match="nothing but load is varied"):
        reference([{"load": 0.5}])
    assert reference([{"load": 0.5}, {"load": 0.9}], "load") == ("load", "load 0.5")
    with pytest.raises(InputError, match="none of the variations is called so"):
        reference([{PATH: "a"}], None, "b")


def test_a_discipline_without_its_usual_ecn_is_another() -> None:
    silent = {"kind": "fq_codel", "ecn": False}
    runs = [
        Made(kind, seed, level - less)
        for kind, less in (("droptail", 0.0), ("fq_codel", 0.2), (silent, 0.3))
        for seed, level in enumerate(LEVELS)
    ]
    found = pairings(*entrants(runs, None, None))
    assert [(each.case, len(each.pairs)) for each in found] == [
        ("FQ-CoDel", len(LEVELS)),
        ("FQ-CoDel no ECN", len(LEVELS)),
    ]


def test_what_is_called_the_same_counts_once() -> None:
    written = {"kind": "codel", "ecn": False}
    runs = [
        Made(kind, seed, level)
        for kind in ("droptail", "codel", written)
        for seed, level in enumerate(LEVELS)
    ]
    (found,) = pairings(*entrants(runs, None, None))
    assert (found.case, len(found.pairs)) == ("CoDel", len(LEVELS))
    assert {theirs.varied[PATH] for theirs, _ in found.pairs} == {"codel"}


def test_runs_of_two_comparisons_are_compared_by_what_was_varied_in_some() -> None:
    def made(seed: int, **varied: object) -> RunResult:
        return run(SMALL, seed=seed).named(str(varied), varied)

    runs = [made(1, qdisc="codel"), made(1, qdisc="pie"), made(1, rate="1 Mbit")]
    verdict = Comparison(runs, []).verdict()
    assert verdict is not None and {each.case for each in verdict.differences} == {"PIE"}
    found = Comparison(runs[::-1], []).verdict(baseline="codel")
    assert found is not None and found.baseline == "CoDel"
    assert Comparison(runs, [])._repr_html_()
