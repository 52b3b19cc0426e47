"""Tables of pages, made from the results that are kept.

A line ``<!-- data: NAME -->`` in a page becomes the table of that name: Markdown if it is short, a
table that sorts by a click if it is long.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl
import study_tables
from markup import markdown, sortable
from stage import DOCS

from sojourn.statistics import Interval, student_interval
from sojourn.studies.beside_linux import Measured
from sojourn.studies.scalable_2003.claims import CELL
from sojourn.studies.scalable_2003.published import FLOWS, STACKS, TRANSFERS
from sojourn.studies.words import with_interval

BENCHES = DOCS.parent / "benches" / "results.json"
RESULTS = DOCS / "studies" / "results"
MARK = re.compile(r"^<!-- data: (.+?) -->$", re.M)
_MEASURES = ("utilisation", "sojourn_s", "sojourn_p99_s", "dropped", "marked")
# What a row of a study's runs says beside its labels: column, heading, factor, digits.
_COLUMNS = (
    ("utilisation", "util. %", 100, 1),
    ("loss", "loss %", 100, 2),
    ("queue_mean_packets", "queue mean packets", 1, 1),
    ("response_p50_s", "response p50 ms", 1000, 0),
    ("response_p99_s", "response p99 ms", 1000, 0),
    ("goodput_bps", "goodput Mb/s", 1e-6, 2),
)
# The schemes that the published table of web-aqm-2003 has, and PI 240.
_PUBLISHED = ["uncongested", "drop-tail 240", "PI 24", "PI 24 ECN", "PI 240"]
_PUBLISHED += ["REM 24", "REM 24 ECN", "ARED 24", "ARED 24 ECN"]


def filled(text: str) -> str:
    """A page with its tables in the places of their marks."""
    return MARK.sub(lambda found: TABLES[found[1]](), text)


def linux(engine: str) -> dict[str, Measured]:
    """What an engine measured in each situation of linux-reference."""
    rows = pl.read_parquet(RESULTS / "linux-reference-full.parquet").filter(engine=engine)
    return {
        row["situation"]: Measured(*(row[name] for name in _MEASURES))
        for row in rows.iter_rows(named=True)
    }


def agreement(engine: str) -> dict[str, bool]:
    """Whether an engine agrees with Linux, by situation."""
    ours = linux(engine)
    return {name: not ours[name].apart(theirs) for name, theirs in linux("kernel").items()}


def _agreement() -> str:
    rows = pl.read_parquet(RESULTS / "linux-reference-full.parquet").filter(engine="kernel")
    packets, hosts = agreement("packets"), agreement("linux")
    kinds: list[dict[str, list[str]]] = [{}, {}, {}, {}]
    for row in rows.iter_rows(named=True):
        flows = f"{row['flows']} flow{'s' if row['flows'] > 1 else ''}"
        path = f"{row['mbit']} Mb/s, {row['rtt_ms']} ms"
        names = (path, row["congestion"], row["qdisc"], flows)
        for groups, name in zip(kinds, names, strict=True):
            groups.setdefault(name, []).append(row["situation"])
    found = [
        [name, f"{sum(packets[i] for i in own)} of {len(own)}", f"{sum(hosts[i] for i in own)}"]
        for groups in kinds
        for name, own in groups.items()
    ]
    return markdown(["", "packet engine agrees", "Linux's TCP, our queue"], found)


# Below these a ratio tells of single packets, or of the clock.
_LEAST = {"dropped": 50.0, "sojourn_s": 1e-3, "utilisation": 0.1}


def pooled(engine: str, measure: str, mbit: int, **where: str) -> tuple[int, Interval]:
    """How many situations tell of a measure at a rate, and the interval of their mean log ratio to
    Linux: a bias that no situation shows alone."""
    rows = pl.read_parquet(RESULTS / "linux-reference-full.parquet").filter(mbit=mbit, **where)
    ours = dict(rows.filter(engine=engine).select("situation", measure).iter_rows())
    theirs = dict(rows.filter(engine="kernel").select("situation", measure).iter_rows())
    told = [name for name, value in theirs.items() if value >= _LEAST[measure] and ours[name] > 0]
    return len(told), student_interval([math.log(ours[name] / theirs[name]) for name in told])


def ratio(found: Interval) -> str:
    """The ratio, with its interval, of a mean log ratio."""
    assert found.low is not None
    assert found.high is not None
    low, middle, high = (math.exp(each) for each in (found.low, found.mean, found.high))
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def _pooled() -> str:
    names = {"dropped": "drops", "sojourn_s": "sojourn time", "utilisation": "utilisation"}
    rows = []
    for measure, name in names.items():
        for mbit in (10, 50):
            engines = [pooled(engine, measure, mbit) for engine in ("packets", "linux")]
            cells = [ratio(found) for _, found in engines]
            rows.append([f"{name}, {mbit} Mb/s", *cells, str(engines[0][0])])
    heads = ["", "packet engine over Linux", "Linux's TCP, our queue, over Linux", "situations"]
    return markdown(heads, rows)


def _grid() -> str:
    seeds = pl.read_parquet(RESULTS / "linux-reference-full.parquet").filter(engine="packets")
    agreeing = dict(seeds.select("situation", "agreeing").iter_rows())
    packets, hosts = linux("packets"), linux("linux")
    heads = [
        "situation",
        "engine",
        "util. %",
        "sojourn ms",
        "p99 ms",
        "drops",
        "beyond the margins",
    ]
    heads.append("seeds that agree")
    found = []
    for name, theirs in linux("kernel").items():
        found.append([name, "Linux", *_numbers(theirs), "", ""])
        for engine, ours in (("packets", packets[name]), ("linux", hosts[name])):
            beyond = "; ".join(ours.apart(theirs)) or "–"
            count = str(agreeing[name]) if engine == "packets" else ""
            found.append([name, engine, *_numbers(ours), beyond, count])
    return sortable(heads, found)


def _numbers(found: Measured) -> list[str]:
    return [
        f"{100 * found.utilisation:.1f}",
        f"{1e3 * found.sojourn_s:.1f}",
        f"{1e3 * found.sojourn_p99_s:.1f}",
        f"{found.dropped:.0f}",
    ]


def _performance(part: str) -> str:
    kept = json.loads(BENCHES.read_text(encoding="utf-8"))[part]
    tables = (markdown(heads, rows) for heads, *rows in kept["tables"])
    return "\n\n".join([*tables, f"*{kept['machine']}*"])


def _loads() -> str:
    return sortable(*loads())


def _schemes(load: str, schemes: Sequence[str]) -> str:
    """Some schemes at one load."""
    (_, *heads), rows = loads()
    at = {scheme: [scheme, *cells] for each, scheme, *cells in rows if each == load}
    return markdown(["at " + load, *heads[1:]], [at[scheme] for scheme in schemes])


def _single(wanted: Mapping[str, tuple[str, str, int | None]]) -> str:
    """Single runs of web-aqm-2003 at full length and 98 %, under names: part, scheme, bytes of a
    packet.

    What was completed is over what the uncongested network completes.
    """
    runs = pl.read_parquet(RESULTS / "web-aqm-2003-full.parquet").filter(load=0.98)

    def run(part: str, scheme: str, bytes_: int | None) -> dict[str, Any]:
        own = runs.filter(pl.col("mean_packet").eq_missing(bytes_), part=part, scheme=scheme)
        return own.row(0, named=True)

    heads = ["", "loss %", "rate, Mb/s", "completed %", "response p90, ms"]
    rows = []
    for name, places in wanted.items():
        ideal = run("no framing" if places[0] == "no framing" else "grid", "uncongested", None)
        found = run(*places)
        rows.append(
            [
                name,
                f"{100 * found['loss']:.1f}",
                f"{found['throughput_bps'] / 1e6:.1f}",
                f"{100 * found['exchanges'] / ideal['exchanges']:.1f}",
                f"{1e3 * found['response_p90_s']:.0f}",
            ]
        )
    return markdown(heads, rows)


def loads() -> tuple[list[str], list[list[str]]]:
    """What web-aqm-2003 measured at full length: headings, and a row for each load and scheme."""
    rows = []
    for row in study_tables.table("web-aqm-2003", "full", "Loss, completed exchanges, rate"):
        scheme, load = row["scheme, load"].split(", ")
        cells = [load, scheme]
        for name, unit in (("loss", "%"), ("completed over uncongested", "%"), ("rate", "Mb/s")):
            published, ours = row[f"{name}, published ({unit})"], row[f"{name} ({unit})"]
            cells.append(ours if published is None else f"{published} / {ours}")
        rows.append([*cells, row["response, 2 s at most (ms)"]])
    heads = ["load", "scheme", "loss %", "completed %", "rate Mb/s", "response, 2 s at most, ms"]
    return heads, rows


def transfers(part: str, stack: str) -> dict[int, float]:
    """How many transfers scalable-2003 completed, by the number of flows."""
    runs = pl.read_parquet(RESULTS / "scalable-2003-full.parquet").filter(part=part, stack=stack)
    return dict(
        runs.group_by("flows", maintain_order=True).agg(pl.col("bulk.finished").mean()).iter_rows()
    )


def beyond(published: int, ours: float) -> bool:
    """Whether a number of transfers is farther from the published one than the margin."""
    return abs(ours / published - 1) > CELL


def _transfers() -> str:
    rows = []
    for stack, name in STACKS.items():
        ours = transfers("bulk", stack)
        theirs = dict(zip(FLOWS, TRANSFERS.get(stack, ()), strict=False))
        rows.append([name, *(_beside(theirs.get(flows), ours.get(flows)) for flows in FLOWS)])
        if two := transfers("machines", stack):
            cells = (_beside(None, two.get(flows)) for flows in FLOWS)
            rows.append(["… with all flows on two machines", *cells])
    heads = ["published / here", *(f"{flows} flow{'s' if flows > 1 else ''}" for flows in FLOWS)]
    return markdown(heads, rows)


def _beside(published: int | None, ours: float | None) -> str:
    """The published number and ours, in bold where they do not agree."""
    if ours is None:
        return ""
    if published is None:
        return f"{ours:.0f}"
    form = "{} / **{:.0f}**" if beyond(published, ours) else "{} / {:.0f}"
    return form.format(published, ours)


def factors() -> pl.DataFrame:
    """The runs of web-aqm-factors; loss and rate are means of both directions."""
    runs = pl.read_parquet(RESULTS / "web-aqm-factors-quick.parquet")
    both = ("bottleneck", "reverse")
    return runs.select(
        "factor",
        "scheme",
        loss=100 * pl.mean_horizontal(f"{link}.loss" for link in both),
        rate=pl.mean_horizontal(f"{link}.throughput_bps" for link in both) / 1e6,
        sojourn=1e3 * pl.mean_horizontal(f"{link}.sojourn_mean_s" for link in both),
    )


def _factors() -> str:
    rows = []
    for (factor, scheme), part in factors().group_by("factor", "scheme", maintain_order=True):
        cells = [with_interval(part[name].to_list()) for name in ("loss", "rate", "sojourn")]
        rows.append([str(factor), str(scheme), *cells])
    return sortable(["factor", "scheme", "loss %", "rate Mb/s", "wait in the discipline ms"], rows)


def _beside_linux() -> str:
    heads, *rows = json.loads((RESULTS / "l4s-linux.json").read_text(encoding="utf-8"))
    return markdown(heads, rows)


def _stored(part: str) -> str:
    path = RESULTS / "linux-reference-settings.json"
    heads, *rows = json.loads(path.read_text(encoding="utf-8"))[part]
    return markdown(heads, rows)


def ways() -> tuple[list[list[Any]], list[list[Any]]]:
    """What pi-hardware found, without headings: for each way of cutting, and for each network."""
    kept = json.loads((RESULTS / "pi-hardware-full.json").read_text(encoding="utf-8"))
    return kept["ways"][1:], kept["networks"][1:]


def _ways() -> str:
    heads = ["entries", "way", "deviation over exact PI's: geometric mean", "worst"]
    heads += ["utilisation, worst change (points)", "loss, mean change (%)"]
    rows = [
        [str(entries), way, f"{mean:.2f}", f"{worst:.2f}", f"{busy:+.2f}", f"{loss:+.1f}"]
        for way, entries, mean, worst, busy, loss in ways()[0]
    ]
    return markdown(heads, rows)


def _networks() -> str:
    kept = json.loads((RESULTS / "pi-hardware-full.json").read_text(encoding="utf-8"))
    rows = [
        [f"{p:.2g}", f"{rate:g}", f"{flows}", f"{rtt:g}", *(f"{each:.2f}" for each in found)]
        for p, rate, flows, rtt, *found in ways()[1]
    ]
    return markdown(kept["networks"][0], rows)


def _runs(file: str, labels: str) -> str:
    """All runs of a study, a row each, with these labels and their seeds."""
    names = [*labels.split(), "seed"]
    heads = [*names, *(head for _, head, _, _ in _COLUMNS)]
    rows = []
    for row in pl.read_parquet(RESULTS / f"{file}.parquet").iter_rows(named=True):
        cells = ["" if row[name] is None else str(row[name]) for name in names]
        for name, _, factor, digits in _COLUMNS:
            cells.append("" if row[name] is None else f"{factor * row[name]:.{digits}f}")
        rows.append(cells)
    return sortable(heads, rows)


def _switch(scheme: str) -> tuple[str, str, int | None]:
    return ("ared" if scheme in _SWITCHED else "grid", scheme, None)


_SWITCHED = (
    "ARED 24 bytes",
    "ARED 24 bytes ECN",
    "ARED 24 bytes marks ECN",
    "ARED 24 instantaneous",
    "ARED 24 instantaneous ECN",
    "ARED 24 marks ECN",
    "ARED 24 not gentle",
    "ARED 24 not gentle ECN",
    "ARED 240 bytes",
)
_UNSWITCHED = ("drop-tail 240", "ARED 24", "ARED 24 ECN", "ARED 240")
_SWITCH_RUNS = {name: _switch(name) for name in sorted((*_SWITCHED, *_UNSWITCHED))}
_PACKET_RUNS = {
    "drop-tail 240": ("grid", "drop-tail 240", None),
    "PI 24": ("grid", "PI 24", None),
    "PI 24, 1000 bytes": ("mean packet", "PI 24", 1000),
    "PI 24, 1500 bytes": ("mean packet", "PI 24", 1500),
    "PI 24 ECN": ("grid", "PI 24 ECN", None),
    "PI 24 ECN, 1000 bytes": ("mean packet", "PI 24 ECN", 1000),
    "PI 24, no framing": ("no framing", "PI 24", None),
    "ARED 24": ("grid", "ARED 24", None),
    "ARED 24, no framing": ("no framing", "ARED 24", None),
}
_PARTS = json.loads(BENCHES.read_text(encoding="utf-8"))
TABLES: Mapping[str, Callable[[], str]] = {
    **{f"performance {part}": partial(_performance, part) for part in _PARTS},
    "linux-reference agreement": _agreement,
    "linux-reference pooled": _pooled,
    "linux-reference grid": _grid,
    "linux-reference settings": lambda: _stored("settings"),
    "linux-reference cubic": lambda: _stored("cubic"),
    "l4s linux": _beside_linux,
    "arena-cbq runs": partial(_runs, "arena-cbq-full", "part scheme qref"),
    **study_tables.TABLES,
    "pi-hardware ways": _ways,
    "pi-hardware networks": _networks,
    "scalable-2003 transfers": _transfers,
    "scalable-2003 runs": partial(
        _runs, "scalable-2003-full", "part stack flows rate counting b control p window"
    ),
    "web-aqm-2003 published": partial(_schemes, "98 %", _PUBLISHED),
    "web-aqm-2003 loads": _loads,
    "web-aqm-2003 switches": partial(_single, _SWITCH_RUNS),
    "web-aqm-2003 packets": partial(_single, _PACKET_RUNS),
    "web-aqm-factors": _factors,
    "web-aqm-2003 runs": partial(_runs, "web-aqm-2003-grid", "scheme load"),
}
