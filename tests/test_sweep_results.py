"""What comparisons and sweeps say of their runs, from runs whose numbers are known."""

from __future__ import annotations

import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from conftest import SMALL
from sojourn import Comparison, Error, InputError, Interrupted, Scenario, compare
from sojourn.load import Basis, uncongested
from sojourn.results.run import RunResult
from sojourn.results.store import Store
from sojourn.sweep import Case, Result, Results, Rule, grid, sweep
from sojourn.sweep.execute import Progress, _Work
from sojourn.sweep.plan import Plan

QDISC = "bottleneck.qdisc"
HUGE = {"traffic.0.flows": 50_000_000}


def made(label: str, seed: int, loss: float | None, varied: dict[str, Any] | None = None,
         **more: Any) -> RunResult:  # fmt: skip
    summary = {
        "name": "", "engine": "packets", "seed": seed, "simulated_s": 4.0, "wall_s": 0.25,
        "links": [
            {"name": "bottleneck", "rate_bps": 1e7, "loss": loss, "throughput_bps": 9e6},
            {"name": "reverse", "rate_bps": 1e7, "loss": 0.0, "throughput_bps": 5e6},
        ],
        "groups": [],
    } | more  # fmt: skip
    text = json.dumps(summary)
    return RunResult.from_engine(text, Scenario(SMALL), label=label, varied=varied or {})


def pair(**more: Any) -> Comparison:
    """Two queues, three seeds: losses of 1, 2, 4 % and of 2, 4, 9 %."""
    losses = {"droptail": (0.02, 0.04, 0.09), "codel": (0.01, 0.02, 0.04)}
    runs = [
        made(label, seed, loss, {QDISC: label}, **more)
        for label, values in losses.items()
        for seed, loss in enumerate(values, 1)
    ]
    return Comparison(runs, [made("uncongested", 1, 0.0)])


def test_rows_are_means_over_seeds_the_uncongested_ones_first() -> None:
    comparison = pair()
    comparison.runs[0].realised_load = 0.75
    comparison.runs[1].realised_load = 0.85
    assert comparison.labels == ["uncongested", "droptail", "codel"]
    groups = comparison.by_label()
    assert {name: len(runs) for name, runs in groups.items()} == {
        "uncongested": 1, "droptail": 3, "codel": 3,
    }  # fmt: skip
    ideal, tail, codel = comparison.rows()
    assert (tail["label"], tail[QDISC], tail["seeds"]) == ("droptail", "droptail", 3)
    assert tail["loss"] == pytest.approx(0.05) and codel["loss"] == pytest.approx(0.07 / 3)
    assert tail["realised_load"] == pytest.approx(0.8) and codel["realised_load"] is None
    assert (ideal["seeds"], ideal["loss"]) == (1, 0.0)
    assert comparison.table()["label"].to_list() == comparison.labels


@pytest.mark.parametrize(
    ("values", "listed"),
    [
        ("codel", ["codel"]),
        ({"kind": "codel"}, [{"kind": "codel"}]),
        (("codel", "pie"), ["codel", "pie"]),
        (iter(["codel"]), ["codel"]),
    ],
)
def test_a_single_value_is_varied_like_a_list_of_one(values: object, listed: list[object]) -> None:
    cases = grid(SMALL, {QDISC: values}, 7)
    assert [dict(case.labels) for case in cases] == [{QDISC: each} for each in listed]
    assert all(case.seeds == (7,) for case in cases)


def test_a_number_is_a_single_value() -> None:
    cases = grid(SMALL, {"tcp.mss": 1000, QDISC: ["codel", "pie"]}, range(2))
    assert [case.label for case in cases] == ["mss 1000, codel", "mss 1000, pie"]
    assert tuple(cases[0].seeds) == (0, 1)


def test_each_seed_is_a_sample_of_its_own() -> None:
    for seeds in ([1, 1, 2], (7, 7)):
        with pytest.raises(InputError, match=r"^seeds: [17] is there twice; give each seed once$"):
            grid(SMALL, {}, seeds)
        with pytest.raises(InputError, match="is there twice"):
            Case({}, Scenario(SMALL), seeds)
    for none in ([], range(0)):
        with pytest.raises(InputError, match=r"^seeds: there is none; give one at least$"):
            grid(SMALL, {}, none)
    for many in (range(10**30), itertools.count(), range(1_000_001)):
        with pytest.raises(InputError, match=r"^seeds: more than 1000000, the most"):
            grid(SMALL, {}, many)
    with pytest.raises(InputError, match=r"^seeds: '1' must be a whole number$"):
        grid(SMALL, {}, "1")
    assert grid(SMALL, {}, range(10**6))[0].seeds == range(10**6)


