"""Disciplines without classes as Linux's ``tc`` words them, and what Linux does otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sojourn._engine import resolved
from sojourn.deploy.burst import red_burst
from sojourn.deploy.errors import DeployError
from sojourn.quantities import quantity, time
from sojourn.quantities import rate as rate_text

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Place:
    """Where a discipline is put."""

    rate_bps: float
    mean_packet: int
    field: str
    """Its name in errors: ``bottleneck.qdisc``."""


@dataclass(frozen=True)
class Leaf:
    """``words`` follow ``tc qdisc replace dev DEV parent …``."""

    words: str
    differences: tuple[str, ...] = ()
    """What Linux does otherwise than the scenario says."""
    needs: str = ""
    """What Linux it takes, if not any."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What its user has to know."""
        return (self.needs, *self.differences) if self.needs else self.differences


# What Linux counts where a length in packets is asked for without a limit.
_UNLIMITED = 1_000_000
# Linux scales PIE's alpha and beta by 16 and takes whole numbers up to 32.
_SIXTEENTH, _MOST = 16, 32
_MOST_IN_CHOKE = 128 * 1024 - 1


def leaf(qdisc: Fields, place: Place) -> Leaf:
    """The words for a discipline.

    Raises:
        DeployError: If Linux has no such discipline, or cannot take a value.
    """
    kind = qdisc["kind"]
    write = _KINDS.get(kind)
    if write is None:
        why = _ABSENT.get(kind, "Linux has no such discipline")
        raise DeployError(
            f"{place.field} = {kind}: {why}; there are commands for {', '.join(_KINDS)} and, in "
            "no other discipline, for prio, drr, cbq, tbf, pi and rem"
        )
    if qdisc.get("ecn") == "ect0":
        raise DeployError(
            f'{place.field}.ecn = "ect0": where Linux marks it marks ECT(1) too; write true or '
            "false, or write true and let a rule before the queue take ECT(1) away (nft: ip ecn "
            "ect1 ip ecn set not-ect), which hides L4S from the queues behind it too"
        )
    settings = _Settings(_resolved(qdisc, place))
    made = write(settings, place)
    usual = _resolved({"kind": kind}, place)
    lost = [each for each in settings.keys() - settings.used if settings[each] != usual.get(each)]
    own = [
        f"tc has no word for {each} = {settings[each]}: Linux has its way." for each in sorted(lost)
    ]
    return replace(made, differences=(*made.differences, *own))


class _Settings(dict[str, Any]):
    """A discipline's settings, and which of them were asked for."""

    def __init__(self, settings: Fields) -> None:
        super().__init__(settings)
        self.used = {"kind"}

    def __getitem__(self, name: str) -> Any:
        self.used.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.used.add(name)
        return super().get(name, default)


def _resolved(qdisc: Fields, place: Place) -> Fields:
    """All settings, those too that the discipline works out from its link."""
    text = json.dumps(dict(qdisc))
    found: Fields = json.loads(resolved(text, place.rate_bps, place.mean_packet))
    return found


_ABSENT = {
    "pi": "Linux has no PI; as one in BPF it can only stand by itself, not in a class",
    "pi_table": "Linux has no PI; pie is its kin",
    "rem": "Linux has no REM; as one in BPF it can only stand by itself, not in a class",
    "rate": "Linux has nothing that marks by the arrival rate alone",
    "pi2": "Linux has PI2 only as the classic queue of dualpi2",
    "avq": "Linux has no AVQ",
    "proportional": "Linux has no proportional controller; red is the nearest",
    "feng_red": "Linux has of the adaptive REDs only Floyd's, ared",
    "blue": "Linux has BLUE only for each flow, as sfb",
    "tbf": "HTB's burst is that of the whole link",
    "python": "what is written in Python runs in the simulator only",
}


def _time_s(place: Place, qdisc: Fields, name: str) -> float:
    return quantity(f"{place.field}.{name}", str(qdisc[name]), "time")


def _seconds(place: Place, qdisc: Fields, name: str) -> str:
    return time(_time_s(place, qdisc, name))


