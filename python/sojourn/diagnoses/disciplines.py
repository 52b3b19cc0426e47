"""Diagnoses of how a queue discipline is set."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sojourn._engine import defaults, nyquist, quantity
from sojourn.diagnoses.facts import PASSIVE, Facts, Group, seconds
from sojourn.diagnoses.finding import Finding
from sojourn.diagnoses.remedies import DESIGNS
from sojourn.errors import Error
from sojourn.formatting import trimmed

# Disciplines whose gains stay as they are set, with a rule that makes them for a link. ARED moves
# its own, CoDel has none, and a table has no linear model.
_FIXED_GAINS = DESIGNS.keys() - {"ared", "codel", "pi_table"}


def ecn_on_one_side(facts: Facts) -> Iterator[Finding]:
    """A discipline would mark, but no host asks for it, or the other way round.

    A mark needs both: a discipline with `ecn = true`, and hosts with `tcp.ecn = true`, or
    `quic.ecn = true`. With one of them alone packets are dropped as without ECN.
    """
    hosts = any(group.ecn for group in facts.groups)
    for one in facts.disciplines:
        own = not json.loads(defaults("qdisc", one.kind)).get("ecn")
        if own and one.settings.get("ecn") and not hosts:
            yield Finding(
                f"{one.place}.ecn",
                "the discipline marks, but no host takes part in ECN: nothing is marked",
                _with_ecn(facts.groups),
            )
    asked = any(group.connects and group.asks_ecn for group in facts.groups)
    can = [one for one in facts.disciplines if "ecn" in one.settings]
    active = [one for one in facts.disciplines if one.kind not in PASSIVE]
    marks = any(one.settings["ecn"] for one in can)
    if asked and can and len(can) == len(active) and not marks:
        yield Finding(
            f"{can[0].place}.ecn",
            "hosts take part in ECN, but no discipline marks: packets are dropped",
            f"set {can[0].place}.ecn = true",
        )


def _with_ecn(groups: list[Group]) -> str:
    """What makes hosts take part in ECN: their connections, or else their datagrams."""
    transports = dict.fromkeys(group.transport for group in groups if group.connects)
    if not transports:
        return f'set {groups[0].place}.ecn = "ect0"'
    return "set " + " and ".join(f"{transport}.ecn = true" for transport in transports)


def target_above_interval(facts: Facts) -> Iterator[Finding]:
    """CoDel's target is not below its interval.

    The interval is the time that the least sojourn time may be above the target; RFC 8289 section
    4.4 has a target of 5 to 10 % of the interval. A longer target cannot be seen within an
    interval.
    """
    for one in facts.disciplines:
        target, interval = one.settings.get("target"), one.settings.get("interval")
        if isinstance(target, str) and isinstance(interval, str):
            least, most = seconds(target), seconds(interval)
            if least >= most:
                yield Finding(
                    f"{one.place}.target",
                    f"a target of {target} is not below the interval of {interval}: the "
                    "discipline is not CoDel's any more",
                    "make target 5 to 10 % of interval",
                    {"target_s": least, "interval_s": most},
                )


# Of each discipline the settings that count only where another one has a value, or is given.
_COUNTS_WITH: dict[str, dict[str, tuple[str, object]]] = {
    "tbf": {"peak_burst": ("peak_rate", ...)},
    "fq_codel": {"ce_threshold_selector": ("ce_threshold", ...)},
    "pi2": {"coupling": ("scalable", True)},
    "dualpi2": {
        "min_th": ("marking", "ramp"),
        "max_th": ("marking", "ramp"),
        "step_th": ("marking", "step"),
        "classic_weight": ("scheduler", "wrr"),
        "time_shift": ("scheduler", "time_shifted"),
    },
}


def setting_without_effect(facts: Facts) -> Iterator[Finding]:
    """A setting of a discipline counts only with another one, which is not there.

    The depth of TBF's second bucket needs `peak_rate`, DualPI2's `step_th` needs
    `marking = "step"`. The run is the same without it.
    """
    for one in facts.disciplines:
        if one.kind not in _COUNTS_WITH:
            continue
        default = json.loads(defaults("qdisc", one.kind))
        for name, (other, value) in _COUNTS_WITH[one.kind].items():
            has = one.settings.get(other)
            lacks = has is None if value is ... else has != value
            if lacks and one.settings.get(name) != default.get(name):
                needed = other if value is ... else f"{other} = {json.dumps(value)}"
                yield Finding(
                    f"{one.place}.{name}",
                    f"it counts only with {needed}: nothing follows from it",
                    f"leave it out, or set {needed}",
                )


def unstable_gains(facts: Facts) -> Iterator[Finding]:
    """The gains are made for another link: the loop is unstable.

    The linear model of the scenario's long flows under this discipline has a negative phase
    margin: the queue swings between empty and full. It is a model of many flows with one round
    trip, so it is asked only of a dumbbell with long flows.
    """
    one = facts.qdisc
    if one is None or one.kind not in _FIXED_GAINS or not facts.constant:
        return
    try:
        margin = json.loads(nyquist(facts.core))["phase_margin_deg"]
    except Error:
        return
    if margin is not None and margin < 0:
        yield Finding(
            one.place,
            f"the linear model of {one.kind} with this link and these flows has a phase margin of "
            f"{margin:.0f}°: the queue oscillates",
            f"take the gains that `sojourn design {DESIGNS[one.kind]}` gives for this link",
            {"phase_margin_deg": margin},
        )


def shaper_above_link(facts: Facts) -> Iterator[Finding]:
    """A shaper lets more pass than its link sends.

    CAKE's `bandwidth` or TBF's `rate` is above that of the link, where packets of mean size are
    counted with what the shaper and the link add to them: it never holds one back. Where the
    link is another device's, such as a modem's, packets wait in that, and not in the discipline.
    Nothing is said where the rate of the link changes.
    """
    for one in facts.queues:
        name = one.at.idle_shaper(one.settings)
        varies = one.at.fields.get("docsis") or one.at.fields.get("autorate")
        capacity = facts.constant_rate(one.link)
        if name is None or capacity is None or varies or facts.sets(one.at.place_of("qdisc")):
            continue
        rate = float(quantity("rate", one.settings[name]))
        remedy = f"set {name} below the link's rate, or leave it out"
        yield Finding(
            f"{one.place}.{name}",
            f"a {name} of {trimmed(rate / 1e6, 6)} Mb/s lets more pass than a link of "
            f"{trimmed(capacity / 1e6, 6)} Mb/s sends: the shaper holds nothing back",
            remedy if one.own else f"give the way back a qdisc of its own: {remedy}",
            {"shaper_bps": rate, "rate_bps": capacity},
        )


EARLY = (
    ecn_on_one_side,
    target_above_interval,
    setting_without_effect,
    unstable_gains,
    shaper_above_link,
)
