"""The page on L4S, against the results that are kept for it."""

from __future__ import annotations

from kept_pages import means, words


def test_l4s_quotes_its_tables_right() -> None:
    text = words("l4s")
    grid = means("l4s", "DualPI2 over rates and round trips")
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
    queues = means("l4s", "Bottlenecks of 40 Mb/s, path of 20 ms")
    codel, pie = (queues[f"{each}, ECN"] for each in ("CoDel", "PIE"))
    assert f"{codel['ratio']:.0f} and {pie['ratio']:.0f} times CUBIC's rate" in text
    whole = sum(codel[f"{who} (Mb/s)"] for who in ("Prague", "CUBIC"))
    assert f"has {codel['CUBIC (Mb/s)']:.1f} of {whole:.0f} Mb/s" in text
    dropped = [queues[each]["ratio"] for each in ("CoDel", "PIE", "drop-tail 50 ms")]
    assert f"gets {min(dropped):.2f} to {max(dropped):.2f} times CUBIC's rate." in text
    reno = [queues[f"{queue}, ECN: Reno for Prague"]["ratio"] for queue in ("CoDel", "PIE")]
    said = "{:.2f} times CUBIC's rate under CoDel, and {:.2f} times under PIE"
    assert said.format(*reno) in text
    for queue in ("CoDel, ECN", "PIE, ECN"):
        assert (
            f"gets {queues[f'{queue}: with fall-back']['ratio']:.1f} times CUBIC's rate under"
            in text
        )
    assert queues["DualPI2: with fall-back"] == queues["DualPI2"]
    assert abs(queues["FQ-CoDel, ECN, 1 ms for L4S"]["ratio"] - 1) < 0.01
    assert abs(queues["FQ-CoDel, ECN"]["ratio"] - 1.02) < 0.005
    assert f"left with {queues['FQ-CoDel, ECN, 1 ms']['CUBIC (Mb/s)']:.1f} Mb/s" in text


def test_l4s_quotes_its_floods_calls_and_bursts_right() -> None:
    text = words("l4s")
    flood = means("l4s", "Unresponsive traffic, of the link's 40 Mb/s")
    got = {name: row["CUBIC (Mb/s)"] for name, row in flood.items()}
    said = (
        "CUBIC gets {:.2f} Mb/s instead of {:.2f} at 140 %; but at 110 % it gets {:.2f} instead of "
        "{:.2f}"
    )
    names = ("140 % in L", "140 % in C", "110 % in L", "110 % in C")
    assert said.format(*(got[name] for name in names)) in text
    below = {share: [got[f"{share} % in {lane}"] for lane in "LC"] for share in (25, 50, 75)}
    assert "at 25 % a little more, {:.1f} Mb/s instead of {:.1f}".format(*below[25]) in text
    assert all(low > classic for low, classic in below.values())
    calls = means("l4s", "A call with SCReAM beside CUBIC")
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
    assert f"gives way: {calls['drop-tail 50 ms: with L4S'][rate]:.1f} ± " in text
    bursty = means("l4s", "Links with bursts")
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
    queues = means("l4s", "Bottlenecks of 40 Mb/s, path of 20 ms")
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
    several = means("l4s", "Several flows of each kind, 40 Mb/s, path of 20 ms")
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
    said = f"ECT(0) {two[name]:.2f} and {four[name]:.2f} times, where one got"
    assert f"{said} {queues[name]['ratio']:.2f}" in text
    short = means("l4s", "Short flows beside long ones, 40 Mb/s, path of 20 ms")
    half, most = "short: median (ms)", "99 % (ms)"

    def of_both(queue: str, column: str) -> list[float]:
        return [short[f"{queue}: short {who}"][column] for who in ("Prague", "CUBIC")]

    assert (
        "DualPI2, half of them up to {:.1f} and {:.1f} ms".format(*of_both("DualPI2", half)) in text
    )
    said = (
        "take up to {:.1f} ms, and of CUBIC's {:.1f}; with ECN for ECT(0) it is {:.1f} and {:.1f}"
    )
    shared = [
        ms for queue in ("CoDel, ECN", "CoDel, ECN for ECT(0)") for ms in of_both(queue, half)
    ]
    assert said.format(*shared) in text
    said = "FQ-CoDel, {:.1f} and {:.1f} ms"
    assert said.format(*of_both("FQ-CoDel, ECN", half)) in text
    assert all(f"{ms / 1e3:.1f}" == "1.1" for ms in of_both("CoDel, ECN", most))
    within = of_both("CoDel, ECN for ECT(0)", most)
    assert "within {:.0f} ms, and of CUBIC's within {:.0f} ms".format(*within) in text
