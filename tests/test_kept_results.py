"""Pages against the results that are kept for them: studies and benchmarks."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path

import polars as pl
import pytest

from documents import DOCS, ROOT, text_of

sys.path.insert(0, str(DOCS / "builder"))
import data
import study_tables

from sojourn.studies.kept import kept
from sojourn.studies.scalable_2003.published import FLOWS, TRANSFERS

PAGES = sorted((DOCS / "studies").glob("*.md"))


def words(name: str) -> str:
    """The running text of a page on one line."""
    return " ".join(text_of(DOCS / "studies" / f"{name}.md").split())


def test_every_mark_becomes_a_table_and_every_table_is_used() -> None:
    pages = [*PAGES, DOCS / "explanation/performance.md"]
    marks = [mark for page in pages for mark in data.MARK.findall(text_of(page))]
    assert sorted(marks) == sorted(data.TABLES)
    for page in pages:
        filled = data.filled(text_of(page))
        assert not data.MARK.search(filled)
        assert not data.MARK.search(text_of(page)) or len(filled) > len(text_of(page)) + 400


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_say_what_was_found_and_not_when(page: Path) -> None:
    text = words(page.stem)
    assert not re.search(r"\b(?:\d+ November|2026-|November 20)|\bbeside other work\b", text)


def test_cake_reference_counts_right() -> None:
    text = words("cake-reference")
    found = study_tables.claims("cake-reference", "full")
    agree = {
        engine: [each["verdict"] == "agrees" for each in found if each["claim"].startswith(engine)]
        for engine in ("packets", "linux")
    }
    packets, hosts = agree.values()
    assert (
        f"**{sum(packets)} of {len(packets)} situations of the packet engine agree with Linux**, "
        f"and {sum(hosts)} of {len(hosts)} of the linux engine" in text
    )


def test_linux_reference_is_short_and_counts_right() -> None:
    text = words("linux-reference")
    assert len(text.encode()) < 15_000
    packets, hosts = data.agreement("packets"), data.agreement("linux")
    other = [name for name, same in hosts.items() if not same]
    assert f"**{sum(packets.values())} of {len(packets)} agree.**" in text
    assert (
        f"agrees with Linux alone in {sum(hosts.values())} situations, and the packet engine in "
        f"{sum(packets[name] for name in other)} of the other {len(other)}." in text
    )
    path = data.RESULTS / "linux-reference-full.parquet"
    seeds = dict(
        pl.read_parquet(path).filter(engine="packets").select("situation", "agreeing").iter_rows()
    )
    apart = [name for name, same in packets.items() if not same]
    chance = sum(seeds[name] > 0 for name in apart)
    assert f"Of the {len(apart)} others {chance} have seeds that agree" in text
    testing = " ".join(text_of(DOCS / "explanation/testing.md").split())
    assert f"{sum(packets.values())} of {len(packets)} situations agree with Linux" in testing


def test_linux_reference_quotes_its_situations_right() -> None:
    text = words("linux-reference")
    found = {engine: data.linux(engine) for engine in ("kernel", "linux", "packets")}
    at = "codel, 10 Mb/s, 20 ms, 8 × scalable"
    mean = {engine: f"{1e3 * each[at].sojourn_s:.1f}" for engine, each in found.items()}
    assert f"mean is {mean['packets']} ms for Linux's {mean['kernel']}," in text
    assert f"Linux's TCP over our CoDel has {mean['linux']}." in text
    for mbit, said in ((10, "{} % for Linux's {} at 10 Mb/s"), (50, "{} for {} at 50")):
        one = f"cobalt, {mbit} Mb/s, 100 ms, 1 × cubic"
        used = [f"{100 * found[each][one].utilisation:.1f}" for each in ("packets", "kernel")]
        assert said.format(*used) in text
    agree = data.agreement("packets")
    slow = [same for name, same in agree.items() if re.match(r"cobalt, .* 100 ms, 1 ×", name)]
    count = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight")
    phrase = f"{count[sum(slow)]} of the {count[len(slow)]} rows with one flow and 100 ms agree"
    assert phrase in text


def test_linux_reference_quotes_its_bias_right() -> None:
    text = words("linux-reference")

    def drops(mbit: int, **where: str) -> float:
        return math.exp(data.pooled("packets", "dropped", mbit, **where)[1].mean)

    kinds = ("red", "codel", "cobalt", "fq_codel", "pie", "droptail")
    by_queue = {each: drops(10, qdisc=each) for each in kinds}
    assert min(by_queue, key=by_queue.__getitem__) == "pie"
    assert max(by_queue, key=by_queue.__getitem__) == "codel"
    low, high, plain = (by_queue[each] for each in ("pie", "codel", "droptail"))
    assert f"{low:.3f} (PIE) to {high:.3f} (CoDel), and {plain:.3f} where" in text
    laws = {law: drops(10, congestion=law) for law in ("reno", "cubic", "scalable", "westwood")}
    least, most = min(laws, key=laws.__getitem__), max(laws, key=laws.__getitem__)
    assert (least, most) == ("reno", "scalable")
    assert f"{laws[least]:.3f} (Reno) to {laws[most]:.3f} (Scalable)" in text
    # What the sentences say beyond the numbers.
    (_, ten), (_, fifty) = (data.pooled("packets", "dropped", mbit) for mbit in (10, 50))
    assert ten.high is not None and ten.high < 0
    assert fifty.low is not None and fifty.high is not None and fifty.low < 0 < fifty.high
    hosts = data.pooled("linux", "dropped", 10)[1]
    assert hosts.high is not None and hosts.high < 0
    assert hosts.mean == pytest.approx(ten.mean * 2 / 5, rel=0.15)
    more = [data.pooled("packets", each, 50)[1] for each in ("sojourn_s", "utilisation")]
    assert all(each.low is not None and each.low > 0 for each in more)
    wait, busy = (100 * math.expm1(each.mean) for each in more)
    assert f"they are {wait:.1f} and {busy:.1f} % higher" in text
    for measure in ("sojourn_s", "utilisation"):
        found = data.pooled("packets", measure, 10)[1]
        assert found.low is not None and found.high is not None and found.low < 0 < found.high


# How many claims there are, how many do not agree, and how many cannot be told.
COUNTS = {
    "arena-cbq": (
        "Of 21 claims 10 agree, 4 do not, 2 cannot be told, and 5 are shown without a verdict.",
        21, 4, 2,
    ),
    "codel-2012": ("One claim does not agree, two cannot be told.", 39, 1, 2),
    "home": (
        "Of thirteen claims eleven agree, one does not, and one cannot be told.", 13, 1, 1,
    ),
    "l4s": ("Of 26 claims 17 agree, seven do not, and two cannot be told.", 26, 7, 2),
    "pi-2001": ("`full`, forty seeds: of four claims all agree.", 4, 0, 0),
    "rfc7928": ("Of twenty claims one does not agree and one cannot be told.", 20, 1, 1),
    "web-aqm-2003": (
        "Of 22 claims ten agree, ten do not, and two cannot be told.", 22, 10, 2,
    ),
    "web-aqm-factors": (
        "Of 28 claims seven agree, 15 do not, and six cannot be told.", 28, 15, 6,
    ),
    "web-today": (
        "Of 22 claims ten agree, five do not, and seven cannot be told.", 22, 5, 7,
    ),
    "web-red-2000": (
        "Of 17 claims six agree, eight do not, and three cannot be told.", 17, 8, 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", study_tables.CLAIMS)
def test_pages_count_their_verdicts_right(name: str) -> None:
    sentence, *counts = COUNTS[name]
    assert sentence in words(name)
    found = [each["verdict"] for each in study_tables.claims(name, study_tables.CLAIMS[name])]
    assert counts == [len(found), found.count("differs"), found.count("undecided")]


def test_the_testbed_of_2003_is_quoted_right() -> None:
    record = kept("web-aqm-factors", "long")
    assert record is not None and (len(record["seeds"]), record["runs"]) == (3, 96)
    text = words("web-aqm-factors")
    table = study_tables.table("web-aqm-factors", "long", "The testbed as it probably was")
    rows = {row["scheme, load"]: row for row in table}

    def of(name: str, column: str) -> float:
        return float(str(rows[name][column]).split(" ± ")[0])

    def rate(name: str) -> float:
        return of(name, "rate (Mb/s)") / of(name, "rate, published (Mb/s)")

    numbers = [
        round(of(f"{name}, 98 %", column), 1)
        for name in ("drop-tail 240", "PI 24", "PI 24 ECN")
        for column in ("rate (Mb/s)", "rate, published (Mb/s)")
    ]
    quoted = "{} Mb/s at 98 % for {}, over PI {} for {}, with ECN {} for {}".format(*numbers)
    assert quoted in text
    for load in ("90 %", "98 %", "105 %"):
        for name in ("drop-tail 240", "PI 24", "PI 24 ECN"):
            assert abs(rate(f"{name}, {load}") - 1) < 0.01
    loads = ("80 %", "90 %", "98 %", "105 %")
    rem, ared = (max(rate(f"{n}, {at}") for at in loads) for n in ("REM 24", "ARED 24"))
    assert f"up to {100 * (rem - 1):.1f} % more than there" in text
    assert f"without ECN up to {100 * (ared - 1):.1f} %" in text
    times = {
        name: [of(f"{name}, {at}", "response, 2 s at most (ms)") for at in loads]
        for name in ("PI 24", "PI 24 ECN", "REM 24 ECN", "uncongested")
    }
    gains = [a - b for a, b in zip(times["PI 24"][1:], times["PI 24 ECN"][1:], strict=True)]
    assert "improves PI by {:.0f}, {:.0f} and {:.0f} ms".format(*gains) in text
    near = (times[name][1] for name in ("PI 24 ECN", "REM 24 ECN", "uncongested"))
    assert "({:.0f} and {:.0f} ms for {:.0f})".format(*near) in text


def test_web_red_2000_quotes_its_runs_right() -> None:
    record = kept("web-red-2000", "full")
    assert record is not None and (len(record["seeds"]), record["runs"]) == (3, 225)
    text = words("web-red-2000")
    assert "`--scale full --seeds 3`: 225 runs" in text
    scheme = {
        row["scheme, load"]: row
        for row in study_tables.table("web-red-2000", "full", "Each scheme on other testbeds")
    }

    def of(name: str, column: str) -> float:
        return float(scheme[name][column].split(" ± ")[0])

    assert f"within 9 ms of FIFO's {of('FIFO, 80 %', 'ring 128, ms'):.0f}" in text
    for each in ("RED", "PI 20", "PI 200"):
        for testbed in ("ring 128", "ring 128, formula"):
            column = f"{testbed}, ms"
            assert abs(of(f"{each}, 80 %", column) - of("FIFO, 80 %", column)) < 9
    lost = (of("PI 20, 80 %", f"{name}, loss (%)") for name in ("ring 128", "plain"))
    assert "({} % for {:.1f} %)".format(*lost) in text
    times = (of("PI 200, 100 %", f"{name}, ms") for name in ("plain", "formula"))
    assert "take PI 200 from {:.0f} to {:.0f} ms at 100 %".format(*times) in text


def test_web_today_quotes_versions_of_http_right() -> None:
    text = words("web-today")
    table = study_tables.table("web-today", "quick", "Pages over each version of HTTP")

    def of(where: str, column: str) -> list[float]:
        return [float(str(row[column]).split(" ± ")[0]) for row in table if row[""] == where]

    median, slow, loss = "page load, median (ms)", "90 % (ms)", "loss (%)"
    tail, fair = "80 %, drop-tail 500", "80 %, FQ-CoDel"
    one, two, three = (f"{ms / 1e3:.2f}" for ms in of(tail, median))
    said = f"takes {one} s over HTTP/1.1, {two} s over HTTP/2 and {three} s over HTTP/3"
    assert said in text
    one, two, three = (f"{lost:.1f}" for lost in of(tail, loss))
    assert f"loses {two} and {three} % of the packets where it loses {one} %" in text
    ms = [each / 1e3 for each in of(tail, slow)]
    assert f"takes {ms[1]:.0f} and {ms[2]:.0f} s instead of {ms[0]:.1f} s" in text
    managed = [each / 1e3 for each in of(fair, slow)]
    assert f"FQ-CoDel ends that: {managed[1]:.1f} and {managed[2]:.1f} s, at 0.3 %" in text
    assert max(of(fair, loss)[1:]) < 0.305
    more = [b - a for a, b in zip(of(tail, median), of(fair, median), strict=True)][1:]
    assert all(50 < each < 150 for each in more), "0.1 s more in the median"
    busy, calm = "98 %, drop-tail 500", "98 %, FQ-CoDel"
    more = [b - a for a, b in zip(of(busy, median), of(calm, median), strict=True)][1:]
    assert [f"{each / 1e3:.1f}" for each in more] == ["0.8", "0.8"]
    off = [a - b for a, b in zip(of(busy, slow), of(calm, slow), strict=True)][1:]
    assert [f"{each / 1e3:.0f}" for each in off] == ["5", "7"]
    for where in ("together, drop-tail 500", "together, FQ-CoDel"):
        alone, burst, _ = (f"{ms / 1e3:.2f} s" for ms in of(where, median))
        first, second = sorted((alone, burst))
        assert f"({first} against {second})" in text
    lossy = [f"{ms / 1e3:.1f}" for ms in of("0.5 % lost", median)]
    assert f"takes {lossy[0]} s over HTTP/1.1 and {lossy[1]} and {lossy[2]} s over" in text


def test_web_today_quotes_its_runs_at_full_length_right() -> None:
    text = words("web-today")
    verdicts = [each["verdict"] for each in study_tables.claims("web-today", "full")]
    assert [verdicts.count(each) for each in ("agrees", "differs", "undecided")] == [11, 8, 3]
    assert "eleven agree, eight do not, and three cannot be told. Five are judged" in text
    assert study_tables.turned("web-today", "quick", "full").count("\n") == 5 + 1

    home = {str(row[""]): [*row.values()] for row in study_tables.table(
        "web-today", "full", "The household")}  # fmt: skip

    def mean(scheme: str, column: int) -> float:
        return float(str(home[scheme][column]).split(" ± ")[0])

    tail = "drop-tail 500 ms, CUBIC"
    assert f"to {mean(tail, 2):.2f} Mb/s where two minutes gave 1.5" in text
    assert f"a median page takes {mean(tail, 1) / 1e3:.1f} s instead of 10.6 s" in text
    prague, cubic = (mean(f"DualPI2, {each}", 1) / 1e3 for each in ("Prague", "CUBIC"))
    assert f"{prague:.2f} s beside it, {cubic:.2f} s beside CUBIC." in text
    lost = [
        float(str([*row.values()][2]).split(" ± ")[0]) / 1e3
        for row in study_tables.table("web-today", "full", "Pages over each version of HTTP")
        if row[""] == "0.5 % lost"
    ]
    _, two, three = lost
    assert f"takes {three:.2f} s over it and {two:.2f} s over HTTP/2" in text


def test_web_today_quotes_its_tables_right() -> None:
    text = words("web-today")

    def rows(title: str) -> dict[str, dict[str, float]]:
        found = study_tables.table("web-today", "quick", title)
        return {
            str(row.pop("")): {name: float(x.split(" ± ")[0]) for name, x in row.items()}
            for row in found
        }

    pages, home = rows("Pages on the shared link"), rows("The household")
    shortest = ("PI", "COBALT", "DualPI2")
    load = "page load, median (ms)"
    full = {name: row for name, row in pages.items() if name.startswith("98 %")}
    others = [
        row[load]
        for name, row in full.items()
        if name[6:] not in ("uncongested", "drop-tail 50", *shortest)
    ]
    own, small = full["98 %, uncongested"][load], full["98 %, drop-tail 50"][load]
    assert max(others) / min(others) < 1.06, "one curve"
    assert f"half of the pages take {sum(others) / len(others) / 1e3:.1f} s instead of" in text
    assert f"instead of {own / 1e3:.1f} s on" in text and f"it is {small / 1e3:.1f} s, and" in text
    half = {name[6:]: row[load] for name, row in pages.items() if name.startswith("50 %")}
    twice = half.pop("drop-tail 50") / half["uncongested"]
    assert twice > 2 and "twice as long as on the uncongested link even at half load" in text
    slower = [x / half["uncongested"] - 1 for name, x in half.items() if name != "uncongested"]
    assert f"are {100 * min(slower):.0f} to {100 * max(slower):.0f} % slower" in text
    holds = [f"{full[f'98 %, {name}']['mean delay (ms)']:.0f}" for name in shortest]
    assert "{}, {} and {} ms at 98 %".format(*holds) in text
    more = [full[f"98 %, {name}"][load] - full["98 %, drop-tail 500"][load] for name in shortest]
    assert f"takes {min(more) / 1e3:.1f} to {max(more) / 1e3:.1f} s more" in text
    lost = [full[f"98 %, {name}"]["loss (%)"] for name in ("COBALT", "CoDel")]
    assert f"loses {lost[0]:.2f} % of the packets where CoDel loses {lost[1]:.2f}" in text
    deep = full["98 %, drop-tail 4000"]["mean delay (ms)"]
    assert f"half a second of drop-tail holds {deep:.0f} ms on average" in text
    bad, good = home["drop-tail 500 ms, CUBIC"], home["FQ-CoDel, CUBIC"]
    assert (
        f"pages take {bad[load] / 1e3:.1f} s, films fall to {bad['films (Mb/s)']:.1f} Mb/s" in text
    )
    assert f"{bad['late frames (%)']:.0f} % of the call's frames" in text
    assert f"pages take {good[load] / 1e3:.1f} s, films have their full" in text
    assert good["films (Mb/s)"] == 5.8 and good["late frames (%)"] == 0
    rates = [f"{row['download (Mb/s)']:.1f}" for row in (good, bad)]
    assert f"gets {rates[0]} instead of {rates[1]} Mb/s" in text
    short = home["drop-tail 20 ms, CUBIC"]["download (Mb/s)"]
    assert short < bad["download (Mb/s)"] / 2 and "loses more than half of its rate" in text
    beside = [home[f"DualPI2, {name}"] for name in ("Prague", "CUBIC")]
    ours, theirs = (f"{row[load] / 1e3:.2f} s" for row in beside)
    assert f"({ours} beside it, {theirs} beside CUBIC)" in text
    ours, theirs = (f"{row['download (Mb/s)']:.1f}" for row in beside)
    assert f"the download {ours} instead of {theirs} Mb/s" in text
    ours, theirs = (f"{row['call (Mb/s)']:.1f}" for row in beside)
    assert f"from {theirs} to {ours} Mb/s" in text
    ours = f"{home['FQ-CoDel, Prague']['download (Mb/s)']:.1f}"
    assert f"the download has {ours} instead of {rates[0]} Mb/s" in text
    over = [home[f"drop-tail 500 ms, HTTP/{version}"][load] / 1e3 for version in (2, 3)]
    assert f"takes {over[0]:.1f} and {over[1]:.1f} s, under PIE" in text
    managed = [
        home[f"{scheme}, HTTP/{version}"][load] / 1e3
        for scheme in ("PIE", "DualPI2", "FQ-CoDel")
        for version in (2, 3)
    ]
    assert f"FQ-CoDel {min(managed):.1f} to {max(managed):.1f} s" in text
    single = [row for name, row in home.items() if name.endswith("BBR") and "FQ" not in name]
    assert max(row["call (Mb/s)"] for row in single) < 0.7 and "less than 0.7 Mb/s" in text
    assert f"({home['drop-tail 500 ms, BBR'][load] / 1e3:.1f} s for a page)" in text


def test_rate_feedback_quotes_what_is_kept() -> None:
    text = words("rate-feedback")
    found = {each["claim"]: each for each in study_tables.claims("rate-feedback", "quick")}
    for power in (1, 2, 4):
        name = f"Utilisation with B = {power} at R = 0.1, 0.3 and 0.8 s, in packets."
        theirs = found[name]["published"].split(", ")
        ours = [float(each.split(" ± ")[0]) for each in found[name]["ours"].split(", ")]
        cells = [f"{a} / {b:.3f}" for a, b in zip(theirs, ours, strict=True)]
        assert f"| B = {power} | {' | '.join(cells)} |" in text
        assert (
            "does not agree" if found[name]["verdict"] == "differs" else "cannot be told"
        ) in text
    ours = found["A longer round trip unsettles a loop on the queue and settles one on the rate."]
    for unit in re.findall(r"\d+ ms", ours["ours"]):
        assert unit in text


def test_scalable_quotes_its_transfers_right() -> None:
    text = words("scalable-2003")
    both = [
        (theirs, data.transfers("bulk", stack)[flows])
        for stack, published in TRANSFERS.items()
        for flows, theirs in zip(FLOWS, published, strict=True)
    ]
    near = sum(not data.beyond(*pair) for pair in both)
    assert (near, len(both)) == (12, 15)
    assert "Twelve of the fifteen numbers are within the 20 % that were set as margin" in text
    two = data.transfers("machines", "scalable")
    placed = [str(two[flows]) for flows in (4, 8, 16)]
    wanted = [str(each) for each in TRANSFERS["scalable"][2:]]
    said = " for the published ".join(f"{a}, {b} and {c}" for a, b, c in (placed, wanted))
    assert f"so placed Scalable TCP gives {said}" in text
    assert "30 to 50 % faster here" in text
    faster = [ours / theirs - 1 for theirs, ours in both if data.beyond(theirs, ours)]
    assert 0.28 < min(faster) < max(faster) < 0.5


def test_table_of_loads_is_near_the_runs_of_its_first_direction() -> None:
    """The table has the mean of both directions, the runs have the first."""
    runs = pl.read_parquet(data.RESULTS / "web-aqm-2003-full.parquet").filter(part="grid")
    _, rows = data.loads()
    assert len(rows) == len(runs) == 64
    for load, scheme, loss, _, rate, _ in rows:
        one = runs.filter(scheme=scheme.replace(" with", ""), load=int(load.split()[0]) / 100)
        throughput, lost = one.select("throughput_bps", "loss").row(0)
        assert float(rate.split(" / ")[-1]) == pytest.approx(throughput / 1e6, rel=0.02), scheme
        assert float(loss.split(" / ")[-1]) == pytest.approx(100 * lost, abs=1.0), scheme


def test_pi_hardware_quotes_its_tables_right() -> None:
    text = words("pi-hardware")
    costs, networks = data.ways()
    worst = {(way, entries): each for way, entries, _, each, *_ in costs}
    idle = {(way, entries): each for way, entries, *_, each, _ in costs}
    assert f"leave up to {-idle['geometric', 8]:.1f} % more of the link idle" in text
    assert f"({worst['sqrt', 16]:.1f} times at the smallest p)" in text
    assert f"fail at 8 ({worst['sqrt', 8]:.0f} times)" in text
    *ordinary, last = sorted(networks)
    assert f"(p = {last[0]:.2f}: {worst['optimal', 16]:.0f} times the deviation)" in text
    # Columns after the round trip: exact, linear, sqrt, log, geometric, optimal.
    geometric = [row[8] / row[4] for row in ordinary]
    assert (sum(each < 1 for each in geometric), len(networks)) == (8, 12)
    assert "below exact PI in eight of the twelve networks" in text
    above = f"at most {100 * (max(geometric) - 1):.0f} % above it in all but the one"
    assert f"{above} at p = {last[0]:.2f}" in text
    thick = [row for row in networks if 0.03 < row[0] < 0.06]
    optimal, constant = ([row[column] / row[4] for row in thick] for column in (9, 8))
    assert f"it has {min(optimal):.2f} to {max(optimal):.2f} times the deviation" in text
    assert f"the geometric table {min(constant):.2f} to {max(constant):.2f}" in text


def test_web_aqm_quotes_its_loads_right() -> None:
    text = words("web-aqm-2003")
    _, rows = data.loads()
    ms = {(load, scheme): int(each.split()[0]) for load, scheme, *_, each in rows}

    def gained(load: str, scheme: str) -> int:
        return ms[load, scheme] - ms[load, f"{scheme} with ECN"]

    rem, pi = gained("105 %", "REM 24"), gained("105 %", "PI 24")
    assert f"at 105 % REM gains {rem} ms from it and PI {pi}." in text
    behind = [
        ms[load, "PI 24"] - ms[load, "drop-tail 240"] for load in ("80 %", "90 %", "98 %", "105 %")
    ]
    assert "PI at 80, 90 and 98 % by {}, {} and {} ms".format(*behind) in text
    ahead = ms["105 %", "drop-tail 240"] - ms["105 %", "REM 24"]
    assert f"PI is better by {-behind[3]} ms, REM by {ahead}" in text
    assert f"ECN changes much for PI already at 80 % ({gained('80 %', 'PI 24')} ms)" in text
    ared = [gained(load, "ARED 24") for load in ("80 %", "90 %", "98 %", "105 %")]
    assert f"ARED has {min(ared)} to {max(ared)} ms from it" in text
    large = [f"{ms[load, 'PI 240']} for {ms[load, 'drop-tail 240']}" for load in ("90 %", "105 %")]
    assert f"({large[0]} ms, {large[1]})" in text
    assert f"and equal at 98 % ({ms['98 %', 'PI 240']})" in text
    small = [[ms[load, f"PI {qref} with ECN"] for qref in (24, 240)] for load in ("98 %", "105 %")]
    assert "{} for {} ms and {} for {} with PI".format(*small[0], *small[1]) in text


def test_web_aqm_quotes_its_three_seeds_right() -> None:
    text = words("web-aqm-2003")
    record = kept("web-aqm-2003", "long")
    assert record is not None and (len(record["seeds"]), record["runs"]) == (3, 252)
    rows = {
        row["scheme, load"]: row
        for row in study_tables.table("web-aqm-2003", "long", "Loss, completed exchanges, rate")
    }

    def of(name: str, column: str) -> float:
        return float(rows[name][column].split(" ± ")[0])

    lost = [of(f"{name}, 98 %", "loss (%)") for name in ("ARED 24", "PI 24", "drop-tail 240")]
    assert "say the same: {:.1f}, {:.1f} and {:.1f} %.".format(*lost) in text
    ms = "response, 2 s at most (ms)"
    above = [
        of(f"{name}, 90 %", ms) / of("uncongested, 90 %", ms) - 1
        for name in ("PI 24 ECN", "REM 24 ECN")
    ]
    assert (
        "PI and REM are {:.0f} and {:.0f} % above".format(*(100 * each for each in above)) in text
    )
    loads = study_tables.table("web-aqm-2003", "long", "Realised load")
    asked = next(row for row in loads if row["load asked for"] == "98 %")
    got = sorted(float(value.split()[0]) for name, value in asked.items() if "seed" in name)
    assert f"The seeds realise {got[0]} to {got[-1]} Mb/s" in text
    switches = {
        row["scheme, load"]: float(row["loss (%)"].split(" ± ")[0])
        for row in study_tables.table("web-aqm-2003", "long", "What explains adaptive RED")
    }
    packets, in_bytes = (switches[f"ARED 24{mode} ECN, 98 %"] for mode in ("", " bytes"))
    assert (round(100 / packets), round(100 / in_bytes, -1)) == (13, 70), "in thirteen, in seventy"
    wide = next(
        each["ours"]
        for each in study_tables.claims("web-aqm-2003", "long")
        if each["claim"].startswith("A wider spread")
    )
    assert "gain wide − gain talk: +13.3" in wide and "grows by 13 ms" in text


def test_web_aqm_answers_with_the_numbers_of_the_runs() -> None:
    text = words("web-aqm-2003")
    at = {scheme: cells for load, scheme, *cells in data.loads()[1] if load == "98 %"}

    def both(scheme: str, column: int) -> list[str]:
        """The published value and ours."""
        return at[scheme][column].split(" / ")

    loss = {each: both(each, 0) for each in ("ARED 24", "PI 24", "drop-tail 240")}
    (red, ared), (pi, our_pi), (tail, our_tail) = loss.values()
    said = f"lose {ared} % under adaptive RED and {our_pi} % under PI where the table has {red}"
    assert f"{said} and {pi}, and carry" in text
    rates = [both(each, 2) for each in ("ARED 24", "PI 24")]
    carried, table = zip(*((ours, theirs) for theirs, ours in rates), strict=True)
    assert f"carry {' and '.join(carried)} Mb/s for {' and '.join(table)}" in text
    assert f"drop-tail loses {our_tail} % for {tail}" in text
    means = data.factors().group_by("factor", "scheme").mean()
    rows = {(row["factor"], row["scheme"]): row for row in means.iter_rows(named=True)}
    plain, altq = rows["plain", "ARED 24"], rows["ring 128, RED of ALTQ", "ARED 24"]
    assert f"its loss from {plain['loss']:.1f} to {altq['loss']:.1f} %" in text
    assert f"its rate from {plain['rate']:.1f} to {altq['rate']:.1f} Mb/s" in text
    for factor, said in (
        ("FreeBSD 4", "takes away {:.2f} points of loss"),
        ("ring 128", "the ring {:.2f}."),
    ):
        less = rows["plain", "PI 24"]["loss"] - rows[factor, "PI 24"]["loss"]
        assert said.format(less) in text
    tails = {name: row["loss"] for (name, of), row in rows.items() if of == "drop-tail 240"}
    assert max(tails, key=tails.__getitem__) == "think times Pareto"
    most = tails["think times Pareto"]
    assert f"raise its loss most, from {tails['plain']:.1f} to {most:.1f} %" in text
    assert most < float(tail) - 1


def test_factors_of_the_testbed_are_those_of_the_runs() -> None:
    means = data.factors().group_by("factor", "scheme").mean()
    schemes = ("PI 24", "PI 24 ECN", "ARED 24", "ARED 24 ECN", "drop-tail 240")
    seen = 0
    for line in text_of(DOCS / "studies/web-aqm-factors.md").splitlines():
        factor, *cells = [cell.strip() for cell in line.strip("| ").split("|")]
        for scheme, cell in zip(schemes, cells, strict=False):
            found = re.fullmatch(r"([\d.]+) %, ([\d.]+)", cell)
            if found is None or factor.startswith("published"):
                continue
            (row,) = means.filter(factor=factor, scheme=scheme).iter_rows(named=True)
            assert float(found[1]) == pytest.approx(row["loss"], abs=0.0501), (factor, scheme)
            assert float(found[2]) == pytest.approx(row["rate"], abs=0.0501), (factor, scheme)
            seen += 1
    assert seen == 19


def test_performance_and_readme_quote_the_benchmarks() -> None:
    (speed,) = json.loads(data.BENCHES.read_text(encoding="utf-8"))["speed"]["tables"]
    rows = {row[0]: row for row in speed[1:]}
    ours, _, ns2 = rows["dumbbell-100: ns-2"][1:4]
    ns3 = rows["dumbbell-100: ns-3"][3]
    page = " ".join(text_of(DOCS / "explanation/performance.md").split())
    assert (
        f"goes at {ours.split()[0]} million packets a second, {ns2} times as fast as ns-2" in page
    )
    assert f"and {ns3} times as fast as ns-3" in page
    line = next(each for each in text_of(ROOT / "README.md").splitlines() if "| Speed" in each)
    assert line.split("|")[2:5] == [f" {ns2} ", f" {float(ns2) / float(ns3):.2f} ", " 1 "]


def test_kept_benchmarks_name_their_machine(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "benches"))
    import common

    text = common.table(["work", "s"], [["one", "1.5"], ["two", "2"]])
    cells = common.tables_of(f"before\n\n{text}\n\nbetween\n\n{text}\n")
    assert cells == [[["work", "s"], ["one", "1.5"], ["two", "2"]]] * 2
    common.keep("speed", cells, tmp_path / "results.json")
    common.keep("memory", cells[:1], tmp_path / "results.json")
    kept = json.loads((tmp_path / "results.json").read_text())
    assert list(kept) == ["speed", "memory"]
    assert kept["speed"] == {"machine": common.machine(), "tables": cells}


def _means(name: str, title: str) -> dict[str, dict[str, float]]:
    """A table's means, by the names of its rows."""
    return {
        str(row.pop("")): {
            head: float(cell.split(" ± ")[0].replace("–", "nan")) for head, cell in row.items()
        }
        for row in study_tables.table(name, "quick", title)
    }