def _size(place: Place, qdisc: Fields, name: str) -> int:
    return round(quantity(f"{place.field}.{name}", str(qdisc[name]), "size"))


def _flag(word: str, on: object) -> str:
    return f" {word}" if on else ""


def _droptail(qdisc: Fields, place: Place) -> Leaf:
    if "limit_bytes" in qdisc:
        return Leaf(f"bfifo limit {_size(place, qdisc, 'limit_bytes')}")
    if "limit_time" in qdisc:
        size = round(_time_s(place, qdisc, "limit_time") * place.rate_bps / 8)
        return Leaf(f"bfifo limit {size}", ("The time is turned into bytes at the link's rate.",))
    return Leaf(f"pfifo limit {qdisc['limit']}")


def _averaging(qdisc: Fields, place: Place) -> tuple[str, float, list[str]]:
    """What RED and its kin have in common: limits in bytes, the weight as a burst."""
    wq = qdisc["wq"]
    burst, log = red_burst(wq, qdisc["min_th"])
    remarks = [
        f"The weight of a sample is 2^-{log}, {2.0**-log / wq - 1:+.1%} off; tc derives it from "
        "the burst and may call that large.",
    ]
    if qdisc.get("idle_decay", True):
        # HTB asks an empty queue for nothing, and only a question in vain begins an idle time.
        remarks.append(
            "Below HTB Linux does not notice idle times: the average falls with arriving packets "
            "only (idle_decay = false)."
        )
    if qdisc["spacing"] != "uniform":
        remarks.append(
            f'Linux spaces its hits uniformly, as spacing = "uniform": not "{qdisc["spacing"]}".'
        )
    if qdisc["min_queue"]:
        remarks.append("Linux hits packets however short the queue (min_queue = 0).")
    if qdisc.get("scale_by_size"):
        remarks.append("Linux takes packets of all sizes alike: there is no scale_by_size.")
    words = (
        f"avpkt {place.mean_packet} burst {burst} bandwidth {rate_text(place.rate_bps)}"
        f"{_flag('ecn', qdisc.get('ecn'))}"
    )
    return words, burst, remarks


def _red(qdisc: Fields, place: Place) -> Leaf:
    adaptive = qdisc["kind"] == "ared"
    words, burst, remarks = _averaging(qdisc, place)
    mean = place.mean_packet
    low, high = (round(qdisc[name] * mean) for name in ("min_th", "max_th"))
    limit = _holding(qdisc["limit"], burst, remarks) * mean
    if qdisc.get("gentle"):
        remarks.append("Linux is not gentle: above the upper threshold it drops everything.")
    if adaptive:
        remarks.append("Linux fixes bottom and top at 0.01 and 0.5.")
        tail = " adaptive"
    else:
        tail = f" probability {qdisc['max_p']:g}"
    # Linux marks above the upper threshold as well, unless told otherwise.
    hard = qdisc.get("ecn") and qdisc.get("ecn_drop_above_max")
    return Leaf(
        f"red limit {round(limit)} min {low} max {high} {words}{_flag('harddrop', hard)}{tail}",
        tuple(remarks),
    )


def _choke(qdisc: Fields, place: Place) -> Leaf:
    words, burst, remarks = _averaging(qdisc, place)
    words = words.replace(f"avpkt {place.mean_packet} ", "")
    low, high = round(qdisc["min_th"]), round(qdisc["max_th"])
    limit = min(_holding(qdisc["limit"], burst, remarks), _MOST_IN_CHOKE)
    return Leaf(
        f"choke limit {round(limit)} min {low} max {high} {words} probability {qdisc['max_p']:g}",
        tuple(remarks),
    )


def _holding(limit: float, burst: float, remarks: list[str]) -> float:
    """A limit in packets that holds the burst for which RED averages: ``tc`` wants no less."""
    if limit < burst:
        remarks.append(f"tc wants a limit of at least the burst, {burst:g} packets, not {limit:g}.")
    return max(limit, burst)


