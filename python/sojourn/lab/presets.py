"""What the lab offers to begin with: for each a scenario, two sides, and what to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sojourn.scenario import Scenario

SIDES = ("A", "B")

Changes = dict[str, Any]


@dataclass(frozen=True)
class Preset:
    """An experiment: a scenario as TOML, and what tells the sides A and B apart."""

    name: str
    title: str
    about: str
    toml: str
    sides: Mapping[str, Changes]
    """Changes by dotted path, of each side."""
    common: Changes | None = None
    """Changes of both."""

    @property
    def base(self) -> Scenario:
        """The scenario with the changes of both sides."""
        return Scenario.from_toml(self.toml).with_(self.common or {})

    def scenario(self, side: str) -> Scenario:
        """The scenario of one side."""
        return self.base.with_(self.sides[side])


def _qdisc(**fields: Any) -> Changes:
    return {"bottleneck.qdisc": fields}


def _long_flows(rate: str, flows: int, rtt: str, *, profile: str = "modern") -> str:
    return f"""\
duration = "60s"
warmup = "10s"

[bottleneck]
rate = "{rate}"
delay = "5ms"
qdisc = {{ kind = "droptail", limit = 1000 }}

[tcp]
profile = "{profile}"
receive_window = "16MiB"

[[traffic]]
kind = "bulk"
name = "flows"
flows = {flows}
rtt = "{rtt}"
start = "0s..2s"
"""


_MICE = """
[[traffic]]
kind = "web"
name = "mice"
users = {users}
rtt = "20ms..120ms"
"""

_PAPER = """\
duration = "120s"
warmup = "40s"

[bottleneck]
rate = "15mbit"
delay = "5ms"
mean_packet = 500
qdisc = { kind = "droptail", limit = 800 }

[tcp]
profile = "classic"
mss = 460
receive_window = "4MiB"

[[traffic]]
kind = "bulk"
name = "flows"
flows = 60
rtt = "160ms..240ms"
start = "0s..10s"
"""

_FALLING = """\
duration = "80s"

[bottleneck]
rate = "100mbit"
delay = "10ms"
qdisc = "codel"
schedule = { kind = "steps", steps = [["10s", "10mbit"], ["30s", "1mbit"], ["60s", "100mbit"]] }
reverse = { rate = "100mbit", qdisc = "droptail" }

[tcp]
profile = "modern"

[[traffic]]
kind = "bulk"
name = "flows"
flows = 4
rtt = "60ms..120ms"
"""


_ARENAS = """\
duration = "60s"
warmup = "15s"

[bottleneck]
rate = "7.5mbit"
delay = "5ms"
mean_packet = 1000
qdisc = { kind = "droptail", limit = 180 }

[tcp]
profile = "classic"
mss = 960
receive_window = "1MiB"
""" + "".join(
    f"""
[[traffic]]
kind = "bulk"
name = "{name}"
flows = 4
rtt = "{rtt}"
start = "0s..2s"
"""
    for name, rtt in (("short", "30ms"), ("middle", "150ms"), ("long", "600ms"))
)
_ARENA_CLASSES = [
    {"name": name, "share": 0.333, "labels": [name], "qdisc": {"kind": "droptail", "limit": 60}}
    for name in ("short", "middle", "long")
]

_BROWSING = """\
duration = "60s"
warmup = "20s"

[bottleneck]
rate = "10mbit"
frame_overhead = 38
min_frame = 84
mean_packet = 500
qdisc = { kind = "droptail", limit = 240 }

[tcp]
profile = "classic"

[[traffic]]
kind = "web"
name = "users"
users = 1000
rtt = "10ms..150ms"
start = "0s..10s"
"""

_HOME = """\
duration = "60s"
warmup = "10s"

[bottleneck]
rate = "20mbit"
delay = "5ms"
qdisc = { kind = "droptail", limit_time = "200ms" }
reverse = { rate = "4mbit" }

[tcp]
profile = "modern"

[[traffic]]
kind = "bulk"
name = "download"
flows = 2
rtt = "30ms"

[[traffic]]
kind = "bulk"
name = "upload"
flows = 2
direction = "reverse"
rtt = "30ms"
""" + _MICE.format(users=10)

_L4S = """\
duration = "60s"
warmup = "10s"