def test_home_quotes_its_tables_right() -> None:
    text = words("home")
    places = _means("home", "The household, by the place of its slowest link")
    game, late, page = "game, 99 % (ms)", "late frames (%)", "page, median (s)"
    plain = {name.split(",")[0]: row[game] for name, row in places.items() if "drop" in name}
    device, wifi, gateway, modem, phone = (
        plain[name] for name in ("device", "Wi-Fi", "gateway", "modem", "phone")
    )
    assert f"take {device:.0f} ms in the device, {wifi / 1e3:.1f} s over Wi-Fi" in text
    assert f"{gateway / 1e3:.2f} s behind the gateway, {modem / 1e3:.2f} s behind the modem" in text
    assert f"and {phone / 1e3:.1f} s over the phone" in text
    off = {each: 1 - places[f"{each}, CoDel"][game] / plain[each] for each in plain}
    assert min(off, key=lambda each: off[each]) == "device" and max(off.values()) == off["Wi-Fi"]
    assert 0.2 < off["device"] < 0.3 and 0.8 < off["Wi-Fi"] < 0.87
    assert all(places[f"{each}, PIE"][game] > places[f"{each}, CoDel"][game] for each in plain)
    fair, cake = places["modem, FQ-CoDel"], places["modem, CAKE"]
    own = places["device, FQ-CoDel"][game]
    assert f"{own:.0f} ms in the device, {fair[game]:.0f} ms and {cake[game]:.0f} ms" in text
    assert f"in {fair[page]:.1f} s instead of {places['modem, drop-tail'][page]:.1f} s" in text
    four = [places[f"phone, {each}"][game] for each in ("PIE", "CoDel", "FQ-CoDel", "CAKE")]
    assert f"{min(four) / 1e3:.1f} to {max(four) / 1e3:.1f} s" in text
    assert f"from {places['phone, drop-tail'][late]:.0f} % to 5 %" in text
    rates = ("download (Mb/s)", "upload (Mb/s)")
    got = [sum(places[f"Wi-Fi, {q}"][r] for r in rates) for q in ("FQ-CoDel", "drop-tail")]
    assert "get {:.1f} instead of {:.1f} Mb/s".format(*got) in text
    assert f"With CAKE {cake[late]:.1f} % of" in text
    ends = _means("home", "A cable line managed at neither end, one, or both")
    up, down = ends["FQ-CoDel, up only"], ends["FQ-CoDel, down only"]
    assert f"{up[game]:.0f} ms and a fifth" in text and 18 < up[late] < 24
    assert f"alone {down[game]:.0f} ms and half" in text and 48 < down[late] < 52
    ring = list(_means("home", "FQ-CoDel above a device's ring").values())
    assert f"from {ring[0][game]:.0f} to {ring[1][game]:.0f} ms" in text
    chain = _means("home", "An upload's mean wait, stage by stage")
    at = "modem (ms)"
    assert (
        f"{chain['FQ-CoDel in the gateway'][at]:.0f} ms in the modem instead of "
        f"{chain['plain buffers'][at]:.0f}." in text
    )
    shaped = chain["… which shapes to 95 %"]
    assert f"{shaped['gateway (ms)']:.1f} ms there and {shaped[at]:.1f} ms in the modem" in text


