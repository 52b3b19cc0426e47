"""A controller's settings as text: for a scenario, for ns-2 and ns-3, and for Linux."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .controllers import PI, PI2, PIE, REM, CoDelSetpoint, Controller
from .errors import ControlError
from .red import ARED, RED


@dataclass(frozen=True)
class Link:
    """The link that settings are written for."""

    rate_bps: float
    """Bits per second."""
    packet: int
    """Mean packet in bytes."""

    @property
    def capacity(self) -> float:
        """Packets per second."""
        return self.rate_bps / 8 / self.packet


@dataclass(frozen=True)
class Settings:
    """Text to copy; none where the simulator or the system has no such discipline."""

    toml: str
    """The `[bottleneck]` of a scenario."""
    ns2: str | None
    """Tcl for ns-2."""
    ns3: str | None
    """C++ for ns-3."""
    tc: str | None
    """A command for Linux."""
    remarks: tuple[str, ...] = ()
    """What the text cannot say."""


def number(value: float) -> str:
    """The shortest text that is the number, with a point or an exponent."""
    return repr(float(value))


def seconds(value: float) -> str:
    """A time as a bare number of seconds, to the nanosecond."""
    return f"{value:.9f}".rstrip("0").rstrip(".")


def time(seconds: float) -> str:
    """A time with its unit: whole microseconds, or nanoseconds below ten of them."""
    if seconds < 1e-5:
        return f"{seconds * 1e9:.0f}ns"
    micro = round(seconds * 1e6)
    return f"{micro // 1000}ms" if micro % 1000 == 0 else f"{micro}us"


def rate(bps: float) -> str:
    """A rate with its unit, exact to the bit."""
    whole = round(bps)
    for unit, scale in (("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3)):
        if whole % (scale // 1000 if scale > 1000 else scale) == 0 and whole >= scale:
            return f"{whole / scale:.10g}{unit}"
    return f"{whole}bit"


def _toml(link: Link, kind: str, fields: dict[str, str]) -> str:
    inside = ", ".join([f'kind = "{kind}"', *(f"{k} = {v}" for k, v in fields.items())])
    return f'[bottleneck]\nrate = "{rate(link.rate_bps)}"\nqdisc = {{ {inside} }}\n'


def _tcl(queue: str, fields: dict[str, str]) -> str:
    return "".join(f"Queue/{queue} set {name} {value}\n" for name, value in fields.items())


def _cpp(queue: str, fields: dict[str, str]) -> str:
    lines = (
        f'Config::SetDefault("ns3::{queue}::{name}", {value});\n' for name, value in fields.items()
    )
    return "".join(lines)


def _tc(words: str) -> str:
    return f"tc qdisc replace dev DEV root {words}"


def settings(controller: Controller, link: Link) -> Settings:
    """The text for a controller on a link.

    Raises:
        ControlError: If the controller is of a kind that is not known here.
    """
    if isinstance(controller, PI):
        return _pi(controller, link)
    if isinstance(controller, REM):
        return _rem(controller, link)
    if isinstance(controller, PI2):
        return _pi2(controller, link)
    if isinstance(controller, PIE):
        return _pie(controller, link)
    if isinstance(controller, RED):
        return _red(controller, link)
    if isinstance(controller, ARED):
        return _ared(controller, link)
    if isinstance(controller, CoDelSetpoint):
        return _codel(controller, link)
    raise ControlError(f"{controller.kind}: there are no settings to write")


def _pi(it: PI, link: Link) -> Settings:
    fields = {
        "a": number(it.a),
        "b": number(it.b),
        "frequency": number(it.hz),
        "qref": number(it.qref),
        "mean_packet": f"{link.packet}",
    }
    ns2 = {
        "a_": number(it.a),
        "b_": number(it.b),
        "w_": number(it.hz),
        "qref_": number(it.qref),
        "mean_pktsize_": f"{link.packet}",
    }
    return Settings(
        _toml(link, "pi", fields), _tcl("PI", ns2), None, None, ("Linux and ns-3 have no PI.",)
    )


def _rem(it: REM, link: Link) -> Settings:
    fields = {
        "gamma": number(it.gamma),
        "alpha": number(it.alpha),
        "phi": number(it.phi),
        "qref": number(it.qref),
        "period": f'"{time(it.period)}"',
        "mean_packet": f"{link.packet}",
    }
    ns2 = {
        "gamma_": number(it.gamma),
        "phi_": number(it.phi),
        "pbo_": number(it.qref),
        "pupdtime_": seconds(it.period),
        "mean_pktsize_": f"{link.packet}",
    }
    remarks = ("Linux and ns-3 have no REM.", "ns-2's alpha is fixed in its code (0.1).")
    return Settings(_toml(link, "rem", fields), _tcl("REM", ns2), None, None, remarks)


# Linux scales alpha and beta by 16 and takes whole numbers up to 32.
_PIE_SCALE, _PIE_MOST = 16, 32


def _pie(it: PIE, link: Link) -> Settings:
    fields = {
        "alpha": number(it.alpha),
        "beta": number(it.beta),
        "target": f'"{time(it.target)}"',
        "tupdate": f'"{time(it.update)}"',
    }
    cpp = {
        "A": f"DoubleValue({number(it.alpha)})",
        "B": f"DoubleValue({number(it.beta)})",
        "QueueDelayReference": f"TimeValue(Seconds({seconds(it.target)}))",
        "Tupdate": f"TimeValue(Seconds({seconds(it.update)}))",
        "MeanPktSize": f"UintegerValue({link.packet})",
    }
    whole = [min(_PIE_MOST, round(x * _PIE_SCALE)) for x in (it.alpha, it.beta)]
    remarks: tuple[str, ...] = ()
    command = None
    if min(whole) > 0:
        command = _tc(
            f"pie target {time(it.target)} tupdate {time(it.update)} alpha {whole[0]} "
            f"beta {whole[1]}"
        )
        errors = [n / _PIE_SCALE / x - 1 for n, x in zip(whole, (it.alpha, it.beta), strict=True)]
        if max(map(abs, errors)) > 1e-9:
            remarks = (
                f"Linux takes sixteenths: alpha is {errors[0]:+.1%} off, beta {errors[1]:+.1%}.",
            )
    else:
        remarks = (
            f"Linux takes sixteenths, too coarse for alpha = {it.alpha:.3g}, beta = {it.beta:.3g}.",
        )
    return Settings(_toml(link, "pie", fields), None, _cpp("PieQueueDisc", cpp), command, remarks)


def _pi2(it: PI2, link: Link) -> Settings:
    fields = {
        "alpha": number(it.alpha),
        "beta": number(it.beta),
        "target": f'"{time(it.target)}"',
        "tupdate": f'"{time(it.update)}"',
    }
    command = _tc(
        f"dualpi2 target {time(it.target)} tupdate {time(it.update)} alpha {it.alpha:.6f} "
        f"beta {it.beta:.6f}"
    )
    remarks = ("Linux has PI2 as the classic queue of dualpi2.",)
    return Settings(_toml(link, "pi2", fields), None, None, command, remarks)


def red_burst(wq: float, min_th: float) -> tuple[int, int]:
    """tc's ``burst`` for a weight, and the weight's logarithm Wlog that tc makes of it.

    tc takes the least Wlog with burst + 1 − min/avpkt ≤ (1 − (1 − W)^burst)/W, W = 2^−Wlog.

    Args:
        wq: Weight of a sample.
        min_th: Lower threshold in packets.
    """
    wanted = max(1, min(31, round(-math.log2(wq))))

    def suits(burst: int, log: int) -> bool:
        if log < 1:
            # A larger weight than a half tc does not try.
            return False
        weight = 2.0**-log
        return burst + 1 - min_th <= -math.expm1(burst * math.log1p(-weight)) / weight

    # The least burst that the next larger weight does not suit.
    burst = max(1, math.ceil(min_th))
    step = 1
    while suits(burst, wanted - 1) and burst < 2**31:
        burst += step
        step *= 2
    # With a burst below the threshold tc finds no weight at all.
    low, high = max(1, math.ceil(min_th), burst - step), burst
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if suits(middle, wanted - 1) else (low, middle)
    chosen = next((log for log in range(1, 32) if suits(low, log)), 31)
    return low, chosen


def _red_common(it: RED | ARED, link: Link) -> tuple[float, str, str]:
    wq = it.wq if it.wq is not None else -math.expm1(-1 / link.capacity)
    burst, log = red_burst(wq, it.min_th)
    limit = round(max(4 * it.max_th, burst) * link.packet)
    words = (
        f"red limit {limit} min {round(it.min_th * link.packet)} "
        f"max {round(it.max_th * link.packet)} avpkt {link.packet} burst {burst} "
        f"bandwidth {rate(link.rate_bps)}"
    )
    return wq, words, f"Linux averages with 2^-{log}, {2.0**-log / wq - 1:+.1%} off wq."


def _red(it: RED, link: Link) -> Settings:
    wq, words, remark = _red_common(it, link)
    fields = {
        "min_th": number(it.min_th),
        "max_th": number(it.max_th),
        "max_p": number(it.max_p),
        "wq": number(wq),
        "gentle": str(it.gentle).lower(),
        "mean_packet": f"{link.packet}",
    }
    ns2 = {
        "thresh_": number(it.min_th),
        "maxthresh_": number(it.max_th),
        "linterm_": number(1 / it.max_p),
        "q_weight_": number(wq),
        "gentle_": str(it.gentle).lower(),
        "adaptive_": "0",
        "mean_pktsize_": f"{link.packet}",
    }
    cpp = {
        "MinTh": f"DoubleValue({number(it.min_th)})",
        "MaxTh": f"DoubleValue({number(it.max_th)})",
        "LInterm": f"DoubleValue({number(1 / it.max_p)})",
        "QW": f"DoubleValue({number(wq)})",
        "Gentle": f"BooleanValue({str(it.gentle).lower()})",
        "MeanPktSize": f"UintegerValue({link.packet})",
    }
    return Settings(
        _toml(link, "red", fields),
        _tcl("RED", ns2),
        _cpp("RedQueueDisc", cpp),
        _tc(f"{words} probability {it.max_p:g}"),
        (remark,),
    )


def _ared(it: ARED, link: Link) -> Settings:
    wq, words, remark = _red_common(it, link)
    fields = {
        "min_th": number(it.min_th),
        "max_th": number(it.max_th),
        "wq": number(wq),
        "bottom": number(it.bottom),
        "top": number(it.top),
        "mean_packet": f"{link.packet}",
    }
    ns2 = {
        "thresh_": number(it.min_th),
        "maxthresh_": number(it.max_th),
        "q_weight_": number(wq),
        "bottom_": number(it.bottom),
        "top_": number(it.top),
        "adaptive_": "1",
        "gentle_": "true",
        "mean_pktsize_": f"{link.packet}",
    }
    cpp = {
        "ARED": "BooleanValue(true)",
        "MinTh": f"DoubleValue({number(it.min_th)})",
        "MaxTh": f"DoubleValue({number(it.max_th)})",
        "QW": f"DoubleValue({number(wq)})",
        "Bottom": f"DoubleValue({number(it.bottom)})",
        "Top": f"DoubleValue({number(it.top)})",
        "MeanPktSize": f"UintegerValue({link.packet})",
    }
    return Settings(
        _toml(link, "ared", fields),
        _tcl("RED", ns2),
        _cpp("RedQueueDisc", cpp),
        _tc(f"{words} adaptive"),
        (remark, "Linux fixes bottom and top at 0.01 and 0.5."),
    )


def _codel(it: CoDelSetpoint, link: Link) -> Settings:
    fields = {"target": f'"{time(it.target)}"', "interval": f'"{time(it.interval)}"'}
    ns2 = {"target_": seconds(it.target), "interval_": seconds(it.interval)}
    cpp = {
        "Target": f'StringValue("{time(it.target)}")',
        "Interval": f'StringValue("{time(it.interval)}")',
    }
    return Settings(
        _toml(link, "codel", fields),
        _tcl("CoDel", ns2),
        _cpp("CoDelQueueDisc", cpp),
        _tc(f"codel target {time(it.target)} interval {time(it.interval)}"),
    )