def _pie_words(qdisc: Fields, place: Place) -> Leaf:
    remarks = []
    whole = {}
    for name in ("alpha", "beta"):
        whole[name] = min(_MOST, round(qdisc[name] * _SIXTEENTH))
        if whole[name] == 0:
            raise DeployError(
                f"{place.field}.{name} = {qdisc[name]:g}: Linux takes sixteenths, so at least 1/32"
            )
        error = whole[name] / _SIXTEENTH / qdisc[name] - 1
        if abs(error) > 1e-9:
            remarks.append(f"Linux takes sixteenths: {name} is {error:+.1%} off.")
    words = (
        f"target {_seconds(place, qdisc, 'target')} tupdate {_seconds(place, qdisc, 'tupdate')} "
        f"alpha {whole['alpha']} beta {whole['beta']}{_flag('ecn', qdisc['ecn'])}"
        f"{_flag('bytemode', qdisc['scale_by_size'])}"
    )
    return Leaf(words, tuple(remarks))


def _pie(qdisc: Fields, place: Place) -> Leaf:
    common = _pie_words(qdisc, place)
    return Leaf(f"pie limit {min(qdisc['limit'], _UNLIMITED)} {common.words}", common.differences)


def _fq_pie(qdisc: Fields, place: Place) -> Leaf:
    common = _pie_words(qdisc, place)
    words = (
        f"fq_pie limit {qdisc['limit']} flows {qdisc['flows']} {common.words} "
        f"memory_limit {_size(place, qdisc, 'memory_limit')} "
        f"ecn_prob {round(qdisc['mark_ecn_th'] * 100)}{_quantum(qdisc)}"
    )
    return Leaf(words, common.differences)


def _quantum(qdisc: Fields) -> str:
    return f" quantum {qdisc['quantum']}" if "quantum" in qdisc else ""


def _codel(qdisc: Fields, place: Place) -> Leaf:
    return Leaf(
        f"codel limit {qdisc['limit']} target {_seconds(place, qdisc, 'target')} "
        f"interval {_seconds(place, qdisc, 'interval')} {'ecn' if qdisc['ecn'] else 'noecn'}"
        f"{_ce_threshold(qdisc, place)}"
    )


def _ce_threshold(qdisc: Fields, place: Place) -> str:
    if qdisc.get("ce_threshold") is None:
        return ""
    only = (
        " ce_threshold_selector 0x01/0x03" if qdisc.get("ce_threshold_selector") == "ect1" else ""
    )
    return f" ce_threshold {_seconds(place, qdisc, 'ce_threshold')}{only}"


def _fq_codel(qdisc: Fields, place: Place) -> Leaf:
    return Leaf(
        f"fq_codel limit {qdisc['limit']} flows {qdisc['flows']} "
        f"target {_seconds(place, qdisc, 'target')} "
        f"interval {_seconds(place, qdisc, 'interval')} "
        f"memory_limit {_size(place, qdisc, 'memory_limit')} "
        f"{'ecn' if qdisc['ecn'] else 'noecn'}{_ce_threshold(qdisc, place)}{_quantum(qdisc)}"
    )


def _sfq(qdisc: Fields, place: Place) -> Leaf:
    return Leaf(
        f"sfq limit {qdisc['limit']} flows {qdisc['flows']} divisor {qdisc['divisor']} "
        f"depth {qdisc['depth']}{_flag('headdrop', qdisc['head_drop'])}{_quantum(qdisc)}"
    )


def _cobalt(qdisc: Fields, place: Place) -> Leaf:
    interval = _seconds(place, qdisc, "interval")
    return Leaf(
        f"cake unlimited besteffort flowblind rtt {interval}",
        (
            "Linux has COBALT inside cake, here with one flow queue.",
            "cake takes its target as a twentieth of the interval.",
            "cake limits memory, not packets: limit is left out.",
        ),
    )


_ACK_FILTER = {"off": [], "normal": ["ack-filter"], "aggressive": ["ack-filter-aggressive"]}
_FRAMING = {"none": "noatm", "atm": "atm", "ptm": "ptm"}


