"""Disciplines without classes as Linux's ``tc`` words them, and what Linux does otherwise."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from sojourn._engine import resolved
from sojourn.deploy import fixed, steps
from sojourn.deploy.burst import check_slope, weight
from sojourn.deploy.errors import DeployError
from sojourn.deploy.steps import off
from sojourn.quantities import quantity

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
# DualPI2's gains are whole multiples of this.
_GAIN_STEP = 1 / 256
# What sch_sfq.c cuts them down to (SFQ_MAX_DEPTH, SFQ_MAX_FLOWS), in silence.
_MOST_IN_SFQ = {"depth": 127, "flows": 65_408}
# tc and Linux count bytes in 32 bits.
_MOST_BYTES = 2**32 - 1


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
    settings = _Settings(settings_of(qdisc, place))
    made = write(settings, place)
    usual = settings_of({"kind": kind}, place)
    unsaid = settings.keys() - settings.used
    own = fixed.remarks(kind, dict(settings), usual, unsaid)
    return replace(made, differences=(*made.differences, *own))


class _Settings(dict[str, Any]):
    """A discipline's settings, and which of them were asked for."""

    def __init__(self, settings: Fields) -> None:
        super().__init__(settings)
        # What a preset sets is among the settings.
        self.used = {"kind", "preset"}

    def __getitem__(self, name: str) -> Any:
        self.used.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.used.add(name)
        return super().get(name, default)


def settings_of(qdisc: Fields, place: Place) -> Fields:
    """All settings of a discipline, including those that it works out from its link."""
    text = json.dumps(dict(qdisc))
    found: Fields = json.loads(resolved(text, place.rate_bps, place.mean_packet))
    return found


_ABSENT = {
    "pi": "Linux has no PI; as one in BPF it can only stand by itself, not in a class",
    "pi_table": "Linux has no PI; pie is the closest",
    "rem": "Linux has no REM; as one in BPF it can only stand by itself, not in a class",
    "rate": "Linux has nothing that marks by the arrival rate alone",
    "pi2": "Linux has PI2 only as the classic queue of dualpi2",
    "avq": "Linux has no AVQ",
    "proportional": "Linux has no proportional controller; red is the nearest",
    "feng_red": "Of the adaptive REDs, Linux has only Floyd's, ared",
    "blue": "Linux has BLUE only for each flow, as sfb",
    "tbf": "HTB's burst is that of the whole link",
    "python": "what is written in Python runs in the simulator only",
}


def _time_s(place: Place, qdisc: Fields, name: str, *, zero: bool = False) -> float:
    return quantity(f"{place.field}.{name}", str(qdisc[name]), "time", zero=zero)


def _time(place: Place, qdisc: Fields, name: str, remarks: list[str]) -> str:
    return steps.time(f"{place.field}.{name}", _time_s(place, qdisc, name), remarks)


def _size(place: Place, qdisc: Fields, name: str) -> int:
    size = round(quantity(f"{place.field}.{name}", str(qdisc[name]), "size"))
    return _in_32_bits(place, qdisc, name, size, f"{_MOST_BYTES}B")


def _in_32_bits(place: Place, qdisc: Fields, name: str, size: int, most: str) -> int:
    if size > _MOST_BYTES:
        raise DeployError(
            f'{place.field}.{name} = "{qdisc[name]}": Linux counts bytes in 32 bits; must be at '
            f'most "{most}"'
        )
    return size


def _flag(word: str, on: object) -> str:
    return f" {word}" if on else ""


_FRAMES = "Linux counts Ethernet's header in the limit too, 14 bytes a packet."


def _droptail(qdisc: Fields, place: Place) -> Leaf:
    if "limit_bytes" in qdisc:
        return Leaf(f"bfifo limit {_size(place, qdisc, 'limit_bytes')}", (_FRAMES,))
    if "limit_time" in qdisc:
        per_second = place.rate_bps / 8
        size = round(_time_s(place, qdisc, "limit_time") * per_second)
        most = _MOST_BYTES / per_second
        whole = f"{math.floor(most)}s" if most >= 1 else f"{math.floor(most * 1e6)}us"
        _in_32_bits(place, qdisc, "limit_time", size, whole)
        return Leaf(
            f"bfifo limit {size}", ("The time is turned into bytes at the link's rate.", _FRAMES)
        )
    return Leaf(f"pfifo limit {qdisc['limit']}")


@dataclass(frozen=True)
class _Average:
    """What RED and its variants have in common, in the unit in which Linux counts."""

    low: int
    high: int
    burst: int
    words: str
    remarks: list[str]