[bottleneck]
rate = "40mbit"
delay = "5ms"
qdisc = "dualpi2"

[tcp]
profile = "modern"

[[traffic]]
kind = "bulk"
name = "prague"
rtt = "20ms"
tcp = { congestion = "prague", ecn = true }

[[traffic]]
kind = "bulk"
name = "cubic"
rtt = "20ms"
tcp = { congestion = "cubic", ecn = true }
"""

_UNRESPONSIVE = """
[[traffic]]
kind = "udp"
name = "blind"
rate = "4mbit"
packet = "1000B"
"""


@lru_cache(maxsize=1)
def all_presets() -> tuple[Preset, ...]:
    """All of them, the one that the page opens with first."""
    droptail = {"kind": "droptail", "limit": 1000}
    return (
        Preset(
            "good-bad",
            "Good queue, bad queue",
            "Ten long flows and some web users. Both disciplines keep the link busy; one of them "
            "lets a queue stand for nothing. Look at the lowest point of each queue.",
            _long_flows("20mbit", 10, "20ms..120ms") + _MICE.format(users=20),
            {"A": {"bottleneck.qdisc": droptail}, "B": _qdisc(kind="codel")},
        ),
        Preset(
            "two-views",
            "Two views of a queue",
            "One long transfer, 10 Mb/s, 80 ms: the queue in packets beside the time spent in it.",
            _long_flows("10mbit", 1, "80ms") + _MICE.format(users=10),
            {"A": _qdisc(kind="droptail", limit=200), "B": _qdisc(kind="codel")},
        ),
        Preset(
            "mis-scaled",
            "PI with the mis-scaled gain",
            "The same controller twice; on side A the gains were worked out per byte and used per "
            "packet, which makes them 500 times too small. The queue knows no rest.",
            _PAPER,
            {
                "A": _qdisc(kind="pi", a=3.64e-8, b=3.63e-8, qref=200, limit=800),
                "B": _qdisc(kind="pi", a=1.822e-5, b=1.816e-5, qref=200, limit=800),
            },
        ),
        Preset(
            "pi-red",
            "PI against RED",
            "Sixty flows on the example of the PI paper: RED's queue depends on the load, PI's "
            "returns to its setpoint.",
            _PAPER,
            {
                "A": _qdisc(kind="red", min_th=150, max_th=250, max_p=0.1, limit=800),
                "B": _qdisc(kind="pi", qref=200, limit=800),
            },
        ),
        Preset(
            "round-trip",
            "Round trip and stability",
            "PI was designed for 250 ms. Move the round trip to 600 ms and watch the margins and "
            "the queue; side B was designed for it.",
            _PAPER.replace('"160ms..240ms"', '"400ms..600ms"'),
            {
                "A": _qdisc(kind="pi", qref=200, limit=800),
                "B": _qdisc(kind="pi", a=1.3e-6, b=1.298e-6, qref=200, limit=800),
            },
        ),
        Preset(
            "queue-rate",
            "Round trip and stability: queue against rate feedback",
            "Side A marks by the queue's length, side B by the rate of arrivals. Make the round "
            "trip longer: PI's queue swings more about its setpoint, AVQ's gets shorter and the "
            "link less busy.",
            _PAPER,
            {
                "A": _qdisc(kind="pi", qref=200, ecn=True, limit=800),
                "B": _qdisc(kind="avq", ecn=True, limit=800),
            },
            common={"tcp.ecn": True},
        ),
        Preset(
            "elephant",
            "One elephant among mice",
            "A single long transfer beside many short ones. FQ-CoDel gives each flow a queue of "
            "its own: the mice do not wait behind the elephant.",
            _long_flows("10mbit", 1, "60ms") + _MICE.format(users=60),
            {"A": _qdisc(kind="codel"), "B": _qdisc(kind="fq_codel")},
        ),
        Preset(
            "web",
            "Web users on a full link",
            "Users of 2003 with windows of 16 kB, after the SIGCOMM 2003 study at a tenth of its "
            "rate. Move the number of users; switch ECN on on both sides.",
            _BROWSING,
            {
                "A": _qdisc(kind="ared", min_th=12, max_th=36),
                "B": _qdisc(kind="pi", qref=24, queue_in_bytes=True),
            },
        ),
        Preset(
            "falling-rate",
            "A link whose rate falls",
            "Four long flows on a link that falls from 100 to 10 Mb/s at 10 s and to 1 Mb/s at "
            "30 s, and comes back at 60 s. A queue limited by its length is ten times as long "
            "in time at a tenth of the rate; one that goes by the time packets wait is not.",
            _FALLING,
            {"A": _qdisc(kind="droptail", limit=834), "B": _qdisc(kind="codel")},
        ),
        Preset(
            "scalable",
            "Scalable TCP on a fast long link",
            "Four flows at 200 Mb/s over 120 ms. After a loss traditional TCP needs minutes, "
            "Scalable TCP seconds.",
            _long_flows("200mbit", 4, "120ms", profile="classic"),
            {"A": {"tcp.congestion": "reno"}, "B": {"tcp.congestion": "scalable"}},
            common=_qdisc(kind="droptail", limit=400),
        ),
        Preset(
            "laws",
            "Reno and CUBIC after a loss",
            "Two flows at 100 Mb/s over 100 ms and a short queue. Reno comes back by a segment a "
            "round trip, CUBIC along its cubic: look at the utilisation.",
            _long_flows("100mbit", 2, "100ms"),
            {"A": {"tcp.congestion": "reno"}, "B": {"tcp.congestion": "cubic"}},
            common=_qdisc(kind="droptail", limit=200),
        ),
        Preset(
            "arenas",
            "Three arenas, one link",
            "Four flows each over 30, 150 and 600 ms. In one queue those with the short round trip "
            "take three quarters; class-based queueing gives every arena a third.",
            _ARENAS,
            {
                "A": _qdisc(kind="droptail", limit=180),
                "B": _qdisc(kind="cbq", borrowing="formal", classes=_ARENA_CLASSES),
            },
        ),
        Preset(
            "red-swings",
            "RED that swings",
            "RED with the thresholds of the first fluid model of TCP and AQM: a steep profile over "
            "a slow average. The queue swings between empty and twice the upper threshold; a wide "
            "profile calms it. The dashed line is the model's queue: does it swing too?",
            _PAPER,
            {
                "A": _qdisc(kind="red", min_th=150, max_th=200, max_p=1.0, wq=1e-4, limit=800),
                "B": _qdisc(kind="red", min_th=50, max_th=600, max_p=0.1, wq=1e-5, limit=800),
            },
        ),
        Preset(
            "red-web",
            "RED is hard to tune",
            "Web users on 10 Mb/s, RED beside a plain queue. Move the thresholds and the maximal "
            "probability: is there a setting that makes pages come sooner?",
            _BROWSING,
            {
                "A": _qdisc(kind="droptail", limit=240),
                "B": _qdisc(kind="red", min_th=5, max_th=90, max_p=0.1),
            },
        ),
        Preset(
            "hardware",
            "PI from a table of sixteen",
            "A router with thousands of queues has no room for exact probabilities. Side B takes "
            "them from sixteen entries: does the queue notice?",
            _PAPER,
            {
                "A": _qdisc(kind="pi", qref=200, limit=800),
                "B": _qdisc(kind="pi_table", qref=200, limit=800),
            },
        ),
        Preset(
            "unresponsive",
            "A sender that does not listen",
            "Four long flows beside 4 Mb/s of datagrams that ignore losses. One queue for all lets "
            "them take what they want; a queue for each flow does not.",
            _long_flows("10mbit", 4, "40ms") + _UNRESPONSIVE,
            {"A": _qdisc(kind="codel"), "B": _qdisc(kind="fq_codel")},
        ),
        Preset(
            "home-line",
            "A home line",
            "Two downloads, two uploads and people with web pages on 20 and 4 Mb/s, with plain "
            "buffers of 200 ms and with FQ-CoDel, at both ends of the line.",
            _HOME,
            {
                "A": _qdisc(kind="droptail", limit_time="200ms"),
                "B": _qdisc(kind="fq_codel"),
            },
        ),
        Preset(
            "l4s",
            "L4S beside CUBIC",
            "One flow of Prague and one of CUBIC with ECN. In one queue that marks, CUBIC gets "
            "little; DualPI2 gives Prague a queue of its own, a short one, and couples both.",
            _L4S,
            {"A": _qdisc(kind="codel", ecn=True), "B": _qdisc(kind="dualpi2")},
        ),
    )