def test_l4s_quotes_its_tables_right() -> None:
    text = words("l4s")
    grid = _means("l4s", "DualPI2 over rates and round trips")
    slow = {name: row for name, row in grid.items() if name.startswith("10 Mb/s")}
    fast = {name: row for name, row in grid.items() if name not in slow}
    low, high = (pick(row["ratio"] for row in fast.values()) for pick in (min, max))
    assert f"gets {low:.2f} to {high:.2f} times CUBIC's rate" in text
    low, high = (pick(row["ratio"] for row in slow.values()) for pick in (min, max))
    assert f"gets {low:.2f} to {high:.2f} times as much" in text
    wait = "L: mean (ms)"
    low, high = (pick(row[wait] for row in slow.values()) for pick in (min, max))
    assert f"({low:.1f} to {high:.1f} ms)" in text
    low, high = (pick(row[wait] for row in fast.values()) for pick in (min, max))
    assert f"elsewhere it is {low:.2f} to {high:.2f} ms" in text
    queues = _means("l4s", "Bottlenecks of 40 Mb/s, path of 20 ms")
    codel, pie = (queues[f"{each}, ECN"] for each in ("CoDel", "PIE"))
    assert f"{codel['ratio']:.0f} and {pie['ratio']:.0f} times CUBIC's rate" in text
    assert f"has {codel['CUBIC (Mb/s)']:.1f} of 38 Mb/s" in text
    reno = [queues[f"{queue}, ECN: Reno for Prague"]["ratio"] for queue in ("CoDel", "PIE")]
    assert f"{reno[0]:.2f} times CUBIC's rate under CoDel" in text and abs(reno[1] - 1) < 0.1
    for queue in ("CoDel, ECN", "PIE, ECN"):
        assert (
            f"gets {queues[f'{queue}: with fall-back']['ratio']:.1f} times CUBIC's rate under"
            in text
        )
    assert queues["DualPI2: with fall-back"] == queues["DualPI2"]
    assert abs(queues["FQ-CoDel, ECN, 1 ms for L4S"]["ratio"] - 1) < 0.01
    assert abs(queues["FQ-CoDel, ECN"]["ratio"] - 1.02) < 0.005
    assert f"left with {queues['FQ-CoDel, ECN, 1 ms']['CUBIC (Mb/s)']:.1f} Mb/s" in text
    flood = _means("l4s", "Unresponsive traffic, of the link's 40 Mb/s")
    got = {name: row["CUBIC (Mb/s)"] for name, row in flood.items()}
    said = (
        "CUBIC gets {:.2f} Mb/s instead of {:.2f} at 140 %; but at 110 % it gets {:.2f} instead of "
        "{:.2f}"
    )
    names = ("140 % in L", "140 % in C", "110 % in L", "110 % in C")
    assert said.format(*(got[name] for name in names)) in text
    calls = _means("l4s", "A call with SCReAM beside CUBIC")
    rate, slow, late = "call (Mb/s)", "99 % (ms)", "late frames (%)"
    low, other = (calls[f"DualPI2: {who}"] for who in ("with L4S", "without"))
    assert f"within {low[slow]:.1f} ms" in text and low[late] == 0
    assert f"it has {low[rate]:.1f} Mb/s" in text
    said = f"it is {other[slow]:.1f} ms, {other[late]:.1f} % and {other[rate]:.1f} Mb/s"
    assert said in text
    low, other = (calls[f"FQ-CoDel, ECN, 1 ms for L4S: {who}"] for who in ("with L4S", "without"))
    assert f"from {other[slow]:.1f} to {low[slow]:.1f} ms" in text
    assert f"from {other[rate]:.1f} to {low[rate]:.1f} Mb/s" in text
    aside = calls["CoDel, ECN: with L4S"]["CUBIC (Mb/s)"]
    assert f"to {aside:.1f} Mb/s under CoDel" in text
    assert f"gives way: {calls['drop-tail 50 ms: with L4S'][rate]:.1f} Mb/s" in text
    bursty = _means("l4s", "Links with bursts")
    alone = bursty["Wi-Fi, DualPI2: Prague alone"]["Prague (Mb/s)"]
    other = bursty["Wi-Fi, FQ-CoDel, ECN: CUBIC alone"]["CUBIC (Mb/s)"]
    assert f"has {alone:.0f} Mb/s where CUBIC under FQ-CoDel has {other:.0f}" in text
    both = bursty["Wi-Fi, DualPI2: both"]
    assert (
        f"left with {both['Prague (Mb/s)']:.1f} of {sum(list(both.values())[:2]):.0f} Mb/s" in text
    )


