"""What a search says of settings whose measures are known, by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from scipy import stats

from sojourn import Scenario, style
from sojourn.errors import InputError
from sojourn.measures import measure
from sojourn.tune import Axis, Candidate, Constraint, Goal, Tuning, figures, page, words
from sojourn.tune.asking import Asking

PATH = "bottleneck.qdisc.target"
AXIS = Axis.read(PATH, "1ms..50ms")
DELAY = Goal(measure("sojourn_mean_s"))
RATE = Goal(measure("goodput_bps"), largest=True)
BUSY = Constraint.read("utilisation>=90%")


def at(
    name: str, *places: Mapping[int, Sequence[float | None]], dropped: bool = False
) -> Candidate:
    """A setting with its measures by seed at each place."""
    measured = {
        n: {seed: [*values] for seed, values in place.items()} for n, place in enumerate(places)
    }
    return Candidate({PATH: name}, measured, dropped)


def found(
    candidates: Sequence[Candidate],
    best: Candidate | None,
    goal: Goal = DELAY,
    constraints: Sequence[Constraint] = (BUSY,),
    fresh: Candidate | None = None,
    own: Candidate | None = None,
    across: str = "worst",
) -> Tuning:
    region = [{}] if len(candidates[0].measured) == 1 else [{"load": 0.5}, {"load": 0.9}]
    own = own or Candidate({})
    return Tuning([AXIS], goal, constraints, across, region, candidates, best, fresh, own)


# Delay and utilisation of seeds 1 and 2.
SHORT = at("1ms", {1: [0.001, 0.6], 2: [0.003, 0.8]})
GOOD = at("5ms", {1: [0.004, 0.92], 2: [0.006, 0.96]})
LONG = at("20ms", {1: [0.019, 0.97], 2: [0.021, 0.97]})
WASTE = at("50ms", {1: [0.049, 0.95], 2: [0.051, 0.95]})
GIVEN_UP = at("40ms", {1: [0.0, 1.0]}, dropped=True)
ALL = [WASTE, SHORT, LONG, GIVEN_UP, GOOD]


def test_what_is_missed_is_a_share_of_the_bound_at_the_worst_place() -> None:
    assert SHORT.missed([BUSY]) == [pytest.approx(0.2 / 0.9)]
    assert GOOD.missed([BUSY]) == [pytest.approx(-0.04 / 0.9)]
    places = at("2ms", {1: [0.001, 0.95]}, {1: [0.002, 0.81]})
    assert places.missed([BUSY]) == [pytest.approx(0.1)]
    assert Candidate({}).missed([BUSY]) == [1.0]
    assert at("2ms", {1: [0.001, None]}).missed([BUSY]) == [1.0]
    most = Constraint.read("loss<=0")
    assert (most.missed(0.25), most.missed(0.0)) == (0.25, 0.0)


def test_a_setting_that_lacks_a_measure_is_worse_than_any() -> None:
    half = at("2ms", {1: [0.001, 0.95], 2: [None, 0.95]})
    assert half.means() == [None] and half.score(DELAY, "mean") == math.inf
    assert half.score(RATE, "worst") == math.inf and Candidate({}).score(DELAY, "worst") == math.inf
    told = found([half, GOOD], GOOD)
    assert told.value(half) is None and told.value(GOOD) == pytest.approx(0.005)
    assert half not in told.front()
    assert found([GOOD], GOOD, RATE).value(GOOD) == pytest.approx(0.005)


def test_only_seeds_that_all_places_have_are_judged() -> None:
    places = at("2ms", {1: [1.0], 2: [4.0]}, {2: [2.0], 3: [9.0]})
    assert places.by_seed(DELAY, "worst") == {2: 4.0}
    assert places.by_seed(DELAY, "mean") == {2: 3.0}
    assert places.by_seed(RATE, "worst") == {2: 2.0}


def test_settings_are_in_the_order_of_what_they_miss_then_of_the_goal() -> None:
    told = found(ALL, GOOD)
    assert told.full == [WASTE, SHORT, LONG, GOOD]
    assert sorted(told.full, key=told.order) == [GOOD, LONG, WASTE, SHORT]
    assert [told.holds(each) for each in told.full] == [True, False, True, True]
    # At the bound it holds.
    assert told.holds(at("3ms", {1: [0.1, 0.9]}))
    assert told.nearest is not SHORT
    assert found([SHORT, at("2ms", {1: [0.9, 0.7]})], None).nearest is SHORT
    assert found([SHORT, at("2ms", {1: [0.9, 0.71]})], None).nearest is not SHORT


def test_the_front_pays_delay_for_utilisation() -> None:
    # 50 ms has more delay and less utilisation than 20 ms.
    assert found(ALL, GOOD).front() == [SHORT, GOOD, LONG]
    # Of two that are as busy the one with less delay.
    twin = at("21ms", {1: [0.030, 0.97], 2: [0.030, 0.97]})
    assert found([twin, *ALL], GOOD).front() == [SHORT, GOOD, LONG]
    assert found(ALL, GOOD, constraints=()).front() == [GOOD]
    assert found(ALL, None, constraints=()).front() == []


def test_the_measure_of_a_constraint_is_told_where_it_is_closest_to_the_bound() -> None:
    most = Constraint.read("loss<=1%")
    places = at("2ms", {1: [0.001, 0.95, 0.002]}, {1: [0.002, 0.81, 0.004]}, {1: [0.1, None, None]})
    told = found([places], None, constraints=(BUSY, most))
    assert (told.closest(places, 0), told.closest(places, 1)) == (0.81, 0.004)
    assert found([Candidate({})], None).closest(Candidate({}), 0) is None


def steady(name: str, *values: float) -> Candidate:
    return at(name, {seed: [value, 1.0] for seed, value in enumerate(values, 1)})


@pytest.mark.parametrize(("goal", "sign"), [(DELAY, 1), (RATE, -1)])
def test_as_good_is_what_the_best_is_not_surely_better_than(goal: Goal, sign: int) -> None:
    best = steady("5ms", 5.0, 6.0, 7.0)
    # Differences of 1, 1.1 and 1.2 are sure in three seeds; of 0, 3 and 0 they are not.
    worse = steady("6ms", 5.0 + sign, 6.0 + 1.1 * sign, 7.0 + 1.2 * sign)
    alike = steady("7ms", 5.0, 6.0 + 3 * sign, 7.0)
    better = steady("8ms", 5.0 - sign, 6.0 - 1.1 * sign, 7.0 - 1.2 * sign)
    misses = at("9ms", {seed: [5.0 + seed, 0.5] for seed in (0, 1, 2, 3)})
    told = found([worse, alike, better, misses, best], best, goal)
    assert told.as_good() == [alike, better, best]
    assert found([worse, best], None, goal).as_good() == []
    # One seed says nothing for sure.
    lone, other = steady("5ms", 5.0), steady("6ms", 5.0 + 4 * sign)
    assert found([lone, other], lone, goal).as_good() == [lone, other]


def test_fresh_seeds_judge_the_best() -> None:
    fresh, own = steady("5ms", 2.0, 3.0, 4.0), steady("", 4.0, 5.0, 9.0)
    told = found([GOOD], GOOD, fresh=fresh, own=own)
    interval = told.interval
    assert interval is not None and (interval.n, interval.mean) == (3, 3.0)
    half = stats.t.ppf(0.975, 2) / math.sqrt(3)
    assert (interval.low, interval.high) == pytest.approx((3 - half, 3 + half))
    assert told.broken() == []
    # Without a best one, or without a measure of the scenario as it is, nothing is said.
    assert found([GOOD], None, own=own).interval is None
    assert found([GOOD], None, own=own).change is None and found([GOOD], None).broken() == []
    blank = at("", {1: [4.0, 1.0], 2: [None, 1.0], 3: [5.0, 1.0]})
    assert found([GOOD], GOOD, fresh=fresh, own=blank).change is None
    assert found([GOOD], GOOD, fresh=blank, own=own).interval is None
    # With next to no spread the change is that of the means: 3 against 6.
    even = found([GOOD], GOOD, fresh=steady("5ms", 3.0, 3.0), own=steady("", 6.0, 6.0)).change
    assert even == pytest.approx((-0.5, -0.5))
    late = at("5ms", {1: [1.0, 0.89]})
    assert found([GOOD], GOOD, fresh=late).broken() == ["utilisation>=90%"]
    assert found([GOOD], GOOD, fresh=at("5ms", {1: [1.0, 0.9]})).broken() == []


def test_a_table_of_settings_has_the_best_first() -> None:
    told = found(ALL, GOOD)
    assert words.headings(told) == ["target", "delay mean ms", "util. %", "holds", "as good"]
    assert words.rows(told) == [
        ["5ms", "5.0", "94.0", "yes", "yes"],
        ["20ms", "20.0", "97.0", "yes", ""],
        ["50ms", "50.0", "95.0", "yes", ""],
        ["1ms", "2.0", "70.0", "no", ""],
    ]
    assert [row[0] for row in words.rows(told, 2)] == ["5ms", "20ms"]
    assert words.tried(told) == "5 settings, 1 of them given up after one seed."


def test_judgement_is_said_in_words() -> None:
    two = found([GOOD], GOOD, fresh=steady("5ms", 0.004, 0.006), own=steady("", 0.008, 0.012))
    # Half of the interval is 12.7 times the standard error of 1 ms.
    assert list(words.judged(two)) == [
        "Mean queueing delay 5.0 ms in 2 fresh seeds (95 % interval -7.7 to 17.7 ms)."
    ]
    even = found([GOOD], GOOD, fresh=steady("5ms", 0.005, 0.005), own=steady("", 0.01, 0.01))
    (said,) = words.judged(even)
    assert said.startswith(
        "Mean queueing delay 5.0 ms in 2 fresh seeds (95 % interval 5.0 to 5.0 ms)"
    )
    assert "50 %" in said and said.endswith(" against the scenario as it is.")
    lone = found([GOOD], GOOD, fresh=at("5ms", {1: [0.004, 0.89]}), own=steady("", 0.008))
    assert list(words.judged(lone)) == [
        "Mean queueing delay 4.0 ms in 1 fresh seed.",
        "! In fresh seeds utilisation>=90% does not hold: take more of them (--repeat).",
    ]
    assert list(words.judged(found([SHORT], None))) == [
        "No setting holds to all constraints; target 1ms comes nearest."
    ]


def test_places_show_the_best_beside_the_scenario_as_it_is() -> None:
    fresh = at("5ms", {9: [0.001, 0.91]}, {9: [0.002, 0.92]})
    own = at("", {9: [0.003, 0.93]}, {9: [0.004, 0.94]})
    told = found([fresh], fresh, fresh=fresh, own=own)
    assert [(place, list(cells)) for place, cells in words.places(told)] == [
        ("load 0.5", ["1.0", "3.0", "91.0", "93.0"]),
        ("load 0.9", ["2.0", "4.0", "92.0", "94.0"]),
    ]
    alone = found([GOOD], GOOD, fresh=GOOD, own=LONG)
    assert [place for place, _ in words.places(alone)] == ["the scenario"]
    assert list(words.places(found([GOOD], None))) == []


def test_all_of_it_as_json() -> None:
    told = found(ALL, GOOD, fresh=steady("5ms", 2.0, 4.0), own=steady("", 4.0, 8.0)).to_dict()
    assert told["measure"] == "sojourn_mean_s" and told["goal"] == "smallest"
    assert (told["best"], told["seeds"], told["broken"]) == ({PATH: "5ms"}, [1, 2], [])
    assert told["interval"]["mean"] == 3.0
    assert told["front"] == [{PATH: each} for each in ("1ms", "5ms", "20ms")]
    first = told["candidates"][0]
    assert first["values"] == {PATH: "50ms"} and first["sojourn_mean_s"] == pytest.approx(0.05)
    assert first["utilisation"] == [pytest.approx(0.95)] and first["holds"] is True
    assert [each["dropped"] for each in told["candidates"]] == [False, False, False, True, False]
    assert found([GOOD], GOOD, RATE).to_dict()["goal"] == "largest"
    nothing = found([SHORT], None).to_dict()
    assert (nothing["interval"], nothing["seeds"], nothing["change"]) == (None, [], None)


def points(chart: Any, layer: int | None = None) -> list[dict[str, Any]]:
    spec = chart.to_dict()
    data = (spec if layer is None else spec["layer"][layer])["data"]["name"]
    rows: list[dict[str, Any]] = spec["datasets"][data]
    return rows


def test_figures_show_each_setting_in_units_for_people() -> None:
    told = found(ALL, GOOD)
    parameter = points(figures.by_parameter(told, AXIS))
    assert [(row["x"], row["kind"]) for row in parameter] == [
        (50.0, "holds"), (1.0, "misses a constraint"), (20.0, "holds"), (5.0, "best"),
    ]  # fmt: skip
    assert [row["y"] for row in parameter] == pytest.approx([50, 2, 20, 5])
    drawn = figures.trade_off(told)
    assert points(drawn, 0) == [{"x": pytest.approx(90)}], "the bound"
    assert [row["kind"] for row in points(drawn, 1)] == ["front", "best", "front"]
    assert [row["x"] for row in points(drawn, 1)] == pytest.approx([70, 94, 97])
    assert [row["kind"] for row in points(drawn, 2)] == ["tried", "front", "front", "best"]
    assert drawn.to_dict()["layer"][1]["encoding"]["x"]["title"] == "Utilisation, %"
    # Neither begins at 0, where there is nothing; a range of factors goes by factors.
    axes = [figures.by_parameter(told, AXIS).to_dict(), drawn.to_dict()["layer"][2]]
    for spec in axes:
        assert [spec["encoding"][way]["scale"]["zero"] for way in "xy"] == [False, False]
    assert axes[0]["encoding"]["x"]["title"] == "target, ms"
    assert axes[0]["encoding"]["x"]["scale"]["type"] == "log"
    narrow = figures.by_parameter(told, Axis.read(PATH, "4ms..39ms"))
    assert narrow.to_dict()["encoding"]["x"]["scale"]["type"] == "linear"
    assert [row["x"] for row in points(narrow)] == [None, None, 20.0, 5.0]
    with pytest.raises(InputError, match="given up after one seed"):
        figures.by_parameter(found([GIVEN_UP], None), AXIS)
    with pytest.raises(InputError, match="needs a constraint"):
        figures.trade_off(found(ALL, GOOD, constraints=()))


def test_colours_are_those_of_the_page_and_its_note() -> None:
    told = found(ALL, GOOD)
    drawn = figures.trade_off(told).to_dict()
    for spec, names in (
        (drawn["layer"][2], ["tried", "front", "best"]),
        (figures.by_parameter(told, AXIS).to_dict(), ["misses a constraint", "holds", "best"]),
    ):
        scale = spec["encoding"]["color"]["scale"]
        grey, blue, red = scale["range"]
        assert scale["domain"] == names
        # On a dark page each has another one.
        assert {grey, blue, red} <= style.darker().keys()
        assert grey[1:3] == grey[3:5] == grey[5:] and blue[5:] > blue[1:3] and red[1:3] > red[5:]
        bound, front = (layer["mark"]["color"] for layer in drawn["layer"][:2])
        assert (bound, front) == (grey, blue)


@pytest.mark.parametrize(
    ("text", "value", "title"),
    [
        ("1mbit..90mbit", "5mbit", "target, Mb/s"),
        ("1kB..90kB", "5kB", "target, kB"),
        ("1..90", 5, "target"),
    ],
)
def test_a_figure_counts_in_the_unit_of_its_field(text: str, value: object, title: str) -> None:
    each = Candidate({PATH: value}, GOOD.measured)
    drawn = figures.by_parameter(found([each], each), Axis.read(PATH, text))
    assert [row["x"] for row in points(drawn)] == [5.0]
    assert drawn.to_dict()["encoding"]["x"]["title"] == title


def asking(trials: int = 20) -> Asking:
    return Asking([AXIS], DELAY, [BUSY], "worst", trials)


def test_a_setting_is_given_up_if_its_first_seed_is_far_from_the_best_ones() -> None:
    search = asking()
    assert search.best is None and not search.is_hopeless(at("5ms", {1: [9.0, 1.0]}))
    search.candidates = [at("5ms", {1: [0.010, 0.95], 2: [0.030, 0.95]}), SHORT, GIVEN_UP]
    assert search.best is search.candidates[0]
    # Half as bad again as the best one on that seed, and a tenth of the bound, are the limits.
    for delay, busy, hopeless in (
        (0.0149, 0.95, False),
        (0.0151, 0.95, True),
        (0.001, 0.82, False),
        (0.001, 0.80, True),
        (None, 0.95, True),
    ):
        assert search.is_hopeless(at("6ms", {1: [delay, busy]})) is hopeless, (delay, busy)


def test_the_largest_is_given_up_if_it_is_far_below() -> None:
    search = Asking([AXIS], RATE, [], "worst", 20)
    search.candidates = [at("5ms", {1: [9e6]})]
    assert not search.is_hopeless(at("6ms", {1: [6.1e6]}))
    assert search.is_hopeless(at("6ms", {1: [5.9e6]}))


def test_a_search_begins_with_its_own_setting_and_spreads() -> None:
    scenario = Scenario(
        """
        duration = "5s"
        bottleneck = { rate = "10mbit", qdisc = { kind = "codel", target = "7ms" } }
        traffic = [{ kind = "bulk" }]
        """
    )
    search = asking()
    search.begin_with(scenario)
    asked = search.ask(7)
    assert search.asked == 7
    values = [each.values[PATH] for each in asked]
    assert values[0] == "7ms"
    # Then 0.5 + n times the golden ratio's inverse, within 1, of a range of factors.
    golden = (math.sqrt(5) - 1) / 2
    spread = [50 ** ((0.5 + n * golden) % 1) for n in range(1, 7)]
    numbers = [AXIS.number(each) for each in values[1:]]
    assert numbers == pytest.approx([1e6 * each for each in spread], rel=0.01)
    # A setting that comes again is the same one.
    assert search.ask(0) == asked and len(search.candidates) == 7


def test_each_setting_is_there_once() -> None:
    two = Asking([Axis.read("x", "1..2")], DELAY, [], "worst", 20)
    asked = two.ask(8)
    assert asked == two.candidates
    assert sorted(str(each.values["x"]) for each in asked) == ["1", "2"]


def test_what_the_scenario_has_not_is_not_tried_first() -> None:
    scenario = Scenario(
        """
        duration = "5s"
        bottleneck = { rate = "10mbit" }
        traffic = [{ kind = "bulk", flows = 20 }]
        """
    )
    for path, first in (("traffic.0.flows", True), ("traffic.1.flows", False), ("x.y", False)):
        search = Asking([Axis.read(path, "10..50")], DELAY, [], "worst", 20)
        search.begin_with(scenario)
        (asked,) = search.ask(1)
        # Else the first one spread over the range: 10 + 40 · 0.118.
        assert asked.values == {path: 20 if first else 15}


def test_near_the_best_is_nearer_the_later() -> None:
    search = asking()
    tried: list[dict[str, float]] = []
    search._study = SimpleNamespace(enqueue_trial=tried.append)
    search._enqueue_near_the_best(0.5)
    assert tried == [], "there is no best one yet"
    search.candidates = [GOOD]
    # From a tenth of the range, which goes by factors, down to a hundredth of it.
    for share, spread in ((0.5, 0.1), (0.75, math.sqrt(0.1 * 0.01)), (1.0, 0.01)):
        tried.clear()
        for _ in range(500):
            search._enqueue_near_the_best(share)
        moved = [math.log(each[PATH] / 5e6, 50) for each in tried]
        assert math.sqrt(math.fsum(x * x for x in moved) / 500) == pytest.approx(spread, rel=0.1)


def test_the_sampler_is_told_scores_and_for_none_the_worst_number() -> None:
    told: list[float] = []
    search = Asking([AXIS], DELAY, [], "worst", 20)
    search._study = SimpleNamespace(tell=lambda trial, score: told.append(score))
    search._under_way = [(None, GOOD), (None, at("9ms", {1: [None, 0.95]}))]
    search.tell()
    assert told == [pytest.approx(0.005), 1e300]
    search.tell()
    assert len(told) == 2, "each once"


def test_from_half_of_the_trials_on_every_second_one_is_near_the_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    near: list[float] = []
    search = asking(10)
    monkeypatch.setattr(search, "_enqueue_near_the_best", near.append)
    search.ask(4)
    search.ask(6)
    assert near == [0.5, 0.7, 0.9]


def test_facts_and_tables_of_the_page_are_of_what_there_is() -> None:
    told = found(ALL, GOOD, constraints=())
    assert [each.title for each in page._tables(told)] == ["All settings that ran with all seeds"]
    assert [each.slug for each in page._figures(told)] == ["parameter-1"]
    assert list(page._facts(told)) == [
        ("Settings", "5"), ("Given up after one seed", "1"), ("Seeds of each", "2"),
    ]  # fmt: skip
    two = at("5ms", {1: [0.001, 0.95]}, {1: [0.002, 0.95]})
    for across, what in (("worst", "2, the worst one counts"), ("mean", "2, the mean of all")):
        told = found([two], two, fresh=two, own=two, across=across)
        assert ("Places of the region", what) in list(page._facts(told))
        assert len(list(page._tables(told))) == 3
    assert list(page._tables(found([GIVEN_UP], None))) == []
    assert list(page._figures(found([GIVEN_UP], None))) == []


@pytest.mark.parametrize(
    ("text", "number", "share", "to"),
    [
        ("1ms..100ms", 1e6, 0.5, 1e7), ("1ms..100ms", 1e7, -0.25, 10**6.5),
        ("1ms..100ms", 1e7, 2, 1e8), ("10..20", 12, 0.5, 17), ("10..20", 12, -0.5, 10),
    ],
)  # fmt: skip
def test_an_axis_goes_by_factors_or_by_sums(
    text: str, number: float, share: float, to: float
) -> None:
    assert Axis.read("x", text).moved(number, share) == pytest.approx(to)
