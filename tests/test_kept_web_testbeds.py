"""Pages on the web testbeds of 2000 and 2003, against the results that are kept for them."""

from __future__ import annotations

import re
from collections import Counter

import polars as pl
import pytest

from documents import DOCS, text_of
from kept_pages import data, mean, means, study_tables, words
from sojourn.studies.kept import kept


def _ours(cell: str) -> float:
    """Our mean in a cell of the table of loads, beside what was published."""
    return mean(cell.rsplit(" / ", maxsplit=1)[-1])


def test_table_of_loads_is_that_of_the_runs() -> None:
    runs = pl.read_parquet(data.RESULTS / "web-aqm-2003-grid.parquet")
    _, rows = data.loads()
    assert (len(rows), len(runs)) == (64, 192)
    for load, scheme, loss, _, rate, _ in rows:
        three = runs.filter(scheme=scheme, load=int(load.split()[0]) / 100)
        assert sorted(three["seed"]) == [1, 2, 3]
        # Both directions, which a seed loads differently.
        lost, throughput = (
            (three[name].mean() + three[f"reverse.{name}"].mean()) / 2
            for name in ("loss", "throughput_bps")
        )
        assert _ours(rate) == pytest.approx(throughput / 1e6, abs=0.06), scheme
        assert _ours(loss) == pytest.approx(100 * lost, abs=0.06), scheme


def test_web_aqm_quotes_its_loads_right() -> None:
    text = words("web-aqm-2003")
    _, rows = data.loads()
    ms = {(load, scheme): round(mean(each)) for load, scheme, *_, each in rows}

    def gained(load: str, scheme: str) -> int:
        return ms[load, scheme] - ms[load, f"{scheme} ECN"]

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
    assert abs(ms["98 %", "PI 240"] - ms["98 %", "drop-tail 240"]) <= 2
    small = [[ms[load, f"PI {qref} ECN"] for qref in (24, 240)] for load in ("98 %", "105 %")]
    assert "{} for {} ms and {} for {} with PI".format(*small[0], *small[1]) in text


def test_web_aqm_counts_its_claims_at_full_length() -> None:
    record = kept("web-aqm-2003", "full")
    assert record is not None
    assert (record["seeds"], record["runs"], record["runs_wanted"]) == ([1, 2, 3], 192, 335)
    found = {
        each["claim"]: each["verdict"] for each in record["claims"] if each["ours"] != "no runs"
    }
    counts = Counter(found.values())
    assert (len(found), dict(counts)) == (15, {"agrees": 8, "differs": 7})
    longer = {
        each["claim"]: each["verdict"] for each in study_tables.claims("web-aqm-2003", "long")
    }
    assert found == {claim: longer[claim] for claim in found}
    said = (
        "Of the 15 claims that need no other runs eight agree and seven do not, each as after ten"
    )
    assert said in words("web-aqm-2003")
    runs = pl.read_parquet(data.RESULTS / "web-aqm-2003-grid.parquet")
    hours = runs["wall_s"].sum() / 3600
    assert f"{hours:.1f} hours of a processor" in words("web-aqm-2003")


def test_web_aqm_quotes_its_ten_seeds_right() -> None:
    text = words("web-aqm-2003")
    record = kept("web-aqm-2003", "long")
    assert record is not None and (len(record["seeds"]), record["runs"]) == (10, 822)
    rows = means("web-aqm-2003", "Loss, completed exchanges, rate", "long", "scheme, load")
    lost = [rows[f"{name}, 98 %"]["loss (%)"] for name in ("ARED 24", "PI 24", "drop-tail 240")]
    assert "say the same: {:.1f}, {:.1f} and {:.1f} %.".format(*lost) in text
    ms = "response, 2 s at most (ms)"
    above = [
        rows[f"{name}, 90 %"][ms] / rows["uncongested, 90 %"][ms] - 1
        for name in ("PI 24 ECN", "REM 24 ECN")
    ]
    assert (
        "PI and REM are {:.0f} and {:.0f} % above".format(*(100 * each for each in above)) in text
    )
    loads = study_tables.table("web-aqm-2003", "long", "Realised load")
    asked = next(row for row in loads if row["load asked for"] == "98 %")
    got = sorted(float(value.split()[0]) for name, value in asked.items() if "seed" in name)
    assert f"The seeds realise {got[0]} to {got[-1]} Mb/s" in text
    switches = means("web-aqm-2003", "What explains adaptive RED", "long", "scheme, load")
    modes = ("", " bytes")
    packets, in_bytes = (switches[f"ARED 24{mode} ECN, 98 %"]["loss (%)"] for mode in modes)
    assert (round(100 / packets), round(100 / in_bytes, -1)) == (13, 70), "in thirteen, in seventy"
    wide = next(
        each["ours"]
        for each in study_tables.claims("web-aqm-2003", "long")
        if each["claim"].startswith("A wider spread")
    )
    assert "gain wide − gain talk: +13.6" in wide and "grows by 14 ms" in text