def _cake(qdisc: Fields, place: Place) -> Leaf:
    rate = qdisc.get("bandwidth")
    words = ["cake", "unlimited"]
    if rate is not None:
        bps = quantity(f"{place.field}.bandwidth", str(rate), "rate")
        words[1] = f"bandwidth {rate_text(bps)}"
    words += ["autorate-ingress"] if qdisc["autorate_ingress"] else []
    words += [qdisc["tins"], qdisc["isolation"].replace("_", "-")]
    words += [f"rtt {_seconds(place, qdisc, 'rtt')}"]
    words += [f"overhead {qdisc['overhead']} mpu {qdisc['mpu']} {_FRAMING[qdisc['framing']]}"]
    words += ["ingress"] if qdisc["ingress"] else []
    words += _ACK_FILTER[qdisc["ack_filter"]]
    remarks = []
    if "memory_limit" in qdisc:
        words += [f"memlimit {_size(place, qdisc, 'memory_limit')}"]
        remarks += ["cake counts what packets occupy in memory: more than their bytes."]
    return Leaf(" ".join(words), tuple(remarks))


def _dualpi2(qdisc: Fields, place: Place) -> Leaf:
    remarks = []
    if qdisc["marking"] == "ramp":
        remarks.append("Linux marks L above a step, not along a ramp: the ramp's middle is taken.")
    step = _step_s(qdisc, place)
    return Leaf(
        f"dualpi2 limit {qdisc['limit']} target {_seconds(place, qdisc, 'target')} "
        f"tupdate {_seconds(place, qdisc, 'tupdate')} alpha {qdisc['alpha']:.6f} "
        f"beta {qdisc['beta']:.6f} coupling_factor {round(qdisc['coupling'])} "
        f"step_thresh {time(step)} "
        f"{'drop_on_overload' if qdisc['drop_on_overload'] else 'overflow'} "
        f"classic_protection {round(qdisc['classic_weight'] * 100)}%",
        tuple(remarks),
        needs="Needs Linux 6.17 and its iproute2.",
    )


def _step_s(qdisc: Fields, place: Place) -> float:
    """Above which sojourn time Linux's DualPI2 marks all of L."""

    if qdisc["marking"] == "ramp":
        return (_time_s(place, qdisc, "min_th") + _time_s(place, qdisc, "max_th")) / 2
    return _time_s(place, qdisc, "step_th")


def dualpi2_settings(qdisc: Fields, place: Place) -> dict[str, int | bool]:
    """What ``sch_dualpi2`` is told without ``tc``, in the units of linux/pkt_sched.h.

    Raises:
        DeployError: If Linux cannot take a value.
    """
    qdisc = _resolved(qdisc, place)

    def microseconds(name: str) -> int:
        return round(_time_s(place, qdisc, name) * 1e6)

    def hertz(name: str) -> int:
        scaled = round(float(qdisc[name]) * 256)
        if scaled < 1:
            raise DeployError(
                f"{place.field}.{name} = {qdisc[name]:g}: Linux counts it in units of 1/256 Hz, so "
                "it must be at least 1/512"
            )
        return scaled

    return {
        "limit": qdisc["limit"],
        "target_us": microseconds("target"),
        "tupdate_us": microseconds("tupdate"),
        "alpha": hertz("alpha"),
        "beta": hertz("beta"),
        "step_us": round(_step_s(qdisc, place) * 1e6),
        "coupling": round(qdisc["coupling"]),
        "drop_overload": qdisc["drop_on_overload"],
        "classic_percent": round(qdisc["classic_weight"] * 100),
    }


_KINDS: dict[str, Callable[[Fields, Place], Leaf]] = {
    "droptail": _droptail,
    "red": _red,
    "ared": _red,
    "choke": _choke,
    "pie": _pie,
    "fq_pie": _fq_pie,
    "codel": _codel,
    "fq_codel": _fq_codel,
    "sfq": _sfq,
    "cobalt": _cobalt,
    "cake": _cake,
    "dualpi2": _dualpi2,
}