def test_differences_are_those_of_pairs() -> None:
    comparison = pair()
    (row,) = comparison.differences("loss")
    assert (row["label"], row["baseline"], row["pairs"]) == ("codel", "droptail", 3)
    assert row["mean"] == pytest.approx(-(0.01 + 0.02 + 0.05) / 3)
    (other,) = comparison.differences("loss", baseline="codel")
    assert (other["label"], other["baseline"]) == ("droptail", "codel")
    assert other["mean"] == pytest.approx(-row["mean"]) and other["p"] == pytest.approx(row["p"])
    comparison.baseline = "codel"
    assert comparison.differences("loss")[0]["label"] == "droptail"
    (back,) = comparison.differences("reverse.loss")
    assert back["mean"] == 0
    with pytest.raises(Error, match="no link or group 'sideways'; there are bottleneck, reverse"):
        comparison.differences("sideways.loss")
    with pytest.raises(
        InputError, match=r"^ping_p50_s: no run has this measure; run longer, or name another$"
    ):
        comparison.verdict(measures=["ping_p50_s"])


def test_there_is_no_verdict_where_nothing_is_compared() -> None:
    found = pair().verdict(measures=["loss"])
    assert found is not None and [each.measure.name for each in found.differences] == ["loss"]
    assert Comparison([], []).verdict() is None
    assert Comparison([], []).verdict(QDISC) is None
    loads = [made(f"{x}", 1, x / 10, {"load": x}) for x in (0.5, 0.9)]
    assert Comparison(loads, []).verdict() is None
    # Asked for, loads are compared, too.
    assert Comparison(loads, []).verdict("load") is not None
    with pytest.raises(Error, match="nothing but load is varied"):
        Comparison(loads, []).verdict(baseline="0.9")


def test_a_comparison_as_json_lists_its_runs(tmp_path: Path) -> None:
    comparison = pair()
    comparison.folder = tmp_path
    comparison.runs[0].folder = tmp_path / "abc"
    told = comparison.to_dict(["loss"])
    assert [each["label"] for each in told["runs"]] == [
        "uncongested", *["droptail"] * 3, *["codel"] * 3,
    ]  # fmt: skip
    entry = told["runs"][1]
    assert (entry["folder"], entry["seed"], entry["varied"]) == ("abc", 1, {QDISC: "droptail"})
    assert entry["loss"] == 0.02 and entry["realised_load"] is None
    assert "folder" not in told["runs"][2]
    assert len(told["table"]) == 3 and told["diagnoses"] == comparison.diagnoses == []
    assert told["verdict"] is not None
    comparison.folder = None
    assert "folder" not in comparison.to_dict()["runs"][1]


def test_diagnoses_of_a_comparison_are_those_of_its_runs_each_once() -> None:
    told = {"name": "late", "place": "bottleneck", "message": "It is.", "remedy": "Wait."}
    runs = [made("x", n, 0.1 * n, {QDISC: "x"}, diagnoses=[told] * (n < 3)) for n in (1, 2, 3)]
    assert runs[0].diagnoses == [told] and runs[2].diagnoses == []
    assert Comparison(runs[:2] * 2, []).diagnoses == [told]
    assert Comparison(runs, []).diagnoses == [told | {"message": "in 2 of 3 runs, such as: It is."}]
    few = Comparison(runs[2:], []).diagnoses
    assert [each["name"] for each in few] == ["few-seeds"]
    assert few[0]["message"].startswith("1 seed for each case")


def results() -> Results:
    cases = {label: Case({QDISC: label}, Scenario(SMALL), (1, 2)) for label in ("a", "b")}
    losses = {("a", 1): 0.1, ("a", 2): 0.3, ("b", 1): 0.2, ("b", 2): None}
    runs = [Result(cases[a], n, made(a, n, loss)) for (a, n), loss in losses.items()]
    return Results(runs, wanted=5, scale="smoke")


def test_values_are_by_seed() -> None:
    whole = results()
    a, b = whole.where(**{QDISC: "a"}), whole.where(**{QDISC: "b"})
    assert (len(whole), len(a), a.wanted, a.scale) == (4, 2, 2, "smoke")
    assert a.values("loss") == {1: 0.1, 2: 0.3} and b.values("loss") == {1: 0.2}
    assert a.values(lambda run: run.seed * 2.0) == {1: 2.0, 2: 4.0}
    assert a.paired(b, "loss") == ([0.1], [0.2]) and b.paired(a, "loss") == ([0.2], [0.1])
    assert a.mean("loss") == pytest.approx(0.2) and b.mean("loss") == 0.2
    assert whole.where(**{QDISC: "c"}).mean("loss") is None
    assert len(whole.where()) == 4 and len(whole.where(nothing=1)) == 0
    with pytest.raises(Error, match="several runs with seed 1"):
        whole.values("loss")
    assert list(whole.by_label()) == ["a", "b"]
    both = a.after(b)
    assert [each.seed for each in both] == [1, 2, 1, 2] and both.wanted == 4
    assert both.runs[0].case.labels == {QDISC: "b"} and both.scale == "smoke"