def test_web_aqm_answers_with_the_numbers_of_the_runs() -> None:
    text = words("web-aqm-2003")
    at = {scheme: cells for load, scheme, *cells in data.loads()[1] if load == "98 %"}

    def both(scheme: str, column: int) -> list[str]:
        """The published value and ours."""
        published, ours = at[scheme][column].split(" / ")
        return [published, f"{mean(ours):.1f}"]

    loss = {each: both(each, 0) for each in ("ARED 24", "PI 24", "drop-tail 240")}
    (red, ared), (pi, our_pi), (tail, our_tail) = loss.values()
    said = f"lose {ared} % under adaptive RED and {our_pi} % under PI where the table has {red}"
    assert f"{said} and {pi}, and carry" in text
    rates = [both(each, 2) for each in ("ARED 24", "PI 24")]
    carried, table = zip(*((ours, theirs) for theirs, ours in rates), strict=True)
    assert f"carry {' and '.join(carried)} Mb/s for {' and '.join(table)}" in text
    assert f"drop-tail loses {our_tail} % for {tail}" in text
    factors = data.factors().group_by("factor", "scheme").mean()
    rows = {(row["factor"], row["scheme"]): row for row in factors.iter_rows(named=True)}
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
    longest = "think times fourfold"
    most = tails.pop(longest)
    assert f"raise its loss most, from {tails['plain']:.1f} to {most:.1f} %" in text
    assert f"carries {rows[longest, 'drop-tail 240']['rate']:.1f} Mb/s then" in text
    assert max(tails.values()) < float(tail) - 1 < most


def test_factors_of_the_testbed_are_those_of_the_runs() -> None:
    factors = data.factors().group_by("factor", "scheme").mean()
    schemes = ("PI 24", "PI 24 ECN", "ARED 24", "ARED 24 ECN", "drop-tail 240")
    seen = 0
    for line in text_of(DOCS / "studies/web-aqm-factors.md").splitlines():
        factor, *cells = [cell.strip() for cell in line.strip("| ").split("|")]
        for scheme, cell in zip(schemes, cells, strict=False):
            found = re.fullmatch(r"([\d.]+) %, ([\d.]+)", cell)
            if found is None or factor.startswith("published"):
                continue
            (row,) = factors.filter(factor=factor, scheme=scheme).iter_rows(named=True)
            assert float(found[1]) == pytest.approx(row["loss"], abs=0.0501), (factor, scheme)
            assert float(found[2]) == pytest.approx(row["rate"], abs=0.0501), (factor, scheme)
            seen += 1
    assert seen == 34


def test_the_hypotheses_are_counted_right() -> None:
    record = kept("web-aqm-factors", "quick")
    assert record is not None
    found = [each["verdict"] for each in record["claims"]]
    counts = [len(found), *(found.count(each) for each in ("agrees", "differs", "undecided"))]
    assert counts == [12, 4, 1, 7]
    counted = "Of 12 hypotheses four agree, one does not, and seven cannot be told."
    assert counted in words("web-aqm-factors")


def test_the_testbed_of_2003_is_quoted_right() -> None:
    record = kept("web-aqm-factors", "long")
    assert record is not None and (len(record["seeds"]), record["runs"]) == (3, 213)
    text = words("web-aqm-factors")
    rows = means("web-aqm-factors", "The testbed as it probably was", "long", "scheme, load")

    def rate(name: str) -> float:
        return rows[name]["rate (Mb/s)"] / rows[name]["rate, published (Mb/s)"]

    numbers = [
        round(rows[f"{name}, 98 %"][column], 1)
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
        name: [rows[f"{name}, {at}"]["response, 2 s at most (ms)"] for at in loads]
        for name in ("PI 24", "PI 24 ECN", "REM 24 ECN", "uncongested")
    }
    gains = [a - b for a, b in zip(times["PI 24"][1:], times["PI 24 ECN"][1:], strict=True)]
    assert "improves PI by {:.0f}, {:.0f} and {:.0f} ms".format(*gains) in text
    near = (times[name][1] for name in ("PI 24 ECN", "REM 24 ECN", "uncongested"))
    assert "({:.0f} and {:.0f} ms for {:.0f})".format(*near) in text


