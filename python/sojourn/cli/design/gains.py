"""``sojourn design pi --gains``: which flows and round trip time PI's gains fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.cli.design.options import link_of
from sojourn.cli.design.report import print_fit, show_design
from sojourn.cli.files import check_figure, print_json
from sojourn.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def show_fit(
    gains: str,
    *,
    rate: str,
    packet: str,
    flows: str | None,
    rtt: str | None,
    hz: float | None,
    law: str,
    qref: float | None,
    as_json: bool,
    figure: Path | None,
) -> int:
    """Finds what given PI gains fit; with a region also how they do in it."""
    from sojourn.control import text
    from sojourn.control.design.design import Design
    from sojourn.control.design.fit import fit as fitted
    from sojourn.control.design.pi import Gains, queue_to_hold
    from sojourn.control.region import Region

    check_figure(figure)
    numbers = _gains(gains)
    if hz is not None:
        raise InputError(f"--hz {hz:g}: --gains {gains} says how often; leave --hz out")
    link = link_of(rate, packet)
    given = Gains.sampled(**numbers)
    found = fitted(given, capacity=link.capacity)
    fits = {
        "flows": found.flows,
        "rtt_s": found.rtt,
        "packets_per_s": found.capacity,
        "window": found.window,
        "K": given.k,
        "z": given.z,
    }
    if flows is None and rtt is None:
        if figure is not None:
            raise InputError("--figure needs --flows and --rtt, the region to draw")
        if qref is not None or law != "reno":
            option = "--law" if qref is None else "--qref"
            raise InputError(
                f"{option}: what gains fit does not depend on it; leave it out, or "
                "give the region to look at with --flows and --rtt"
            )
        if as_json:
            print_json({"kind": "pi", "fit": fits})
        else:
            print_fit(fits)
        return 0
    if flows is None or rtt is None:
        raise InputError("--flows and --rtt go together: the region to look at")
    region = Region.of(rate, flows, rtt, packet)
    held = queue_to_hold(region, qref)
    table = {"kind": "pi", "a": numbers["a"], "b": numbers["b"], "frequency": numbers["hz"],
             "qref": held}  # fmt: skip
    values = {"a": numbers["a"], "b": numbers["b"], "sampling_hz": numbers["hz"], "qref": held,
              "K": given.k, "z": given.z}  # fmt: skip
    design = Design(table, text.congestion(law), region, "as given", values)
    return show_design(design, link, as_json, figure, {"fit": fits})


def _gains(text: str) -> dict[str, float]:
    from sojourn.quantities import count

    found = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        if not sign or name.strip() not in ("a", "b", "hz"):
            raise InputError(f"--gains {text}: must be a=…,b=…,hz=…")
        if name.strip() in found:
            raise InputError(f"--gains {text}: {name.strip()} is given twice; give it once")
        name = name.strip()
        found[name] = 0.0 if value.strip() in ("0", "0.0") else count(f"--gains {name}", value)
    missing = [name for name in ("a", "b", "hz") if name not in found]
    if missing:
        raise InputError(f"--gains {text}: {', '.join(missing)} is missing")
    return found
