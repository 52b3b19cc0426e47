"""Which measures are shown together: the tables that people see, on a terminal as in a notebook."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sojourn.formatting import listed
from sojourn.measures import (
    BY_NAME,
    Measure,
    mean,
    measure,
    of_group,
    of_link,
    pooling,
    values,
)
from sojourn.measures.definitions import CALL, GROUP, LINK, PAGES, PING, VIDEO, Definition, named
from sojourn.measures.pooling import Entry, Summary
from sojourn.statistics import student_interval

NOTHING = "–"

LINK_SHOWN = named(LINK, "sojourn_mean_s", "sojourn_p99_s", "queue_mean_packets",
                   "queue_p99_packets", "loss", "mark_fraction", "utilisation",
                   "throughput_bps")  # fmt: skip
GROUP_SHOWN = named(GROUP, "members", "goodput_bps", "jain", "finished", "failed",
                    "response_p50_s", "response_p90_s", "response_p99_s", "retransmissions",
                    "timeouts")  # fmt: skip
PING_SHOWN = named(PING, "pings", "ping_p50_s", "ping_p90_s", "ping_p99_s")
_TRAFFIC = ("goodput_bps", "finished", "failed", "response_p50_s", "response_p90_s",
            "response_p99_s", "ping_p50_s", "ping_p99_s")  # fmt: skip
_PAGES_SHOWN = named(PAGES, "pages", "page_load_p50_s", "page_load_p90_s", "page_load_p99_s")
# More copies of a link or group than these have one row.
_COPIES = 8
# What tells a copy of a link, of a class in it or of a group from others: a number behind its name.
_COPY = re.compile(r"\.\d+(?=$|/|\.reverse$)")
# More links than these are shown only to those who want to see everything.
_LINKS = 2


@dataclass(frozen=True)
class Table:
    """Rows of numbers for people, the first column being a name."""

    title: str
    headings: list[str]
    rows: list[list[str]]


def number(value: float | None, scale: float = 1, digits: int = 0, *, sign: bool = False) -> str:
    """A number for people, or a dash."""
    if value is None:
        return NOTHING
    return f"{value * scale:{'+' if sign else ''}.{digits}f}"


def written(
    value: float | None, definition: Definition, beside: Sequence[float | None] = ()
) -> str:
    """A measure for people, in its unit, with as many digits as those ``beside`` it need."""
    return number(value, definition.scale, definition.digits_for([value, *beside]))


def headings(definitions: Sequence[Definition]) -> list[str]:
    """The heads of columns: of a family the first one says what it is, the others follow."""
    found, last = [], ""
    for each in definitions:
        follows = bool(each.family) and each.family == last
        words = [each.heading] if follows else [each.family, each.heading, each.unit]
        found.append(" ".join(filter(None, words)))
        last = each.family
    return found


def whole_heading(measure: Measure) -> str:
    """What a measure is, whose, and its unit: ``goodput of web, Mb/s``."""
    each = measure.definition
    name = " ".join(filter(None, [each.family, each.heading]))
    place = f" of {measure.place}" if measure.place else ""
    return f"{name}{place}, {each.unit}".removesuffix(", ")


def links(summary: Summary) -> Table:
    """The links of a run, each with those of its classes that had packets.

    An ideal link has no queue to speak of.
    """
    classes: dict[str, list[Entry]] = {}
    for each in summary["links"]:
        if each["rate_bps"] is None and "/" in each["name"] and each["arrived"]:
            classes.setdefault(each["name"].partition("/")[0], []).append(each)
    entries: list[Entry] = []
    for link in [each for each in summary["links"] if each["rate_bps"] is not None]:
        within = f"{link['name']}/"
        inside = classes.get(link["name"].partition("/")[0], [])
        entries += [link, *(each for each in inside if each["name"].startswith(within))]
    return _table("link", entries, LINK_SHOWN)


def groups(summary: Summary) -> Table:
    """The groups of a run, but for pings."""
    probes = {g["name"] for g in pooling.pings(summary)}
    there = [g for g in summary["groups"] if g["name"] not in probes]
    waited = {g["name"] for g in pooling.timed(summary)}

    def shown(entry: Entry, definition: Definition) -> float | None:
        # Packets of UDP are counted, but nobody waits for one.
        silent = definition.name in ("finished", "failed") and entry["name"] not in waited
        return None if silent else definition.of(entry)

    return _table("group", there, GROUP_SHOWN, shown)


def pings(summary: Summary) -> Table:
    """The groups of pings of a run."""
    return _table("ping", pooling.pings(summary), PING_SHOWN)


def pages(summary: Summary) -> Table:
    """The groups of web users of a run, and their pages."""
    return _table("web", pooling.webs(summary), _PAGES_SHOWN)


def videos(summary: Summary) -> Table:
    """The groups of viewers of a run."""
    return _table("video", pooling.videos(summary), VIDEO)


def calls(summary: Summary) -> Table:
    """The groups of calls of a run."""
    return _table("call", pooling.calls(summary), CALL)


def tables(summary: Summary) -> list[Table]:
    """All of a run that has something to show."""
    parts = [part(summary) for part in (links, groups, pages, pings, videos, calls)]
    return [part for part in parts if part.rows]


def _table(
    what: str,
    entries: Sequence[Entry],
    definitions: Sequence[Definition],
    of: Callable[[Entry, Definition], float | None] = lambda entry, each: each.of(entry),
) -> Table:
    copies = _copies(entries)
    columns = [
        [_median([of(entry, each) for entry in alike]) for alike in copies.values()]
        for each in definitions
    ]
    names = [
        f"{name}, median of {len(alike)}" if len(alike) > 1 else name
        for name, alike in copies.items()
    ]
    cells = [
        [written(value, each, column) for value in column]
        for each, column in zip(definitions, columns, strict=True)
    ]
    rows = [[name, *row] for name, *row in zip(names, *cells, strict=True)]
    return Table("", [what, *headings(definitions)], rows)


def _copies(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Entries by what a row is called: more than a few copies of one link or group share one."""
    stems = [_COPY.sub(".*", str(entry["name"])) for entry in entries]
    counts = Counter(stems)
    found: dict[str, list[Entry]] = {}
    for stem, entry in zip(stems, entries, strict=True):
        name = stem if counts[stem] > _COPIES else str(entry["name"])
        found.setdefault(name, []).append(entry)
    return found


