"""Pages on controllers of rates and queues, against the results that are kept for them."""

from __future__ import annotations

import re

from kept_pages import data, mean, study_tables, words
from sojourn.studies.scalable_2003.published import FLOWS, TRANSFERS


def test_rate_feedback_quotes_what_is_kept() -> None:
    text = words("rate-feedback")
    found = {each["claim"]: each for each in study_tables.claims("rate-feedback", "quick")}
    for power in (1, 2, 4):
        name = f"Utilisation with B = {power} at R = 0.1, 0.3 and 0.8 s, in packets."
        theirs = found[name]["published"].split(", ")
        ours = [mean(each) for each in found[name]["ours"].split(", ")]
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
    pairs = {
        stack: [
            (theirs, data.transfers("bulk", stack)[flows])
            for flows, theirs in zip(FLOWS, published, strict=True)
        ]
        for stack, published in TRANSFERS.items()
    }
    both = [pair for row in pairs.values() for pair in row]
    near = sum(not data.beyond(*pair) for pair in both)
    assert (near, len(both)) == (11, 15)
    assert "Eleven of the fifteen numbers are within the 20 % that were set as margin" in text
    two = data.transfers("machines", "scalable")
    placed = [f"{two[flows]:.0f}" for flows in (4, 8, 16)]
    wanted = [str(each) for each in TRANSFERS["scalable"][2:]]
    said = " for the published ".join(f"{a}, {b} and {c}" for a, b, c in (placed, wanted))
    assert f"so placed Scalable TCP gives {said}" in text
    older = [*pairs["classic"], *pairs["buffers"]]
    faster = [ours / theirs - 1 for theirs, ours in older if data.beyond(theirs, ours)]
    assert f"{100 * min(faster):.0f} to {100 * max(faster):.0f} % faster here" in text


def test_scalable_quotes_its_windows_right() -> None:
    text = words("scalable-2003")
    found = {each["claim"]: each["ours"] for each in study_tables.claims("scalable-2003", "full")}
    below = next(ours for claim, ours in found.items() if claim.startswith("Below lwnd"))
    more = re.search(r"p = 0.01: \+([\d.]+)", below)
    assert more and f"Scalable has {float(more[1]):.1f} packets more" in text
    shared = found["What Scalable flows get over traditional ones, on one drop-tail link"]
    ratio = {int(n): float(r) for n, r in re.findall(r"(\d+) packets: ([\d.]+)", shared)}
    said = "{:.1f} times as much at a mean window of 48 packets, {:.1f} times at 96, {:.1f} at 192"
    assert said.format(*(ratio[n] for n in (48, 96, 192))) in text
    half = found["Coefficient of variation of the rate, b = 1/2, a = 0.04"]
    assert f"is {100 * (mean(half) / 0.5 - 1):.0f} % above the talk's" in text


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
