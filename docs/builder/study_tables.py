"""Tables of what studies found, from what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from markup import markdown, sortable

from sojourn.studies.kept import kept

# Studies whose claims stand on their pages as they were kept, and at which scale.
CLAIMS = {
    "arena-cbq": "full",
    "codel-2012": "quick",
    "fluid-2000": "quick",
    "home": "quick",
    "l4s": "quick",
    "pi-2001": "full",
    "rfc7928": "quick",
    "scalable-2003": "full",
    "web-aqm-2003": "long",
    "web-aqm-factors": "long",
    "web-red-2000": "full",
    "web-today": "quick",
}


def claims(name: str, scale: str) -> list[Mapping[str, str]]:
    """The claims of a study as they were kept, with what was published and what came out."""
    found = kept(name, scale)
    assert found is not None, f"nothing is kept of {name} at {scale}"
    claims: list[Mapping[str, str]] = found["claims"]
    return claims


# In the order in which claims are told.
_VERDICTS = {
    "differs": "**does not agree**",
    "undecided": "cannot be told",
    "agrees": "agrees",
    "shown": "shown",
}


def claims_table(name: str, scale: str) -> str:
    order = [*_VERDICTS]
    found = sorted(claims(name, scale), key=lambda each: order.index(each["verdict"]))
    columns = ["claim", "published", "ours", "difference", "verdict"]
    if not any(each["difference"] for each in found):
        columns.remove("difference")
    told = [{**each, "verdict": _VERDICTS[each["verdict"]]} for each in found]
    heads = ["here" if name == "ours" else name for name in columns]
    return markdown(heads, [[each[name] for name in columns] for each in told])


def turned(name: str, first: str, second: str) -> str:
    """The claims that one scale judges otherwise than another, with what came out at both."""
    before = {each["claim"]: each for each in claims(name, first)}
    rows = []
    for each in claims(name, second):
        was = before[each["claim"]]
        if was["verdict"] != each["verdict"]:
            verdicts = [f"{found['ours']}: {_VERDICTS[found['verdict']]}" for found in (was, each)]
            rows.append([each["claim"], *verdicts])
    return markdown(["claim", f"`{first}`", f"`{second}`"], rows)


def _stored(name: str, scale: str, title: str) -> dict[str, list[Any]]:
    """A table of a study as it was kept."""
    found = kept(name, scale)
    assert found is not None, f"nothing is kept of {name} at {scale}"
    table: dict[str, list[Any]] = found["tables"][title]
    return table


def table(name: str, scale: str, title: str) -> list[dict[str, Any]]:
    """The rows of a table of a study as they were kept, by column."""
    found = _stored(name, scale, title)
    return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]


# The engines of fluid-2000, as its page calls them.
_MODELS = {
    "fluid": "fluid",
    "fluid, windows differ": "windows differ",
    "fluid, windows differ and pause": "differ and pause",
    "fluid, one cut a round trip": "one cut a round trip",
    "packets": "packets",
}


def _experiments(
    numbers: Sequence[int], models: Sequence[str], phase: str = "40 flows", *, busy: bool = False
) -> str:
    """Experiments of fluid-2000 in some models."""
    kept = table("fluid-2000", "quick", "The experiments in both engines")
    found = {
        (row["experiment"], _MODELS[row["engine"]]): row for row in kept if row["phase"] == phase
    }
    heads = ["", "loss at the first queue", "W over the first queue, over both"]
    heads += ["first queue, mean and nine tenths of the time"]
    heads += ["utilisation" if busy else "period"]
    rows = []
    for number in numbers:
        for model in models:
            row = found[number, model]
            last = f"{row['utilisation (%)']:.0f} %" if busy else f"{row['period (s)']:.1f} s"
            rows.append(
                [
                    f"{number}, {model}",
                    f"{row['loss 1 (%)']:.2f} %",
                    f"{row['W first']:.1f}, {row['W both']:.1f}",
                    f"{row['queue 1']:.0f}, {row['for 90 % of the time']}",
                    last,
                ]
            )
    return markdown(heads, rows)


def plain(name: str, scale: str, title: str, *, form: str = ".2f") -> str:
    """A table as it is, its numbers in one form."""
    found = _stored(name, scale, title)
    cells = [[_cell(each, form) for each in row] for row in found["rows"]]
    return markdown(found["columns"], cells)


def _cell(value: object, form: str) -> str:
    if value is None:
        return ""
    return format(value, form) if isinstance(value, float) else str(value)


def _ratios() -> str:
    """Mean windows over their laws, of tcp-laws."""
    heads = ["mean window over its law", "Reno (Padhye)", "HighSpeed", "CUBIC", "Scalable"]
    kept = table("tcp-laws", "quick", "Mean window over its law")
    rows = [
        [f"p = {p}", *(f"{each:.2f}" for each in ratios)] for p, *ratios in map(dict.values, kept)
    ]
    return markdown(heads, rows)


def _loops() -> str:
    """Loops on the rate, of rate-feedback."""
    heads = ["loop", "W₀", "slowest root", "fluid", "packets"]
    rows = [
        [
            row["loop"],
            f"{row['W₀']:.1f}",
            f"{row['slowest root (1/s)']:+.2f} /s".replace("-", "−"),
            f"{row['deviates by (%)']:.1f} %",
            f"{row['deviates by (%) ']:.1f} %",
        ]
        for row in table("rate-feedback", "quick", "Loops on the rate, in packets")
    ]
    return markdown(heads, rows)


def _at_98(title: str, columns: Mapping[str, str]) -> str:
    """Columns of a table of web-aqm-2003, under other headings, at 98 % load."""
    rows = table("web-aqm-2003", "long", title)
    at = [row for row in rows if row["scheme, load"].endswith(", 98 %")]
    cells = [
        [str("" if row[name] is None else row[name]).removesuffix(", 98 %") for name in columns]
        for row in at
    ]
    return markdown([*columns.values()], cells)


_SHORT = {
    "scheme, load": "",
    "loss, published (%)": "loss, published %",
    "loss (%)": "loss %",
    "completed over uncongested, published (%)": "completed, published %",
    "completed over uncongested (%)": "completed %",
    "response, 2 s at most (ms)": "response, 2 s at most, ms",
}
_SWITCHES = {
    "scheme, load": "",
    "response, 2 s at most (ms)": "response, 2 s at most, ms",
    "loss (%)": "loss %",
    "rate (Mb/s)": "rate, Mb/s",
}


# What scalable-2003 claims of each pair of gains, and how its page calls it.
_GAINS = {
    "Coefficient of variation of the rate": "variation of the rate",
    "Round trips to regain what a loss took": "round trips to recover",
    "Round trips to halve the rate": "to halve",
    "Round trips to double the rate": "to double",
}


def _gains() -> str:
    """Gains of Scalable TCP: published beside ours."""
    rows: dict[str, dict[str, str]] = {}
    for each in claims("scalable-2003", "full"):
        what, _, gains = each["claim"].partition(", b = ")
        if what in _GAINS:
            rows.setdefault(f"b = {gains}", {})[what] = f"{each['published']} / {each['ours']}"
    cells = [[gains, *(found[what] for what in _GAINS)] for gains, found in rows.items()]
    return markdown(["published / here", *_GAINS.values()], cells)


def _laws(title: str) -> str:
    return plain("tcp-laws", "quick", title)


def _cake(which: str, columns: Mapping[str, str]) -> str:
    """Situations of cake-reference whose names hold `which`, by all three engines."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in table("cake-reference", "full", "Side by side"):
        if which in row["situation"]:
            found.setdefault(row["situation"], {})[row["engine"]] = row
    rows = [
        [name, *(" / ".join(str(by[e][column]) for e in _ENGINES) for column in columns)]
        for name, by in found.items()
    ]
    return markdown(["", *columns.values()], rows)


