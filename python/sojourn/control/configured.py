"""Controllers from the settings of a queue discipline, as a scenario has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .controllers import PI, PI2, PIE, REM, CoDelSetpoint, Controller
from .errors import ControlError
from .marking import Power, Ramp
from .names import marking
from .quantities import quantity
from .rate import RateFeedback
from .red import ARED, RED

# A scenario's name for a field, the model's, and whether it is a time.
_Fields = Mapping[str, tuple[str, bool]]


def _plain(*names: str) -> dict[str, tuple[str, bool]]:
    return {name: (name, False) for name in names}


_PIE: _Fields = {
    **_plain("alpha", "beta"),
    "target": ("target", True),
    "tupdate": ("update", True),
}
_KINDS: dict[str, tuple[Callable[..., Any], _Fields]] = {
    "pi": (PI, {**_plain("a", "b", "qref"), "frequency": ("hz", False)}),
    "rem": (REM, {**_plain("gamma", "alpha", "phi", "qref"), "period": ("period", True)}),
    "pie": (PIE, _PIE),
    "pi2": (PI2, _PIE),
    "red": (RED, _plain("min_th", "max_th", "max_p", "wq", "gentle")),
    "ared": (ARED, _plain("min_th", "max_th", "wq", "bottom", "top")),
    "codel": (CoDelSetpoint, {"target": ("target", True), "interval": ("interval", True)}),
    "rate": (RateFeedback, {"marking": ("marking", False), "lag": ("lag", True)}),
}
# The discipline's own defaults, where the model has none.
_DEFAULTS = {"pi": {"a": 1.822e-5, "b": 1.816e-5, "hz": 170.0, "qref": 50.0}}
# They do not move an operating point, or not in this model.
_LEFT_OUT = {"kind", "ecn", "limit", "mean_packet", "queue_in_bytes", "scale_by_size"}
_LEFT_OUT_OF: Mapping[str, set[str]] = {
    "red": {"min_queue", "ecn_drop_above_max", "idle_decay"},
    # How max_p moves; the model lets it stand where the average is in the middle.
    "ared": {"alpha", "beta", "interval", "max_p", "gentle", "ecn_drop_above_max"},
    "pie": {
        "max_burst",
        "delay",
        "derandomize",
        "mark_ecn_th",
        "decay",
        "first_update",
        "max_probability",
        "linux_guards",
    },
    "pi2": {"coupling"},
}


def _left_out(kind: str, name: str, table: Mapping[str, Any]) -> bool:
    """Whether a setting may be passed over in the model of a discipline."""
    if (kind, name) == ("ared", "target_delay"):
        return "min_th" in table  # which it would choose
    if (kind, name) == ("pi2", "scalable"):
        return table[name] is False
    return name in _LEFT_OUT or name in _LEFT_OUT_OF.get(kind, ())


def controller(qdisc: object) -> Controller | RateFeedback:
    """The linear model of a queue discipline.

    Args:
        qdisc: Its kind, or a table with ``kind`` and settings, such as
            ``{"kind": "pi", "a": 1.8e-5}``. The kind "rate" is feedback on the rate: with the
            discipline's settings, or with ``marking`` (as `sojourn.control.names.marking` reads it)
            and ``lag``.

    Raises:
        ControlError: If there is no model of that kind or with such a setting.
    """
    table: Mapping[str, Any]
    if isinstance(qdisc, str):
        table = {"kind": qdisc}
    elif isinstance(qdisc, Mapping):
        table = qdisc
    else:
        raise ControlError(f"{qdisc}: must be a kind or a table, such as pi or {{kind='pi'}}")
    kind = table.get("kind")
    if kind not in _KINDS:
        raise ControlError(f"kind = {kind}: there are models of {', '.join(_KINDS)}")
    if kind == "rate":
        table = _measured(table)
    make, fields = _KINDS[kind]
    given = dict(_DEFAULTS.get(kind, {}))
    for name, value in table.items():
        if name in fields:
            to, is_time = fields[name]
            given[to] = _read(f"{kind}.{name}", value, is_time)
        elif not _left_out(kind, name, table):
            raise ControlError(
                f"{kind}.{name}: the model has no such setting; it has {', '.join(fields)}"
            )
    found: Controller | RateFeedback = make(**given)
    return found


_RATE = {"exponent": 16, "start": 0, "period": "10ms", "averaging": "0s"}


def _measured(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """The discipline's settings as a marking and a lag.

    Counting over a period and holding the result for one lag by half of it each.
    """
    own = {name: table[name] for name in _RATE if name in table}
    if not own:
        return table
    both = [name for name in ("marking", "lag") if name in table]
    if both:
        raise ControlError(f"rate.{both[0]}: give it, or {', '.join(_RATE)}, not both")
    own = _RATE | own
    exponent, start = (_read(f"rate.{name}", own[name], False) for name in ("exponent", "start"))
    lag = _read("rate.period", own["period"], True)
    if own["averaging"] not in ("0s", "0ms", "0us", "0ns"):
        lag += _read("rate.averaging", own["averaging"], True)
    rest = {name: value for name, value in table.items() if name not in _RATE}
    return {
        **rest,
        "marking": Ramp(start, exponent) if start else Power(exponent),
        "lag": f"{lag:.17g}s",
    }


def _read(field: str, value: object, is_time: bool) -> Any:
    if isinstance(value, Power | Ramp):
        return value
    if is_time:
        if not isinstance(value, str):
            raise ControlError(f"{field} = {value}: must be a time such as 15ms")
        return quantity(field, value, "time")
    if field == "rate.marking":
        return marking(str(value))
    if isinstance(value, bool | int | float):
        return value
    raise ControlError(f"{field} = {value}: must be a number")