def _averaging(qdisc: Fields, place: Place, unit: int) -> _Average:
    """Thresholds, and the weight as a burst.

    Args:
        qdisc: Its settings.
        place: Where it is put.
        unit: What Linux counts a packet as: its bytes, or 1.
    """
    low, high = (round(qdisc[name] * unit) for name in ("min_th", "max_th"))
    burst, log = weight(qdisc, place.field, unit, low, high)
    check_slope(qdisc, place.field, unit, high - low)
    remarks = [
        f"The weight of a sample is 2^-{log}, {2.0**-log / qdisc['wq'] - 1:+.1%} off; tc derives "
        "it from the burst and may call that large.",
    ]
    if qdisc.get("idle_decay", True):
        # HTB asks an empty queue for nothing, and only an unanswered request begins an idle time.
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
    # It is for idle times alone, and of no more than 32 bits.
    bandwidth = steps.rate(place.field, min(place.rate_bps, 8 * _MOST_BYTES), [])
    words = f"burst {burst} bandwidth {bandwidth}{_flag('ecn', qdisc.get('ecn'))}"
    return _Average(low, high, burst, words, remarks)


def _red(qdisc: Fields, place: Place) -> Leaf:
    adaptive = qdisc["kind"] == "ared"
    mean = place.mean_packet
    average = _averaging(qdisc, place, mean)
    remarks = average.remarks
    limit = _holding(qdisc["limit"], average.burst, _MOST_BYTES // mean, remarks) * mean
    if qdisc.get("gentle"):
        remarks.append("Linux is not gentle: above the upper threshold it drops everything.")
    if adaptive:
        # They are in the thresholds.
        qdisc.get("target_delay")
    # Linux marks above the upper threshold as well, unless told otherwise.
    hard = qdisc.get("ecn_drop_above_max") and qdisc.get("ecn")
    return Leaf(
        f"red limit {limit} min {average.low} max {average.high} avpkt {mean} {average.words}"
        f"{_flag('harddrop', hard)} probability {qdisc['max_p']:g}{_flag('adaptive', adaptive)}",
        tuple(remarks),
    )


def _choke(qdisc: Fields, place: Place) -> Leaf:
    average = _averaging(qdisc, place, 1)
    low, high, remarks = average.low, average.high, average.remarks
    for name, written in (("min_th", low), ("max_th", high)):
        remarks += off("whole packets", name, written, qdisc[name])
    if not low < high <= _MOST_IN_CHOKE:
        raise DeployError(
            f"{place.field}.max_th = {qdisc['max_th']:g}: CHOKe counts whole packets in Linux; "
            f"must be {low + 1} to {_MOST_IN_CHOKE}"
        )
    limit = _holding(qdisc["limit"], average.burst, _MOST_IN_CHOKE, remarks)
    if limit < high:
        remarks.append(f"tc wants a limit of at least max_th, {high} packets, not {limit}.")
    return Leaf(
        f"choke limit {max(limit, high)} min {low} max {high} {average.words} "
        f"probability {qdisc['max_p']:g}",
        tuple(remarks),
    )


def _holding(limit: int, burst: int, most: int, remarks: list[str]) -> int:
    """A limit in packets that holds the burst for which RED averages: ``tc`` wants no less."""
    if limit < burst:
        remarks.append(f"tc wants a limit of at least the burst, {burst} packets, not {limit}.")
    if most < limit < _UNLIMITED:
        remarks.append(f"The limit is {most} packets instead of {limit}: Linux takes no more.")
    return min(max(limit, burst), most)


def _pie_words(qdisc: Fields, place: Place) -> Leaf:
    remarks: list[str] = []
    whole = {}
    for name in ("alpha", "beta"):
        whole[name] = min(_MOST, round(qdisc[name] * _SIXTEENTH))
        if whole[name] == 0:
            raise DeployError(
                f"{place.field}.{name} = {qdisc[name]:g}: Linux takes sixteenths, so at least 1/32"
            )
        remarks += off("sixteenths", name, whole[name] / _SIXTEENTH, qdisc[name])
    words = (
        f"target {_time(place, qdisc, 'target', remarks)} "
        f"tupdate {_time(place, qdisc, 'tupdate', remarks)} "
        f"alpha {whole['alpha']} beta {whole['beta']}{_flag('ecn', qdisc['ecn'])}"
        f"{_flag('bytemode', qdisc['scale_by_size'])}"
        f"{_flag('dq_rate_estimator', qdisc['delay'] == 'rate')}"
    )
    return Leaf(words, tuple(remarks))


def _pie(qdisc: Fields, place: Place) -> Leaf:
    common = _pie_words(qdisc, place)
    return Leaf(f"pie limit {min(qdisc['limit'], _UNLIMITED)} {common.words}", common.differences)


def _fq_pie(qdisc: Fields, place: Place) -> Leaf:
    common = _pie_words(qdisc, place)
    above, said = _percent(qdisc, "mark_ecn_th")
    words = (
        f"fq_pie limit {qdisc['limit']} flows {qdisc['flows']} {common.words} "
        f"memory_limit {_size(place, qdisc, 'memory_limit')} "
        f"ecn_prob {above}{_quantum(qdisc)}"
    )
    return Leaf(words, (*common.differences, *said))


def _percent(qdisc: Fields, name: str) -> tuple[int, list[str]]:
    """A share in whole per cent, and what that does to it."""
    written = round(qdisc[name] * 100)
    return written, off("whole per cent", name, written / 100, qdisc[name])


def _quantum(qdisc: Fields) -> str:
    return f" quantum {qdisc['quantum']}" if "quantum" in qdisc else ""


def _codel(qdisc: Fields, place: Place) -> Leaf:
    remarks: list[str] = []
    return Leaf(
        f"codel limit {qdisc['limit']} target {_time(place, qdisc, 'target', remarks)} "
        f"interval {_time(place, qdisc, 'interval', remarks)} "
        f"{'ecn' if qdisc['ecn'] else 'noecn'}{_ce_threshold(qdisc, place, remarks)}",
        tuple(remarks),
    )


def _ce_threshold(qdisc: Fields, place: Place, remarks: list[str]) -> str:
    if qdisc.get("ce_threshold") is None:
        return ""
    only = (
        " ce_threshold_selector 0x01/0x03" if qdisc.get("ce_threshold_selector") == "ect1" else ""
    )
    return f" ce_threshold {_time(place, qdisc, 'ce_threshold', remarks)}{only}"


def _fq_codel(qdisc: Fields, place: Place) -> Leaf:
    remarks: list[str] = []
    return Leaf(
        f"fq_codel limit {qdisc['limit']} flows {qdisc['flows']} "
        f"target {_time(place, qdisc, 'target', remarks)} "
        f"interval {_time(place, qdisc, 'interval', remarks)} "
        f"memory_limit {_size(place, qdisc, 'memory_limit')} "
        f"{'ecn' if qdisc['ecn'] else 'noecn'}{_ce_threshold(qdisc, place, remarks)}"
        f"{_quantum(qdisc)}",
        tuple(remarks),
    )


def _sfq(qdisc: Fields, place: Place) -> Leaf:
    divisor = qdisc["divisor"]
    if divisor & (divisor - 1):
        below = 1 << (divisor.bit_length() - 1)
        raise DeployError(
            f"{place.field}.divisor = {divisor}: Linux takes powers of two; write {below} or "
            f"{2 * below}"
        )
    held = {name: min(qdisc[name], most) for name, most in _MOST_IN_SFQ.items()}
    if qdisc["limit"] < 2 or math.prod(held.values()) < 2:
        name = "limit" if qdisc["limit"] < 2 else "depth"
        raise DeployError(
            f"{place.field}.{name} = {qdisc[name]}: Linux has no SFQ that holds one packet; must "
            "be at least 2"
        )
    remarks = [
        f"Linux takes at most {value} for {name}, not {qdisc[name]}."
        for name, value in held.items()
        if value < qdisc[name]
    ]
    return Leaf(
        f"sfq limit {qdisc['limit']} flows {held['flows']} divisor {divisor} "
        f"depth {held['depth']}{_flag('headdrop', qdisc['head_drop'])}{_quantum(qdisc)}"
        f"{_perturbed(qdisc, place, remarks)}",
        tuple(remarks),
    )


def _perturbed(qdisc: Fields, place: Place, remarks: list[str]) -> str:
    """How often SFQ's hash changes, in whole seconds."""
    if qdisc.get("perturb") is None:
        return ""
    asked = _time_s(place, qdisc, "perturb")
    written = round(asked)
    if written < 1:
        raise DeployError(
            f'{place.field}.perturb = "{qdisc["perturb"]}": Linux takes whole seconds; must be at '
            'least "1s"'
        )
    remarks += off("whole seconds", "perturb", written, asked)
    return f" perturb {written}"


def _cobalt(qdisc: Fields, place: Place) -> Leaf:
    remarks: list[str] = []
    return Leaf(
        f"cake unlimited besteffort flowblind rtt {_time(place, qdisc, 'interval', remarks)}",
        (
            *remarks,
            "Linux has COBALT inside cake, here with one flow queue.",
            "cake takes its target as a twentieth of the interval.",
            "cake limits memory, not packets: limit is left out.",
        ),
    )


_ACK_FILTER = {"off": [], "normal": ["ack-filter"], "aggressive": ["ack-filter-aggressive"]}
_FRAMING = {"none": "noatm", "atm": "atm", "ptm": "ptm"}


def _cake(qdisc: Fields, place: Place) -> Leaf:
    rate = qdisc.get("bandwidth")
    words, remarks = ["cake", "unlimited"], list[str]()
    if rate is not None:
        field = f"{place.field}.bandwidth"
        words[1] = f"bandwidth {steps.rate(field, quantity(field, str(rate), 'rate'), remarks)}"
    words += ["autorate-ingress"] if qdisc["autorate_ingress"] else []
    words += [qdisc["tins"], qdisc["isolation"].replace("_", "-")]
    words += [f"rtt {_time(place, qdisc, 'rtt', remarks)}"]
    words += [f"overhead {qdisc['overhead']} mpu {qdisc['mpu']} {_FRAMING[qdisc['framing']]}"]
    words += ["ingress"] if qdisc["ingress"] else []
    words += _ACK_FILTER[qdisc["ack_filter"]]
    if "memory_limit" in qdisc:
        words += [f"memlimit {_size(place, qdisc, 'memory_limit')}"]
        remarks += ["cake counts what packets occupy in memory: more than their bytes."]
    return Leaf(" ".join(words), tuple(remarks))


def _dualpi2(qdisc: Fields, place: Place) -> Leaf:
    remarks = []
    if qdisc["marking"] == "ramp":
        remarks.append("Linux marks L above a step, not along a ramp: the ramp's middle is taken.")
    if qdisc["min_packets"] > 0:
        remarks.append("Linux looks at min_packets when a packet comes, not when it leaves.")
    field = f"{place.field}.{'max_th' if qdisc['marking'] == 'ramp' else 'step_th'}"
    step = steps.time(field, _step_s(qdisc, place), remarks)
    # tc drops what is beyond a whole step, so it is given whole ones.
    gains = {name: _steps(qdisc, place, name) * _GAIN_STEP for name in ("alpha", "beta")}
    for name, gain in gains.items():
        remarks += off("multiples of 1/256 Hz", name, gain, qdisc[name])
    coupling = round(qdisc["coupling"])
    remarks += off("whole numbers", "coupling", coupling, qdisc["coupling"])
    classic, said = _percent(qdisc, "classic_weight")
    remarks += said
    return Leaf(
        f"dualpi2 limit {qdisc['limit']} target {_time(place, qdisc, 'target', remarks)} "
        f"tupdate {_time(place, qdisc, 'tupdate', remarks)} alpha {gains['alpha']:.8f} "
        f"beta {gains['beta']:.8f} coupling_factor {coupling} "
        f"step_thresh {step} min_qlen_step {qdisc['min_packets']} "
        f"{'drop_on_overload' if qdisc['drop_on_overload'] else 'overflow'} "
        f"classic_protection {classic}%",
        tuple(remarks),
        needs="Needs Linux 6.17 and its iproute2.",
    )


def _steps(qdisc: Fields, place: Place, name: str) -> int:
    """A gain of DualPI2 as in Linux."""
    count = round(float(qdisc[name]) / _GAIN_STEP)
    if count < 1:
        raise DeployError(
            f"{place.field}.{name} = {qdisc[name]:g}: Linux counts it in units of 1/256 Hz, so "
            "it must be at least 1/512"
        )
    return count


def _step_s(qdisc: Fields, place: Place) -> float:
    """The sojourn time above which Linux's DualPI2 marks all of L."""
    names = ("min_th", "max_th") if qdisc["marking"] == "ramp" else ("step_th",)
    return fmean(_time_s(place, qdisc, name, zero=True) for name in names)


def dualpi2_settings(qdisc: Fields, place: Place) -> dict[str, int | bool]:
    """What ``sch_dualpi2`` is told without ``tc``, in the units of linux/pkt_sched.h.

    Raises:
        DeployError: If Linux cannot take a value.
    """
    qdisc = settings_of(qdisc, place)

    def microseconds(name: str) -> int:
        return round(_time_s(place, qdisc, name) * 1e6)

    return {
        "limit": qdisc["limit"],
        "target_us": microseconds("target"),
        "tupdate_us": microseconds("tupdate"),
        "alpha": _steps(qdisc, place, "alpha"),
        "beta": _steps(qdisc, place, "beta"),
        "step_us": round(_step_s(qdisc, place) * 1e6),
        "min_packets": qdisc["min_packets"],
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
