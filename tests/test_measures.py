"""Measures: each is its own field of the summary, in its own unit; several groups are one."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

from sojourn import Error, Scenario, run
from sojourn._engine import QUANTILE_ERROR
from sojourn.measures import BY_NAME, at, mean, means, measure, measures, of_link, pooling, shown
from sojourn.measures.definitions import CALL, GROUP, LINK, PAGES, PING, VIDEO, Definition, named

ALL = (*LINK, *GROUP, *PING, *PAGES, *VIDEO, *CALL)
# What a unit of a name is to people: the name, and how many of that there are in one of this.
UNITS = {"_s": ("ms", 1000.0), "_bps": ("Mb/s", 0.000001), "_packets": ("packets", 1.0)}
FRACTIONS = ("loss", "mark_fraction", "utilisation", "video_stalled", "call_late", "call_loss")
# 1.23456789 of each as people see it: of the unit that rates have for people, a tenth of fractions.
WRITTEN = {
    "sojourn": "1234.6", "queue_mean": "1.2", "queue": "1", "loss": "12.35",
    "mark_fraction": "12.35", "utilisation": "12.3", "throughput": "1.2", "members": "1",
    "goodput": "1.23", "jain": "1.235", "response": "1235", "rtt": "1235", "ping": "1235",
    "page_load": "1235", "byte_index": "1235",
    "first_byte": "1235", "page_first_byte": "1235",
    "call_rate": "1.23", "call_delay": "1235", "call_l": "12.35",
    "video_bitrate": "1.23", "video_stalled": "12.35", "video_startup": "1235",
}  # fmt: skip


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_a_measure_has_the_unit_of_its_name(each: Definition) -> None:
    suffix = next((end for end in UNITS if each.name.endswith(end)), None)
    if each.name in FRACTIONS:
        assert (each.unit, each.scale) == ("%", 100.0)
    elif suffix is None:
        assert (each.unit, each.scale) == ("", 1.0)
    else:
        assert (each.unit, each.scale) == UNITS[suffix]
    value = 0.123456789 if each.name in FRACTIONS else 1.23456789
    value *= 1e6 if suffix == "_bps" else 1
    stem = max((name for name in WRITTEN if each.name.startswith(name)), key=len, default="")
    assert shown.written(value, each) == ("1" if each.counts else WRITTEN[stem])
    assert shown.written(None, each) == shown.NOTHING


def test_more_is_better_of_few_and_less_of_many() -> None:
    more = {each.name for each in ALL if each.better == 1}
    assert more == {"utilisation", "throughput_bps", "goodput_bps", "jain", "finished",
                    "video_bitrate_bps", "call_rate_bps"}  # fmt: skip
    neither = {each.name for each in ALL if each.better == 0}
    assert neither == {"mark_fraction", "members", "started", "censored", "pings", "pages"}
    assert {each.better for each in ALL} == {-1, 0, 1}


def entry(definitions: tuple[Definition, ...], begin: int) -> dict[str, Any]:
    """A link or a group each of whose fields has a value of its own."""
    values: dict[str, Any] = {}
    for number, each in enumerate(definitions, begin):
        inner = values
        for step in each.path[:-1]:
            inner = inner.setdefault(step, {})
        inner[each.path[-1]] = number
    return values


def test_each_measure_is_its_own_field() -> None:
    links = [entry(LINK, 100) | {"name": "there"}, entry(LINK, 200) | {"name": "back"}]
    web = entry(GROUP, 300) | {"name": "users", "kind": "web"}
    pages = entry(PAGES, 600) | {"name": "web", "kind": "web", "goodput_bps": 0}
    pages |= dict.fromkeys(("retransmissions", "timeouts"), 0)
    for part in (pages["first_byte_s"], pages["pages"]["first_byte_s"]):
        part["count"] = 600
    pages["pages"]["byte_index_s"]["count"] = 600
    ping = entry(PING, 400) | {"name": "probe", "kind": "ping", "goodput_bps": 0.5}
    ping |= {"retransmissions": 0.25, "timeouts": 0.125}
    viewers = entry(VIDEO, 500) | {"name": "tv", "kind": "video", "goodput_bps": 0}
    viewers |= dict.fromkeys(("retransmissions", "timeouts"), 0)
    found = measures({"links": links, "groups": [web, ping, viewers, pages]})
    summed = {"goodput_bps": 0.5, "retransmissions": 0.25, "timeouts": 0.125}
    for begin, definitions, prefixes in (
        (100, LINK, ("", "there.")),
        (200, LINK, ("back.",)),
        (300, GROUP, ("users.",)),
    ):
        for number, each in enumerate(definitions, begin):
            assert all(found[prefix + each.name] == number for prefix in prefixes)
    for number, each in enumerate(GROUP, 300):
        if each.name in ("members", "jain", "rtt_p50_s", "rtt_p99_s"):
            assert each.name not in found
        else:
            assert found[each.name] == number + summed.get(each.name, 0)
    assert [found[each.name] for each in PING] == [*range(400, 400 + len(PING))]
    for prefix in ("", "web."):
        assert [found[prefix + each.name] for each in PAGES] == [*range(600, 600 + len(PAGES))]
    for prefix in ("", "tv."):
        assert [found[prefix + each.name] for each in VIDEO] == [*range(500, 500 + len(VIDEO))]
    assert "users.video_stalls" not in found and "users.pages" not in found


def test_measures_are_found_by_name() -> None:
    summary = {
        "links": [{"name": "a.b", "loss": 0.5}],
        "groups": [{"name": "web", "kind": "web", "jain": 0.75}],
    }
    assert measure("a.b.loss").of(summary) == 0.5
    assert measure("web.jain").of(summary) == 0.75
    assert measure("loss").of(summary) == 0.5
    assert measure("elsewhere.loss").of(summary) is None
    assert at("groups", "web", GROUP[2]).name == "web.jain"
    assert [each.name for each in of_link("x", named(LINK, "loss"))] == ["x.loss"]  # type: ignore[arg-type]
    for wrong in ("beauty", "jain", "web.beauty"):
        with pytest.raises(Error, match=rf"there is no measure '{wrong}'; there are .*GROUP\.jain"):
            measure(wrong)
    for wrong, meant in ((".loss", "loss"), ("utilization", "utilisation"), ("a.jian", "a.jain")):
        with pytest.raises(Error, match=rf"'{wrong}'; did you mean {meant}\?$"):
            measure(wrong)


def test_text_and_tables_are_no_numbers() -> None:
    (loss,) = named(LINK, "loss")
    assert loss.of({"loss": "much"}) is None and loss.of({"loss": {}}) is None
    assert loss.of({}) is None and loss.of({"loss": None}) is None
    (p50,) = named(LINK, "sojourn_p50_s")
    assert p50.of({"sojourn_s": None}) is None and p50.of({"sojourn_s": 5}) is None


def test_means_are_of_those_that_are_there() -> None:
    assert mean([1.0, None, 4.0]) == 2.5
    assert mean([None]) is None and mean([]) is None
    one = {"links": [{"name": "l", "loss": 0.1}], "groups": []}
    other = {"links": [{"name": "l", "loss": 0.3}, {"name": "m", "loss": 0.5}], "groups": []}
    found = means([one, other])
    assert found["loss"] == pytest.approx(0.2) and found["m.loss"] == 0.5
    assert found["throughput_bps"] is None


def test_measures_of_a_run_are_those_of_its_summary(small: Scenario) -> None:
    summary = run(small).summary
    found = measures(summary)
    (link, group) = summary["links"][0], summary["groups"][0]
    assert found["loss"] == link["loss"] and found["utilisation"] == link["utilisation"]
    assert found["queue_p99_packets"] == link["queue_packets"]["p99"]
    assert found["goodput_bps"] == group["goodput_bps"]
    assert found["bulk1.members"] == 5
    assert set(BY_NAME) <= set(found)


def times(samples: np.ndarray) -> dict[str, Any]:
    """A distribution as summaries have it, with a curve through all its samples."""
    ordered = np.sort(samples)
    n = len(ordered)
    curve = [(float(x), (i + 1) / n) for i, x in enumerate(ordered)]
    return {"count": n, "mean": float(samples.mean()), "max": float(ordered[-1]), "cdf": curve}


@pytest.mark.parametrize("seed", range(5))
def test_groups_as_one_have_the_distribution_of_all_samples(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [rng.exponential(scale, n) for scale, n in ((1.0, 4000), (3.0, 1000), (0.2, 2500))]
    groups = [
        {"kind": "web", "name": str(i), "started": len(part) + 2, "finished": len(part),
         "failed": 1, "censored": i, "response_time_s": times(part)}
        for i, part in enumerate(parts)
    ]  # fmt: skip
    found = pooling.exchanges({"groups": groups})
    assert found is not None
    everything = np.concatenate(parts)
    assert (found["started"], found["finished"]) == (7506, 7500)
    assert (found["failed"], found["censored"]) == (3, 3)
    as_one = found["response_time_s"]
    assert as_one["count"] == 7500
    assert as_one["mean"] == pytest.approx(everything.mean(), rel=1e-12)
    assert as_one["max"] == everything.max()
    for name, part in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        # Between two samples each part's curve is a line, so it is off by one sample of each.
        assert as_one[name] == pytest.approx(np.quantile(everything, part), rel=0.02)


def _kept(values: np.ndarray, points: int = 200) -> list[tuple[float, float]]:
    """The curve that an engine keeps: ends of cells, thinned if they are many."""
    cells, counts = np.unique(np.floor(np.log(values) * 256), return_counts=True)
    heights = np.cumsum(counts) / values.size
    across = 1 / max(cells[-1] - cells[0], 1)
    step = 0.0 if cells.size < points else 2 / (points - 2)
    curve, at_, height = [(float(values.min()), 0.0)], cells[0], 0.0
    for cell, reached in zip(cells[:-1], heights, strict=False):
        if (cell - at_) * across + reached - height >= step:
            curve.append((float(np.exp((cell + 1) / 256)), float(reached)))
            at_, height = cell, reached
    return [*curve, (float(values.max()), 1.0)]


@pytest.mark.parametrize("count", [8, 30, 150, 400, 6000])
@pytest.mark.parametrize("seed", range(5))
def test_quantiles_of_a_mixture_do_not_lie_in_its_gaps(count: int, seed: int) -> None:
    """Few values leave gaps wider than a cell, over which nothing rises."""
    rng = np.random.default_rng(seed)
    parts = [rng.lognormal(0, 1.5, count), rng.lognormal(1, 1, count // 2)]
    times = [{"count": each.size, "cdf": _kept(each)} for each in parts]
    found = pooling._times(times)
    everything = np.concatenate(parts)
    for name, part in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        # What the engine has thinned is off by as much as one of its steps.
        slack = 0.0 if everything.size < 200 else 0.0105
        near = [
            np.quantile(everything, min(max(part + off, 0), 1), method="inverted_cdf")
            for off in (-slack, slack)
        ]
        assert near[0] * (1 - 1 / 128) <= found[name] <= near[1] * (1 + 1 / 128)


def test_mixture_is_weighed_by_counts() -> None:
    ramp, late = [(1.0, 0.0), (1.003, 1.0)], [(2.0, 0.0), (2.006, 1.0)]
    mixed = pooling.mix([ramp, late], [3, 1])
    assert [x for x, _ in mixed] == [1, 1.003, 2, 2.006]
    assert [y for _, y in mixed] == pytest.approx([0, 0.75, 0.75, 1])
    assert pooling.mix([ramp, []], [3, 1]) == ramp
    assert pooling.mix([[], late], [3, 1]) == late
    with pytest.raises(ValueError, match="argument"):
        pooling.mix([ramp], [1, 2])


@pytest.mark.parametrize("seed", range(20))
def test_height_is_linear_interpolation(seed: int) -> None:
    rng = random.Random(seed)
    xs = sorted(rng.sample(range(100), 8))
    ys = sorted(rng.random() for _ in xs)
    curve = [(float(x), y) for x, y in zip(xs, ys, strict=True)]
    for at_ in [*xs, *(rng.uniform(-5, 105) for _ in range(50))]:
        below = at_ < xs[0]
        assert pooling.height(curve, at_) == pytest.approx(
            0 if below else np.interp(at_, xs, ys), abs=1e-12
        )


def test_one_group_is_as_it_is_and_none_is_nothing() -> None:
    one = {"kind": "bulk", "name": "a", "started": 3, "response_time_s": {"count": 0}}
    assert pooling.exchanges({"groups": [one]}) is one
    assert pooling.exchanges({"groups": []}) is None
    for kind in ("ping", "udp"):
        assert pooling.timed({"groups": [one | {"kind": kind}]}) == []
    assert pooling.pings({"groups": [one, one | {"kind": "ping"}]}) == [one | {"kind": "ping"}]
    # Bulk flows begin and end nothing.
    assert pooling.timed({"groups": [one | {"started": 0}]}) == []
    assert pooling.timed({"groups": [one | {"started": 0, "response_time_s": None}]}) == []
    waited = one | {"started": 0, "response_time_s": {"count": 2}}
    assert pooling.timed({"groups": [waited]}) == [waited]


def test_what_one_group_does_not_count_has_no_sum() -> None:
    counted = {"goodput_bps": 2.0, "retransmissions": 3, "timeouts": 1}
    fluid = {"goodput_bps": 5.0, "retransmissions": None, "timeouts": 2}
    expected = {"goodput_bps": 7.0, "retransmissions": None, "timeouts": 3.0}
    assert pooling.traffic({"groups": [counted, fluid]}) == expected
    assert pooling.traffic({"groups": []})["goodput_bps"] is None


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        # In Mb/s, with one digit, and in ms with one and with none.
        ("throughput_bps", [4e4, 1e3], ["0.040", "0.001"]),
        ("throughput_bps", [4e7, 1e3, None], ["40.0", "0.0", shown.NOTHING]),
        ("sojourn_mean_s", [2.4e-5, 9.96e-5], ["0.024", "0.100"]),
        ("sojourn_mean_s", [0.0, None], ["0.0", shown.NOTHING]),
        ("sojourn_mean_s", [1e-12], ["0.0000"]),
        ("response_p50_s", [3e-4, 2e-3], ["0.3", "2.0"]),
        ("response_p50_s", [0.012, 2e-3], ["12", "2"]),
        # A share means the same on any link.
        ("loss", [1e-5, 2e-5], ["0.00", "0.00"]),
    ],
)
def test_times_and_rates_keep_two_digits_that_say_something(
    name: str, values: list[float | None], said: list[str]
) -> None:
    definition = BY_NAME[name].definition
    assert [shown.written(value, definition, values) for value in values] == said


def test_numbers_have_signs_and_digits() -> None:
    assert shown.number(0.0123, 100, 1) == "1.2"
    assert shown.number(0.5, sign=True) == "+0" and shown.number(-2.0, sign=True) == "-2"
    assert shown.number(None) == "–"


def test_heads_name_a_family_once() -> None:
    chosen = named(LINK, "sojourn_mean_s", "sojourn_p99_s", "loss", "queue_p99_packets")
    assert shown.headings(chosen) == ["delay mean ms", "p99", "loss %", "queue p99 packets"]


def test_a_table_of_means_has_students_intervals() -> None:
    from scipy.stats import t

    values = (0.01, 0.02, 0.06)
    runs = [{"links": [{"name": "l", "loss": x, "rate_bps": 1}], "groups": []} for x in values]
    loss = of_link("l", named(LINK, "loss"))
    section = shown.Section.of("", loss, {"x": runs})
    half = 100 * np.std(values, ddof=1) / 3**0.5 * t.ppf(0.975, 2)
    (row,) = shown.means(section, intervals=True).rows
    assert row == ["x", f"3.00 ±{half:.2f}"]
    (row,) = shown.means(section, {"load": {"x": "0.9"}}).rows
    assert row == ["x", "0.9", "3.00"]
    single = shown.Section.of("", loss, {"x": runs[:1]})
    (row,) = shown.means(single, intervals=True).rows
    assert row == ["x", "1.00"]


def test_links_are_shown_in_order_and_two_unless_all_are_wanted() -> None:
    def link(name: str, rate: int | None) -> dict[str, Any]:
        return {"name": name, "loss": 0.1, "rate_bps": rate}

    summary = {"links": [link("a", 1), link("b", None), link("c", 2), link("d", 3)], "groups": []}
    assert shown.rated_links([summary]) == ["a", "c", "d"]
    for everything, count in ((False, 2), (True, 3)):
        titles = [each.title for each in shown.sections({"x": [summary]}, everything)]
        assert titles == ["link a", "link c", "link d"][:count]


def test_realised_loads_are_means() -> None:
    class Made:
        def __init__(self, load: float | None) -> None:
            self.realised_load = load

    column = shown.loads({"x": [Made(0.9), Made(1.0)], "y": [Made(None)]})
    assert column == {"load": {"x": "0.950", "y": "–"}}
    assert shown.loads({"y": [Made(None)]}) == {}


def test_names_are_told_apart() -> None:
    for definitions in (LINK, GROUP, PING, PAGES, VIDEO, CALL):
        names = [each.name for each in definitions]
        assert len(set(names)) == len(names)
        for one, other in itertools.combinations(definitions, 2):
            assert one.path != other.path and one.words != other.words


def test_failures_are_shown_where_there_are_any() -> None:
    def summary(failed: int) -> dict[str, Any]:
        group = {"name": "g", "kind": "web", "started": 3, "finished": 3, "failed": failed}
        return {"links": [], "groups": [group | {"response_time_s": {"count": 0}}]}

    def names(*failed: int) -> list[str]:
        found = shown.sections({"x": [summary(each) for each in failed]})
        return [each.name for section in found for each in section.measures]

    assert names(0, 0) == ["finished"]
    assert names(0, 2) == ["finished", "failed"]


def test_the_table_of_groups_leaves_out_pings_and_what_nobody_waits_for() -> None:
    def group(name: str, kind: str, **more: object) -> dict[str, Any]:
        return entry(GROUP, 7) | {"name": name, "kind": kind, "started": 9} | more

    udp, web = group("voice", "udp", failed=0), group("users", "web", failed=3)
    found = shown.groups({"links": [], "groups": [udp, group("probe", "ping"), web]})
    assert found.headings[0] == "group"
    assert [row[0] for row in found.rows] == ["voice", "users"]
    columns = {each.name: n for n, each in enumerate(shown.GROUP_SHOWN, 1)}
    failed, finished = columns["failed"], columns["finished"]
    assert [row[failed] for row in found.rows] == [shown.NOTHING, "3"]
    assert [row[finished] for row in found.rows] == [shown.NOTHING, f"{web['finished']}"]
    # What both count is shown of both.
    assert all(row[columns["members"]] == "7" for row in found.rows)
    probes = shown.pings({"links": [], "groups": [udp, group("probe", "ping"), web]})
    assert probes.headings[0] == "ping" and [row[0] for row in probes.rows] == ["probe"]


def test_the_table_of_links_leaves_out_ideal_ones() -> None:
    links = [entry(LINK, 3) | {"name": n, "rate_bps": r} for n, r in (("a", 1.0), ("b", None))]
    found = shown.links({"links": links, "groups": []})
    assert found.headings[0] == "link" and [row[0] for row in found.rows] == ["a"]


def test_classes_that_had_packets_stand_below_their_link() -> None:
    rates = {"down": 1.0, "up": 1.0, "up/web": None, "down/web": None, "down/idle": None}
    links = [entry(LINK, 3) | {"name": n, "rate_bps": r, "arrived": 5} for n, r in rates.items()]
    links[-1]["arrived"] = 0
    found = shown.links({"links": links, "groups": []})
    assert [row[0] for row in found.rows] == ["down", "down/web", "up", "up/web"]


def test_columns_of_several_places_say_whose_they_are_and_in_what_unit() -> None:
    summary = {"links": [{"name": "a", "loss": 0.1}, {"name": "b", "loss": 0.2}], "groups": []}
    (section,) = shown.sections({"row": [summary]}, chosen=["a.loss", "b.loss"])
    found = shown.means(section)
    assert found.headings == ["", "loss of a, %", "loss of b, %"]
    assert found.rows == [["row", "10.00", "20.00"]]
    assert section.title == "a.loss, b.loss" and section.measures[1].of(summary) == 0.2


def test_groups_as_one_are_said_to_be() -> None:
    def group(name: str, kind: str) -> dict[str, Any]:
        return {"name": name, "kind": kind, "started": 1}

    two = {"groups": [group("a", "web"), group("b", "bulk"), group("p", "ping")]}
    assert shown.pooled_words([two]) == "response times of a and b as one, pings of p"
    assert shown.pooled_words([{"groups": two["groups"][1:2]}]) == "response times of b"
    assert shown.pooled_words([{"groups": []}]) == ""


def test_quantiles_lie_within_the_cell_that_reaches_them() -> None:
    # A cell of a histogram is less than 1/64 wide: its middle is 1/256 below its end at the least.
    curve = [(1.0, 0.1), (2.0, 0.5), (4.0, 0.9), (8.0, 1.0)]
    assert pooling._inverse(curve, 0.05) == 1.0
    assert pooling._inverse(curve, 0.5) == 2.0 * (1 - 1 / 256)
    assert pooling._inverse(curve, 0.9) == 4.0 * (1 - 1 / 256)
    assert pooling._inverse(curve, 0.95) == 8.0
    # A cell narrower than that begins where the one before ends.
    assert pooling._inverse([(1.0, 0.1), (2.0, 0.4), (2.001, 0.6), (8.0, 1.0)], 0.5) == 2.0
    assert pooling._inverse([(1.0, 0.1), (2.0, 0.4)], 0.5) is None
    assert pooling._inverse([], 0.5) is None


def test_a_part_without_samples_changes_no_distribution() -> None:
    found = pooling._times([{"count": 0}, {"count": 4, "mean": 2.0, "p50": 1.5, "cdf": []}])
    assert found == {"count": 4, "mean": 2.0, "p50": 1.5, "cdf": []}
    parts = [
        {"count": 3, "mean": 2.0, "max": 4.0, "cdf": [(1.0, 0.0), (4.0, 1.0)]},
        {"count": 1, "mean": 6.0, "max": 7.0, "cdf": [(5.0, 0.0), (7.0, 1.0)]},
    ]
    found = pooling._times(parts)
    assert (found["count"], found["mean"], found["max"]) == (4, 3.0, 7.0)
    # One part without a mean leaves none for both.
    found = pooling._times([parts[0], parts[1] | {"mean": None}])
    assert (found["mean"], found["max"]) == (None, None)


def test_groups_none_of_whose_exchanges_ended_have_no_response_times() -> None:
    groups = [
        {"kind": "web", "name": name, "started": 3, "response_time_s": {"count": 0}}
        for name in "ab"
    ]
    found = pooling.exchanges({"groups": groups})
    assert found is not None
    assert found["started"] == 6
    nothing = dict.fromkeys(("mean", "max", "p50", "p90", "p99"))
    assert found["response_time_s"] == {"count": 0, "cdf": [], **nothing}
    assert measure("response_p50_s").of({"links": [], "groups": groups}) is None


def test_calls_as_one_weigh_as_much_as_they_send() -> None:
    def call(rate: float, sent: int, frames: int, late: float, delays: list[float]) -> Any:
        heard = {
            "frames": frames,
            "late": late,
            "loss": late / 2,
            "delay_s": times(np.array(delays)),
        }
        return {"kind": "call", "name": "c", "goodput_bps": rate, "started": sent, "call": heard}

    one, other = call(1e6, 300, 100, 0.0, [0.1] * 3), call(2e6, 100, 300, 0.4, [0.3])
    found = measures({"links": [], "groups": [one, other]})
    assert (found["call_rate_bps"], found["call_late"]) == (3e6, pytest.approx(0.3))
    assert found["call_loss"] == pytest.approx(0.05)
    assert found["call_delay_p50_s"] == pytest.approx(0.1, rel=0.02)
    assert found["finished"] is None, "nobody waits for a packet of a call"
    alone = measures({"links": [], "groups": [other]})
    assert (alone["call_rate_bps"], alone["call_late"]) == (2e6, 0.4)


def test_first_bytes_as_one_weigh_as_many_as_they_are() -> None:
    def users(exchanges: list[float], pages: list[float]) -> dict[str, Any]:
        first, loads = times(np.array(pages)), times(np.array(pages) * 2)
        return {"kind": "web", "name": "w", "first_byte_s": times(np.array(exchanges)),
                "pages": {"load_time_s": loads, "first_byte_s": first}}  # fmt: skip

    groups = [users([1.0] * 3, [2.0]), users([5.0], [4.0])]
    found = measures({"links": [], "groups": groups})
    assert (found["first_byte_mean_s"], found["page_first_byte_mean_s"]) == (2.0, 3.0)
    assert found["first_byte_p50_s"] == pytest.approx(1.0, rel=0.02)
    assert found["page_first_byte_p99_s"] == pytest.approx(4.0, rel=0.02)
    del groups[1]["first_byte_s"]  # measured by a version that had none
    found = measures({"links": [], "groups": groups})
    assert (found["first_byte_mean_s"], found["page_first_byte_mean_s"]) == (None, 3.0)


def test_pages_as_one_weigh_the_same_and_need_no_byte_index() -> None:
    def users(**all_times: list[float]) -> dict[str, Any]:
        pages = {name: times(np.array(values)) for name, values in all_times.items()}
        return {"kind": "web", "name": "w", "pages": pages}

    one = users(load_time_s=[3.0] * 3, byte_index_s=[1.0] * 3)
    other = users(load_time_s=[5.0], byte_index_s=[2.0])
    found = measures({"links": [], "groups": [one, other]})
    assert (found["page_load_mean_s"], found["byte_index_mean_s"]) == (3.5, 1.25)
    assert found["byte_index_p50_s"] == pytest.approx(1.0, rel=0.02)
    # One group was measured by a version that had none.
    found = measures({"links": [], "groups": [one, users(load_time_s=[5.0])]})
    assert (found["page_load_mean_s"], found["byte_index_mean_s"]) == (3.5, None)


def test_viewers_as_one_weigh_as_much_as_they_watch() -> None:
    def watched(**values: float | None) -> dict[str, Any]:
        counts = dict.fromkeys(("stalls", "switches"), 2)
        return {"kind": "video", "name": "tv", "video": counts | values}

    one = watched(played_s=30.0, stalled_s=10.0, stalled=0.25, segments=10, bitrate_bps=1e6,
                  begun=1, startup_s=1.0)  # fmt: skip
    other = watched(played_s=60.0, stalled_s=0.0, stalled=0.0, segments=30, bitrate_bps=3e6,
                    begun=3, startup_s=2.0)  # fmt: skip
    nobody = watched(played_s=0.0, stalled_s=0.0, stalled=None, segments=0, bitrate_bps=None,
                     begun=0, startup_s=None)  # fmt: skip
    found = measures({"links": [], "groups": [one, other, nobody]})
    assert found["video_stalled"] == 0.1 and found["video_bitrate_bps"] == 2.5e6
    assert found["video_startup_s"] == 1.75 and found["video_stalls"] == 6
    assert found["video_switches"] == 6
    assert measures({"links": [], "groups": [other]})["video_bitrate_bps"] == 3e6
    alone = measures({"links": [], "groups": [nobody, nobody]})
    assert alone["video_stalled"] is None and alone["video_bitrate_bps"] is None
    assert shown.videos({"links": [], "groups": [one]}).rows == [
        ["tv", "1.00", "25.00", "2", "2", "1000"]
    ]


def test_many_copies_of_a_link_have_one_row() -> None:
    def link(name: str, wait: float, *, rate: float | None = 1e6) -> dict[str, Any]:
        return {"name": name, "rate_bps": rate, "arrived": 1, "sojourn_s": {"mean": wait}}

    def rows(count: int) -> dict[str, str]:
        copies = [link(f"down.{k}", k / 1e3) for k in range(count)]
        classes = [link(f"down.{k}/voice", 0.002, rate=None) for k in range(count)]
        found = shown.links({"links": [link("trunk", 0.5), *copies, *classes]})
        return {row[0]: row[1] for row in found.rows}

    assert rows(11) == {
        "trunk": "500.0",
        "down.*, median of 11": "5.0",
        "down.*/voice, median of 11": "2.0",
    }
    few = rows(8)
    assert len(few) == 17 and few["down.7"] == "7.0" and few["down.7/voice"] == "2.0"


def test_steps_of_a_thinned_curve_are_no_gaps() -> None:
    # From 1 to 1000 a step of thinning spans 7 %, beside a cell.
    curve = [(1.0, 0.0), (1.02, 0.2), (1.08, 0.5), (1000.0, 1.0)]
    begins = [x for x, _ in pooling._stepped(curve, 5000) if x not in dict(curve)]
    assert begins == [1000 * (1 - 1 / 256)]
    # Of few values every cell is there.
    begins = [x for x, _ in pooling._stepped(curve, 4) if x not in dict(curve)]
    assert begins == [each * (1 - 1 / 256) for each in (1.02, 1.08, 1000)]


def test_quantiles_say_how_far_they_may_be_off() -> None:
    def summary(groups: int) -> dict[str, object]:
        times = {"count": 5, "mean": 1.0, "p50": 1.0, "max": 1.0, "cdf": [[0.9, 0.0], [1.0, 1.0]]}
        each = {"kind": "web", "started": 5, "response_time_s": times}
        return {"links": [], "groups": [each | {"name": str(n)} for n in range(groups)]}

    median = BY_NAME["response_p50_s"]
    assert median.known(summary(1)) == (1.0, QUANTILE_ERROR)
    assert median.known(summary(2)) == (median.of(summary(2)), 0.01)
    assert BY_NAME["response_mean_s"].known(summary(2)) == (1.0, 0.0)
    assert median.known(summary(0)) is None
