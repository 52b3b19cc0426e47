"""Logs of flows: every record against the definitions of docs/reference/qlog.md."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cddl import Schema
from documents import ROOT
from sojourn import Scenario, run
from sojourn.errors import ScenarioError

TYPES = {
    "quic:parameters_set": "QUICParametersSet",
    "quic:recovery_parameters_set": "QUICRecoveryParametersSet",
    "quic:packet_sent": "QUICPacket",
    "quic:packet_received": "QUICPacket",
    "quic:packet_dropped": "QUICPacketDropped",
    "quic:udp_datagrams_sent": "QUICDatagrams",
    "quic:udp_datagrams_received": "QUICDatagrams",
    "quic:packet_lost": "QUICPacketLost",
    "quic:recovery_metrics_updated": "QUICRecoveryMetricsUpdated",
    "quic:congestion_state_updated": "QUICCongestionStateUpdated",
    "quic:connection_closed": "QUICConnectionClosed",
    "tcp:parameters_set": "TCPParametersSet",
    "tcp:packet_sent": "TCPPacketSent",
    "tcp:packet_received": "TCPPacketReceived",
    "tcp:packet_lost": "TCPPacketLost",
    "tcp:recovery_metrics_updated": "TCPRecoveryMetricsUpdated",
    "tcp:congestion_state_updated": "TCPCongestionStateUpdated",
    "tcp:connection_closed": "TCPConnectionClosed",
    "rtp:parameters_set": "RTPParametersSet",
    "rtp:packet_sent": "RTPPacket",
    "rtp:packet_received": "RTPPacket",
    "rtp:feedback_sent": "RTPFeedback",
    "rtp:feedback_received": "RTPFeedback",
    "rtp:packet_lost": "RTPPacketLost",
    "rtp:recovery_metrics_updated": "RTPRecoveryMetricsUpdated",
    "rtp:congestion_state_updated": "RTPCongestionStateUpdated",
}
"""The type of the data of each event that there is."""

SCENARIO = """
duration = "20s"
seed = 2
warmup = "1s"
[bottleneck]
rate = "4mbit"
qdisc = { kind = "red", min_th = 5, max_th = 15, ecn = true, limit = 30 }
[[traffic]]
kind = "bulk"
name = "quic"
rtt = "30ms..60ms"
flows = 2
transport = "quic"
quic.ecn = true
[[traffic]]
kind = "bulk"
name = "short"
rtt = "50ms"
size = "200kB"
repeat = true
transport = "quic"
quic.zero_rtt = true
[[traffic]]
kind = "bulk"
name = "tcp"
rtt = "40ms"
tcp = { profile = "modern", ecn = true, accecn = true }
[[traffic]]
kind = "bulk"
name = "classic"
rtt = "40ms"
size = "100kB"
repeat = true
tcp = { profile = "classic" }
[[traffic]]
kind = "call"
name = "gcc"
rtt = "40ms"
[[traffic]]
kind = "call"
name = "scream"
control = "scream"
ecn = "ect1"
rtt = "40ms"
[probes]
qlog = ["quic.1", "short.0", "tcp.0", "classic.0", "gcc.0", "scream.0"]
"""


def schema() -> Schema:
    """What the page says of the file and of its events."""
    page = (ROOT / "docs/reference/qlog.md").read_text(encoding="utf-8")
    return Schema("\n".join(re.findall(r"^```cddl\n(.*?)^```", page, re.M | re.S)))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """The records of each file."""
    folder = tmp_path_factory.mktemp("logs")
    run(Scenario.from_toml(SCENARIO), out=folder / "run")
    return {file.name: records(file) for file in sorted((folder / "run").glob("*.sqlog"))}


def records(file: Path) -> list[dict[str, Any]]:
    first, *rest = file.read_text(encoding="utf-8").split("\x1e")
    assert first == ""
    return [json.loads(record) for record in rest]


def test_every_record_is_what_the_page_says(logs: dict[str, list[dict[str, Any]]]) -> None:
    assert list(logs) == [
        f"{flow}.{end}.sqlog"
        for flow in ("classic.0", "gcc.0", "quic.1", "scream.0", "short.0", "tcp.0")
        for end in ("client", "server")
    ]
    rules = schema()
    seen: Counter[str] = Counter()
    for name, (head, *events) in logs.items():
        assert rules.faults("Head", head) == [], name
        for event in events:
            assert rules.faults("Event", event | {"data": {}}) == [], (name, event)
            assert rules.faults(TYPES[event["name"]], event["data"]) == [], (name, event)
            seen[event["name"]] += 1
    assert seen.keys() == TYPES.keys(), "every event that there is was checked"


def test_every_event_is_documented_in_the_namespace_of_its_file(
    logs: dict[str, list[dict[str, Any]]],
) -> None:
    page = (ROOT / "docs/reference/qlog.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in TYPES if name.startswith("quic:"))
    assert all(f"{rule} = " in page for rule in TYPES.values() if rule.startswith(("TCP", "RTP")))
    for head, *events in logs.values():
        (uri,) = head["trace"]["event_schemas"]
        assert f"`{uri}`" in page
        assert {event["name"].partition(":")[0] for event in events} == {uri.rpartition(":")[2]}
    states = {
        event["data"]["new"]
        for _, *events in logs.values()
        for event in events
        if event["name"].endswith(":congestion_state_updated")
    }
    assert len(states) > 2 and all(f"`{state}`" in page for state in states)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"packet": 1}, "packet is unknown"),
        ({"header": None}, "no map"),
        ({"header": {"packet_number": 1}}, "packet_type is missing"),
        ({"header": {"packet_type": "2RTT", "packet_number": 1}}, "fits no choice"),
        ({"header": {"packet_type": "1RTT", "packet_number": -1}}, "is not uint"),
        (
            {"header": {"packet_type": "1RTT", "packet_number": 1, "packet_number_length": 256}},
            "is not .size 1",
        ),
        ({"raw": {"length": 1.5}}, "is not uint"),
        ({"frames": [{"frame_type": "stream"}]}, "fits no choice"),
        ({"frames": [{"frame_type": "ack", "acked_ranges": [[1, 2, 3]]}]}, "fits no choice"),
    ],
)
def test_what_the_page_does_not_allow_is_found(
    logs: dict[str, list[dict[str, Any]]], change: dict[str, Any], said: str
) -> None:
    sent = next(
        event["data"]
        for event in logs["quic.1.client.sqlog"][1:]
        if event["name"] == "quic:packet_sent"
    )
    rules = schema()
    assert rules.faults("QUICPacket", sent) == []
    wrong = copy.deepcopy(sent) | change
    (fault,) = rules.faults("QUICPacket", wrong)
    assert said in fault


def test_flows_that_cannot_be_logged_are_named() -> None:
    wrong = SCENARIO.replace('"tcp.0"', '"tcp.1"')
    with pytest.raises(ScenarioError, match=r'probes\.qlog\[2\]: "tcp\.1": the group has 1 member'):
        Scenario.from_toml(wrong)
    pings = SCENARIO + '[[traffic]]\nkind = "ping"\nname = "ping"\n'
    with pytest.raises(ScenarioError, match=r'probes\.qlog\[0\]: "ping\.0".*call'):
        Scenario.from_toml(pings.replace('["quic.1"', '["ping.0"'))