def _median(values: Sequence[float | None]) -> float | None:
    there = sorted(value for value in values if value is not None)
    if not there:
        return None
    return (there[len(there) // 2] + there[(len(there) - 1) // 2]) / 2


@dataclass(frozen=True)
class Section:
    """Measures that belong in one table, of several runs."""

    title: str
    measures: tuple[Measure, ...]
    values: Mapping[str, Mapping[str, Sequence[float | None]]]
    """By label, then by measure: that of each run."""

    @classmethod
    def of(
        cls, title: str, measures: Sequence[Measure], rows: Mapping[str, Sequence[Summary]]
    ) -> Section:
        """Measures of the runs of each label."""
        found = {label: values(measures, runs) for label, runs in rows.items()}
        return cls(title, tuple(measures), found)

    def there(self) -> Section:
        """Those with something to show. Failures are shown where there are any."""
        runs = self.values.values()
        there = [
            each
            for each in self.measures
            if any(value is not None for of in runs for value in of[each.name])
            and (each.name != "failed" or any(value for of in runs for value in of[each.name]))
        ]
        return replace(self, measures=tuple(there))


def sections(
    rows: Mapping[str, Sequence[Summary]], everything: bool = False, chosen: Sequence[str] = ()
) -> list[Section]:
    """What is shown of several runs: a link and the way back, and what its users felt.

    Args:
        rows: The runs' summaries, by what the runs are called.
        everything: Each link and each group by itself as well.
        chosen: Measures by name, instead of all that.
    """
    if chosen:
        return [Section.of(", ".join(chosen), [measure(name) for name in chosen], rows)]
    summaries = [summary for group in rows.values() for summary in group]
    found: list[tuple[str, Sequence[Measure]]] = [
        (f"link {name}", of_link(name, LINK_SHOWN))
        for name in rated_links(summaries)[: None if everything else _LINKS]
    ]
    for what, of, definitions in (
        ("pages", pooling.webs, _PAGES_SHOWN),
        ("video", pooling.videos, VIDEO),
        ("calls", pooling.calls, CALL),
    ):
        title = f"{what} of {_names(of, summaries)}"
        found.append((title, [BY_NAME[each.name] for each in definitions]))
    title = ", ".join(filter(None, ["traffic", pooled_words(summaries)]))
    found.append((title, [BY_NAME[name] for name in _TRAFFIC]))
    if everything:
        names = dict.fromkeys(g["name"] for summary in summaries for g in summary["groups"])
        found += [(f"group {name}", of_group(name, GROUP_SHOWN)) for name in names]
    shown = [Section.of(title, measures, rows).there() for title, measures in found]
    return [each for each in shown if each.measures]


def rated_links(summaries: Sequence[Summary]) -> list[str]:
    """The links with a rate, in the order of the summaries. Classes have none."""
    return list(
        dict.fromkeys(
            link["name"]
            for summary in summaries
            for link in summary["links"]
            if link["rate_bps"] is not None
        )
    )


def pooled_words(summaries: Sequence[Summary]) -> str:
    """Whose response times and pings are meant, and whether several groups are taken as one."""
    said = [
        f"{what} {names}"
        for what, of in (("response times of", pooling.timed), ("pings of", pooling.pings))
        if (names := _names(of, summaries))
    ]
    return ", ".join(said)


def _names(of: Callable[[Summary], list[Entry]], summaries: Sequence[Summary]) -> str:
    groups = list(dict.fromkeys(g["name"] for one in summaries for g in of(one)))
    return listed(groups) + (" as one" if len(groups) > 1 else "")


def means(
    section: Section,
    more: Mapping[str, Mapping[str, str]] | None = None,
    intervals: bool = False,
) -> Table:
    """For each label the means of a section's measures over its runs.

    Args:
        section: What is measured.
        more: Columns in front of these: for each heading a cell for each label.
        intervals: With half of the 95 % interval.
    """
    more = more or {}
    columns = {
        each.name: [mean(measured[each.name]) for measured in section.values.values()]
        for each in section.measures
    }

    def cell(each: Measure, measured: Sequence[float | None]) -> str:
        known = [value for value in measured if value is not None]
        beside = columns[each.name]
        text = written(mean(known), each.definition, beside)
        half = student_interval(known).half if intervals and known else None
        return text if half is None else f"{text} ±{written(half, each.definition, beside)}"

    body = [
        [
            label,
            *(column[label] for column in more.values()),
            *(cell(each, measured[each.name]) for each in section.measures),
        ]
        for label, measured in section.values.items()
    ]
    told = headings([each.definition for each in section.measures])
    if len({each.place for each in section.measures}) > 1:
        told = [whole_heading(each) for each in section.measures]
    return Table(section.title, ["", *more, *told], body)


def loads(runs: Mapping[str, Sequence[object]]) -> dict[str, dict[str, str]]:
    """A column of realised loads for each label, if any run has one."""
    found = {
        label: mean([getattr(run, "realised_load", None) for run in group])
        for label, group in runs.items()
    }
    if all(value is None for value in found.values()):
        return {}
    return {"load": {label: number(value, 1, 3) for label, value in found.items()}}