def _cake_grid() -> str:
    """All situations of cake-reference, a row for each engine, and what is beyond the margins."""
    beyond = {each["claim"]: each["difference"] for each in claims("cake-reference", "full")}
    rows = table("cake-reference", "full", "Side by side")
    cells = [
        [
            *map(str, row.values()),
            beyond.get(f"{row['engine']}: {row['situation']}.", "") or "–",
        ]
        for row in rows
    ]
    return sortable([*rows[0], "beyond the margins"], cells)


_ENGINES = ("packets", "linux", "kernel")
_RECOVERIES = "Time from a loss until the window is back where it was, one flow alone, 200 ms"
_BESIDE = "Two flows of each beside two of Reno, 50 Mb/s, 50 ms: rate over Reno's"
_ROUND_TRIPS = "Two flows at 25 ms and two at 100 ms: how much more the shorter get"
_ACKS = {"utilisation %": "utilisation %", "mean sojourn ms": "delay out, mean ms"}
_ACKS["ACKs dropped"] = "acknowledgements dropped"
_SHARES = {"share %": "share of the first group, %", "drops": "drops"}
TABLES: Mapping[str, Callable[[], str]] = {
    "cake-reference acks": partial(_cake, "back", _ACKS),
    "cake-reference hosts": partial(_cake, "hosts", _SHARES),
    "cake-reference tins": partial(_cake, "call", _SHARES),
    "cake-reference frames": partial(_cake, "frames", _SHARES),
    "cake-reference grid": _cake_grid,
    **{f"{name} claims": partial(claims_table, name, scale) for name, scale in CLAIMS.items()},
    "codel-2012 waits": partial(plain, "codel-2012", "quick", "Median wait (ms)", form=".1f"),
    "codel-2012 rates": partial(
        plain,
        "codel-2012",
        "quick",
        "Utilisation with a target of 5 % of the round trip (%)",
        form=".1f",
    ),
    "rfc7928 answers": partial(
        plain, "rfc7928", "quick", "Each discipline against drop-tail: wait, goodput"
    ),
    "fluid-2000 published": partial(
        _experiments, range(1, 6), ["fluid", "packets"], "40 flows, as published"
    ),
    "fluid-2000 models": partial(plain, "fluid-2000", "quick", "Extensions of ours beside packets"),
    "fluid-2000 experiments": partial(
        _experiments, range(1, 6), ["fluid", "windows differ", "differ and pause", "packets"]
    ),
    "fluid-2000 one cut": partial(
        _experiments, (3, 5), ["fluid", "one cut a round trip", "packets"], busy=True
    ),
    "fluid-2000 timeouts": partial(
        plain, "fluid-2000", "quick", "The model with and without timeouts"
    ),
    "fluid-2000 windows": partial(
        plain, "fluid-2000", "quick", "Why packets need less loss than the model"
    ),
    "rate-feedback loops": _loops,
    "arena-cbq finish": partial(
        plain, "arena-cbq", "full", "Finish times of the elephants (s): published / ours"
    ),
    "arena-cbq holds": partial(
        plain, "arena-cbq", "full", "Who holds the queue: the controller or its limits"
    ),
    "arena-cbq inferred": partial(
        plain, "arena-cbq", "full", "What was inferred, changed one by one"
    ),
    "scalable-2003 gains": _gains,
    "scalable-2003 web": partial(
        plain, "scalable-2003", "full", "Four bulk flows beside 4200 web users", form=".0f"
    ),
    "web-aqm-2003 short": partial(_at_98, "Loss, completed exchanges, rate", _SHORT),
    "web-aqm-2003 short switches": partial(_at_98, "What explains adaptive RED", _SWITCHES),
    "web-aqm-factors hypotheses": partial(claims_table, "web-aqm-factors", "quick"),
    "web-aqm-factors testbed": partial(
        plain, "web-aqm-factors", "long", "The testbed as it probably was", form="g"
    ),
    "web-aqm-factors patient": partial(
        plain,
        "web-aqm-factors",
        "long",
        "The same testbed with think times four times as long",
        form="g",
    ),
    "web-red-2000 testbeds": partial(
        plain, "web-red-2000", "full", "Each scheme on other testbeds"
    ),
    "web-today pages": partial(plain, "web-today", "quick", "Pages on the shared link"),
    "web-today versions": partial(plain, "web-today", "quick", "Pages over each version of HTTP"),
    "web-today turned": partial(turned, "web-today", "quick", "full"),
    "web-today household": partial(plain, "web-today", "quick", "The household"),
    "home places": partial(
        plain, "home", "quick", "The household, by the place of its slowest link"
    ),
    "home ends": partial(
        plain, "home", "quick", "A cable line managed at neither end, one, or both"
    ),
    "home ring": partial(plain, "home", "quick", "FQ-CoDel above a device's ring"),
    "home chain": partial(plain, "home", "quick", "An upload's mean wait, stage by stage"),
    "l4s grid": partial(plain, "l4s", "quick", "DualPI2 over rates and round trips"),
    "l4s queues": partial(plain, "l4s", "quick", "Bottlenecks of 40 Mb/s, path of 20 ms"),
    "l4s several": partial(
        plain, "l4s", "quick", "Several flows of each kind, 40 Mb/s, path of 20 ms"
    ),
    "l4s short": partial(
        plain, "l4s", "quick", "Short flows beside long ones, 40 Mb/s, path of 20 ms"
    ),
    "l4s flood": partial(plain, "l4s", "quick", "Unresponsive traffic, of the link's 40 Mb/s"),
    "l4s call": partial(plain, "l4s", "quick", "A call with SCReAM beside CUBIC"),
    "l4s bursty": partial(plain, "l4s", "quick", "Links with bursts"),
    "tcp-laws ratios": _ratios,
    "tcp-laws recoveries": partial(_laws, _RECOVERIES),
    "tcp-laws beside Reno": partial(_laws, _BESIDE),
    "tcp-laws round trips": partial(_laws, _ROUND_TRIPS),
}
