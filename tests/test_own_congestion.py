"""Congestion controls written in Python: the same traces as built-in ones, and clear errors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import sojourn
from sojourn.tcp import CongestionControl, Occasion, Window, register

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
from reno import Reno

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

FIELDS: dict[str, Any] = {
    "duration": "8s",
    "warmup": "1s",
    "bottleneck": {"rate": "10mbit", "delay": "5ms", "qdisc": {"kind": "droptail", "limit": 30}},
    "traffic": [
        {"kind": "bulk", "name": "bulk", "flows": 6, "rtt": "20ms..80ms", "start": "0s..1s"},
        {"kind": "transfers", "size": "20kB", "rate": 10, "rtt": "40ms"},
    ],
    "probes": {"traces": ["bulk.0", "bulk.3"]},
}


def scenario(congestion: object, **tcp: object) -> sojourn.Scenario:
    fields = {**FIELDS, "tcp": {"congestion": congestion, **tcp}}
    return sojourn.Scenario(fields, base_dir=EXAMPLES)


def over_quic(congestion: object) -> sojourn.Scenario:
    traffic = [{**group, "transport": "quic"} for group in FIELDS["traffic"]]
    fields = {**FIELDS, "quic": {"congestion": congestion}, "traffic": traffic}
    return sojourn.Scenario(fields, base_dir=EXAMPLES)


OVER = {
    "classic": lambda congestion: scenario(congestion, profile="classic"),
    "modern": lambda congestion: scenario(congestion, profile="modern"),
    "quic": over_quic,
}


@register("threshold")
class Threshold(Reno):
    """Leaves it to the sender to take the window to the threshold."""

    def on_loss(self, window: Window, at: Occasion) -> None:
        window.ssthresh = max(at.flight // 2, 2 * at.mss)
        self.acked = 0


@pytest.mark.parametrize("class_", ["reno.py:Reno", "threshold"])
@pytest.mark.parametrize("over", OVER)
def test_reno_in_python_gives_the_trace_of_the_built_in_one(over: str, class_: str) -> None:
    ours = sojourn.run(OVER[over]({"kind": "python", "class": class_}))
    theirs = sojourn.run(OVER[over]("reno"))
    assert ours.traces is not None and theirs.traces is not None
    assert len(ours.traces) > 500
    assert ours.traces.equals(theirs.traces)
    assert ours.summary["groups"] == theirs.summary["groups"]
    assert ours.summary["groups"][0]["retransmissions"] > 10


@register("stubborn")
class Stubborn(CongestionControl):
    """A window of nothing."""

    def on_ack(self, window: Window, at: Occasion) -> None:
        window.cwnd = -5

    def on_loss(self, window: Window, at: Occasion) -> None:
        window.cwnd = 0


def test_a_window_is_a_segment_at_least() -> None:
    result = sojourn.run(scenario({"kind": "python", "class": "stubborn"}))
    assert result.summary["groups"][0]["goodput_bps"] > 1e5


@register("listening")
class Listening(CongestionControl):
    """Remembers what it was shown."""

    def on_sample(self, window: Window, at: Occasion) -> None:
        _SHOWN.append((at.acked, at.rtt, at.rate))


_SHOWN: list[tuple[int, int, float]] = []


def test_control_class_receives_ack_samples() -> None:
    own = {"kind": "python", "class": "listening"}
    with pytest.raises(sojourn.Error, match="samples = true"):
        sojourn.run(scenario(own))
    sojourn.run(scenario({**own, "samples": True}, profile="modern"))
    assert sum(acked for acked, _, _ in _SHOWN) > 100_000
    assert any(rtt > 10_000_000 for _, rtt, _ in _SHOWN)
    assert any(rate > 0 for _, _, rate in _SHOWN)


@register("pausing")
class Pausing(Reno):
    """Remembers when it began again after a pause."""

    def on_restart(self, window: Window, at: Occasion) -> None:
        super().on_restart(window, at)
        _RESTARTS.append((at.now, at.srtt, at.mss, at.flight))


_RESTARTS: list[tuple[int, int, int, int]] = []


def test_a_restart_has_the_present_the_round_trip_and_the_segment() -> None:
    chunks = {"kind": "bulk", "rtt": "20ms", "rate": "500kbit", "chunk": "60kB"}
    fields = {**FIELDS, "tcp": {"congestion": {"kind": "python", "class": "pausing"}}}
    sojourn.run(sojourn.Scenario({**fields, "traffic": [chunks], "probes": {}}))
    times = [now for now, *_ in _RESTARTS]
    assert len(times) > 3 and times == sorted(times)
    for now, srtt, mss, flight in _RESTARTS:
        assert now > 900_000_000 and 20_000_000 < srtt < 100_000_000
        assert (mss, flight) == (1448, 0)


@register("emptied")
class Emptied(Reno):
    """Begins again with nothing, which is a segment."""

    def on_restart(self, window: Window, at: Occasion) -> None:
        window.cwnd = 0


def test_no_window_is_less_than_a_segment() -> None:
    chunks = {"kind": "bulk", "rtt": "20ms", "rate": "500kbit", "chunk": "60kB"}
    fields = {**FIELDS, "tcp": {"congestion": {"kind": "python", "class": "emptied"}}}
    found = sojourn.run(sojourn.Scenario({**fields, "traffic": [chunks], "probes": {}}))
    assert found.summary["groups"][0]["goodput_bps"] > 400e3


@register("failing")
class Failing(CongestionControl):
    def on_ack(self, window: Window, at: Occasion) -> None:
        raise RuntimeError("no idea")


@pytest.mark.parametrize(
    ("congestion", "words"),
    [
        ({"kind": "python", "class": "failing"}, r"test_own_congestion.py:\d+: .*no idea"),
        ({"kind": "python", "class": "codel.py:CoDel"}, "not a subclass of sojourn.tcp"),
        ({"kind": "python", "class": "reno.py:Renault"}, "there is no Renault in reno.py"),
        ({"kind": "python", "class": ""}, "name the class"),
        ({"kind": "python", "class": "reno.py:Reno", "with": {"b": 1}}, "with.b"),
    ],
)
def test_invalid_control_class_error_names_method(congestion: object, words: str) -> None:
    with pytest.raises(sojourn.Error, match=words):
        sojourn.run(scenario(congestion))