def test_l4s_quotes_its_remedy_and_further_flows_right() -> None:
    text = words("l4s")
    prague, cubic, wait = "Prague (Mb/s)", "CUBIC (Mb/s)", "wait: mean (ms)"
    queues = _means("l4s", "Bottlenecks of 40 Mb/s, path of 20 ms")
    marked = [queues[f"{each}, ECN"] for each in ("CoDel", "PIE")]
    remedies = [queues[f"{each}, ECN for ECT(0)"] for each in ("CoDel", "PIE")]
    codels, pies = ((one, other) for one, other in zip(remedies, marked, strict=True))
    said = "{:.2f} times CUBIC's rate under CoDel and {:.2f} under PIE"
    assert said.format(*(each["ratio"] for each in remedies)) in text
    instead = [f"{one[cubic]:.1f} {{}} {other[cubic]:.1f}" for one, other in (codels, pies)]
    assert "{}, and {}".format(*instead).format("Mb/s instead of", "instead of") in text
    had = [queues[f"{each}, ECN: Reno for Prague"][prague] for each in ("CoDel", "PIE")]
    for remedy, before in zip(remedies, had, strict=True):
        assert f"{remedy[prague]:.1f} for {before:.1f}" in text
    assert f"{codels[0][wait]:.1f} ms instead of {codels[1][wait]:.1f} under CoDel" in text
    assert f"{pies[0][wait]:.1f} ms and {pies[1][wait]:.1f}" in text
    several = _means("l4s", "Several flows of each kind, 40 Mb/s, path of 20 ms")
    two, four = (
        {name.partition(":")[0]: row["ratio"] for name, row in several.items() if end in name}
        for end in (": 2", ": 4")
    )
    name = "DualPI2"
    assert f"{two[name]:.2f} times as much as CUBIC's with two of each and {four[name]:.2f}" in text
    assert f"where one got {queues[name]['ratio']:.2f} times" in text
    name = "FQ-CoDel, ECN"
    assert all(f"{each[name]:.2f} times with two and with four" in text for each in (two, four))
    assert f"{two['CoDel, ECN']:.0f} and {four['CoDel, ECN']:.0f} times as much" in text
    name = "CoDel, ECN for ECT(0)"
    assert all(f"ECT(0) {each[name]:.2f} times." in text for each in (two, four))
    short = _means("l4s", "Short flows beside long ones, 40 Mb/s, path of 20 ms")
    half, most = "short: median (ms)", "99 % (ms)"

    def of_both(queue: str, column: str) -> list[float]:
        return [short[f"{queue}: short {who}"][column] for who in ("Prague", "CUBIC")]

    assert "{:.1f} and {:.1f} ms under DualPI2".format(*of_both("DualPI2", half)) in text
    assert of_both("FQ-CoDel, ECN", half) == [59.5, 59.5] and "59.5 ms of either kind" in text
    assert all(f"{ms / 1e3:.1f}" == "1.2" for ms in of_both("CoDel, ECN", most))
    within = of_both("CoDel, ECN for ECT(0)", most)
    assert "within {:.0f} ms, and of CUBIC's within {:.0f} ms".format(*within) in text