def test_a_seed_that_lacks_one_of_two_measures_is_in_no_pair() -> None:
    case = Case({"q": "a"}, Scenario(SMALL), (1, 2, 3))
    runs = [Result(case, seed, made("a", seed, 0.01 * seed)) for seed in (1, 2, 3)]
    results = Results(runs, None, 3)

    def late(run: RunResult) -> float | None:
        seed = run.summary["seed"]
        return None if seed == 2 else 10.0 * seed

    assert results.paired(results, late, "loss") == ([10.0, 30.0], [0.01, 0.03])
    assert results.paired(results, "loss", late) == ([0.01, 0.03], [10.0, 30.0])
    assert results.paired(results, late) == ([10.0, 30.0], [10.0, 30.0])


def test_rows_of_a_sweep_have_all_columns() -> None:
    rows = results().rows()
    assert [(row[QDISC], row["seed"], row["loss"]) for row in rows] == [
        ("a", 1, 0.1), ("a", 2, 0.3), ("b", 1, 0.2), ("b", 2, None),
    ]  # fmt: skip
    assert len({tuple(row) for row in rows}) == 1
    assert {(row["key"], row["engine"], row["wall_s"]) for row in rows} == {(None, "packets", 0.25)}
    assert results().frame().height == 4


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"kind": "pi", "qref": 24, "ecn": True}, "pi qref=24 ecn"),
        ({"kind": "cubic", "beta": 0.5}, "cubic beta=0.5"),
        ({"even": "20ms..80ms"}, "even=20ms..80ms"),
        ({"rate": "1mbit"}, "rate=1mbit"),
        ({}, "{}"),
        ([1, 2], "[1, 2]"),
        ("20ms", "20ms"),
    ],
)
def test_a_value_that_is_a_table_is_in_a_column_as_it_is_in_words(value: object, said: str) -> None:
    case = Case({"what": value}, Scenario(SMALL), (1,))
    (row,) = Results([Result(case, 1, made("a", 1, 0.1))]).rows()
    assert row["what"] == said


def test_realised_load_is_what_the_ideal_link_carries_of_the_rate() -> None:
    transfers = {"traffic": [{"kind": "transfers", "load": 0.5, "size": "9kB"}]}
    case = Case({QDISC: "a"}, Scenario(SMALL).with_(transfers))
    ideal = Results([Result(case, 7, made("ideal", 7, 0.0))])
    assert ideal.realised_load(ideal) == {7: 0.9}
    # Nothing is offered by flows that send as fast as they can.
    assert results().realised_load(ideal) == Results([]).realised_load(ideal) == {}
    summary = ideal.runs[0].run.summary
    assert Basis("forward", 20_000_000).load(summary) == 0.45
    assert Basis("reverse", 10_000_000).load(summary) == 0.5
    assert Basis("both", 10_000_000).load(summary) == pytest.approx(0.7)


def test_the_uncongested_link_is_ten_times_as_fast_both_ways() -> None:
    back = {"bottleneck.reverse": {"rate": "2mbit", "qdisc": "codel"}}
    found = json.loads(uncongested(Scenario(SMALL).with_(back)).to_json())["bottleneck"]
    large = {"kind": "droptail", "limit": 1_000_000}
    assert (found["rate"], found["reverse"]["rate"]) == ("100mbit", "20mbit")
    for queue in (found["qdisc"], found["reverse"]["qdisc"]):
        assert {name: queue[name] for name in large} == large
    plain = json.loads(uncongested(Scenario(SMALL)).to_json())["bottleneck"]
    assert not isinstance(plain.get("reverse"), dict) or not plain["reverse"].get("rate")


def test_a_mean_of_nothing_is_known() -> None:
    # Half of the interval and what is allowed are both 0.
    assert Rule("loss", 0.1).more([0.0] * 5) == 0