def test_the_losses_of_2003_lie_between_those_of_two_think_times() -> None:
    text = words("web-aqm-factors")
    short, long = (
        means("web-aqm-factors", title, "long", "scheme, load")
        for title in (
            "The testbed as it probably was",
            "The same testbed with think times four times as long",
        )
    )
    names = ("drop-tail 240", "PI 24", "REM 24")
    ratios = [
        [
            each[f"{name}, {load}"]["loss (%)"] / each[f"{name}, {load}"]["loss, published (%)"]
            for name in names
            for load in ("98 %", "105 %")
        ]
        for each in (short, long)
    ]
    ranges = [f"{min(each):.2f} to {max(each):.2f}" for each in ratios]
    assert f"without ECN are {ranges[0]} of the table's at 98 and 105 %" in text
    assert f"they are {ranges[1]} of it" in text
    assert max(ratios[0]) < 1 < min(ratios[1])
    assert all(each in words("web-aqm-2003") for each in ranges)
    for name in names:
        losses = [f"{each[f'{name}, 98 %']['loss (%)']:.1f}" for each in (short, long)]
        assert "{} and {} %".format(*losses) in text
    tail = [each["drop-tail 240, 98 %"] for each in (short, long)]
    rates = [f"{each['rate (Mb/s)']:.1f}" for each in tail]
    done = [f"{each['completed over uncongested (%)']:.1f}" for each in tail]
    assert "carries {} and {} Mb/s for 92.0".format(*rates) in text
    assert "completes {} and {} % for 93.2".format(*done) in text
    times = {
        name: long[f"{name}, {load}"]["response, 2 s at most (ms)"]
        for name, load in (
            ("REM 24", "105 %"), ("REM 24 ECN", "105 %"), ("PI 24", "105 %"),
            ("PI 24 ECN", "105 %"),
        )
    }  # fmt: skip
    gains = (times[name] - times[f"{name} ECN"] for name in ("REM 24", "PI 24"))
    assert "by {:.0f} ms against PI's {:.0f}".format(*gains) in text
    assert f"carries {long['REM 24, 105 %']['rate (Mb/s)']:.1f} Mb/s at 105 %" in text
    times = {name: row["response, 2 s at most (ms)"] for name, row in short.items()}
    with_240 = [f"{times[f'{name}, 98 %']:.0f}" for name in ("PI 240", "REM 240", "ARED 240")]
    assert (
        "PI takes {} ms as with 24 (573), REM {} for 581, adaptive RED {}".format(*with_240) in text
    )
    with_ecn = [f"{times[f'{name} ECN, 98 %']:.0f}" for name in ("PI 240", "PI 24", "REM 240")]
    assert "with ECN PI takes {} ms for {}, REM {}".format(*with_ecn) in text


def test_web_red_2000_quotes_its_runs_right() -> None:
    record = kept("web-red-2000", "full")
    assert record is not None and (len(record["seeds"]), record["runs"]) == (10, 750)
    text = words("web-red-2000")
    assert "`--scale full`: 750 runs" in text
    rows = means("web-red-2000", "Each scheme on other testbeds", "full", "scheme, load")
    fifo = rows["FIFO, 80 %"]
    assert f"within 12 ms of FIFO's {fifo['ring 128, ms']:.0f}" in text
    for each in ("RED", "PI 20", "PI 200"):
        for testbed in ("ring 128", "ring 128, formula"):
            column = f"{testbed}, ms"
            assert abs(rows[f"{each}, 80 %"][column] - fifo[column]) < 12
    lost = (rows["PI 20, 80 %"][f"{name}, loss (%)"] for name in ("ring 128", "plain"))
    assert "({:.2f} % for {:.1f} %)".format(*lost) in text
    times = (rows["PI 200, 100 %"][f"{name}, ms"] for name in ("plain", "formula"))
    assert "take PI 200 from {:.0f} to {:.0f} ms at 100 %".format(*times) in text