def test_a_baseline_is_a_value_of_whatever_type() -> None:
    runs = [
        made(f"flows {n}", seed, n / 100 + seed / 1000, {"traffic.0.flows": n})
        for n in (2, 4)
        for seed in (1, 2, 3)
    ]
    comparison = Comparison(runs, [])
    for baseline in (4, "4", "flows 4"):
        verdict = comparison.verdict(baseline=baseline, measures="loss")
        assert verdict is not None
        assert verdict.baseline == "flows 4"
        assert [each.measure.name for each in verdict.differences] == ["loss"]
        assert str(verdict) == repr(verdict)
        assert pickle.loads(pickle.dumps(verdict)) == verdict
    assert compare(SMALL, {"traffic.0.flows": [2, 4]}, 1, baseline=4).baseline == "4"
    for values in ({2, 4}, frozenset({2, 4})):
        with pytest.raises(InputError, match="flows: a set has no order, and the first is the"):
            compare(SMALL, {"traffic.0.flows": values})


def test_what_an_interruption_finished_survives_another_process() -> None:
    again = pickle.loads(pickle.dumps(Interrupted(["finished"])))
    assert isinstance(again, Interrupted)
    assert again.result == ["finished"]


def test_a_wrong_baseline_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(Error, match="nosuch"):
        compare(SMALL_SCENARIO, {QDISC: ["droptail", "codel"]}, 1, out=tmp_path / "o",
                baseline="nosuch")  # fmt: skip
    assert not (tmp_path / "o").exists()


def test_what_does_not_fit_into_memory_is_refused_unless_it_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(Error, match="takes about 75 GB"):
        compare(SMALL_SCENARIO, {"traffic.0.flows": [50_000_000]}, 1)
    case = Case({}, SMALL_SCENARIO.with_(HUGE), (1,))
    with pytest.raises(Error, match="takes about 75 GB"):
        sweep([case])
    with pytest.raises(Error, match="takes about 75 GB"):
        Plan([case])
    assert len(Plan([case], limit=False).next()) == 1


def test_a_plan_takes_seeds_in_turn_and_each_run_once() -> None:
    cases = [Case({"x": x}, SMALL_SCENARIO.with_({"name": f"{x}"}), (4, 5)) for x in (1, 2)]
    plan = Plan(cases)
    jobs = plan.next()
    assert [(job.scenario.name, job.scenario.facts.seed) for job in jobs] == [
        ("1", 4), ("2", 4), ("1", 5), ("2", 5),
    ]  # fmt: skip
    assert plan.next() == []
    assert [job.twin for job in jobs] == [None] * 4
    empty = plan.results(None)
    assert len(empty) == 0 and empty.wanted == 4


@pytest.mark.parametrize(
    ("kinds", "offered"),
    [
        (["web"], True),
        (["transfers", "udp"], True),
        (["web", "bulk"], False),
        (["udp"], False),
    ],
)
def test_only_what_is_offered_whatever_the_queue_runs_uncongested_too(
    kinds: list[str], offered: bool
) -> None:
    fields: dict[str, dict[str, Any]] = {
        "web": {"users": 5},
        "transfers": {"size": "10kB", "rate": 2.0},
        "udp": {"rate": "1mbit"},
        "bulk": {},
    }
    scenario = json.loads(SMALL_SCENARIO.to_json())
    scenario["traffic"] = [{"kind": kind, "name": kind} | fields[kind] for kind in kinds]
    case = Case({QDISC: "codel"}, Scenario(scenario), (1,))
    jobs = Plan([case], twins=True).next()
    assert [job.label for job in jobs[:-1]] == ["uncongested"] * offered
    assert jobs[-1].twin == (jobs[0].key if offered else None)


def test_progress_counts_what_is_made_and_what_is_found(tmp_path: Path) -> None:
    store = Store(tmp_path)
    jobs = Plan([Case({"x": x}, SMALL_SCENARIO, (1, 2)) for x in (1, 2)]).next()
    seen: list[Progress] = []
    for reused in (0, 2):
        done: dict[str, RunResult] = {}
        work = _Work(jobs, store, seen.append, done)
        left = work.reuse()
        # Two cases of the same scenario are the same runs.
        assert (work.state.runs, len(left), work.state.total_s) == (2, 2 - reused, 8.0)
        assert (work.state.done, work.state.simulated_s) == (reused, 4.0 * reused)
        for job in left:
            work.state.under_way[job.key] = (1.0, 5)
            work.finished(job, job.make(store))
        state = work.state
        assert (state.done, state.reused, state.simulated_s, state.under_way) == (2, reused, 8, {})
        packets = [run.summary["bottleneck_packets"] for run in done.values()]
        assert len(done) == 2 and state.packets == (0 if reused else sum(packets)) >= 0
        work.look()
        assert seen[-1] is state
    assert packets[0] > 100 and len(list(tmp_path.glob("[!.]*"))) == 2


SMALL_SCENARIO = Scenario(SMALL)
