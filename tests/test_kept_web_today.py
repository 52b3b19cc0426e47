"""The page on the web of today, against the results that are kept for it."""

from __future__ import annotations

from kept_pages import mean, means, study_tables, words


def test_web_today_quotes_its_tables_right() -> None:
    text = words("web-today")
    pages = means("web-today", "Pages on the shared link")
    home = means("web-today", "The household")
    shortest = ("PI", "COBALT", "DualPI2")
    load = "page load, median (ms)"
    full = {name: row for name, row in pages.items() if name.startswith("98 %")}
    others = [
        row[load]
        for name, row in full.items()
        if name[6:] not in ("uncongested", "drop-tail 50", *shortest)
    ]
    own, small = full["98 %, uncongested"][load], full["98 %, drop-tail 50"][load]
    assert max(others) / min(others) < 1.1, "one curve"
    least, most = min(others) / 1e3, max(others) / 1e3
    assert f"half of the pages take {least:.1f} to {most:.1f} s instead of" in text
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


def test_web_today_quotes_what_bbr_does_right() -> None:
    text = words("web-today")
    home = means("web-today", "The household")
    load = "page load, median (ms)"
    single = [row for name, row in home.items() if name.endswith("BBR") and "FQ" not in name]
    calls = [row["call (Mb/s)"] for row in single]
    assert f"the call gets {min(calls):.1f} to {max(calls):.1f} Mb/s in both directions" in text
    assert f"({home['drop-tail 500 ms, BBR'][load] / 1e3:.1f} s for a page)" in text
    long = means("web-today", "The household", "full")
    two = [f"{long[f'drop-tail {ms} ms, BBR']['call (Mb/s)']:.1f} Mb/s" for ms in (100, 500)]
    assert f"the call gets {two[0]} behind 100 ms of drop-tail and {two[1]} behind 500 ms" in text


def test_web_today_quotes_versions_of_http_right() -> None:
    text = words("web-today")
    table = study_tables.table("web-today", "quick", "Pages over each version of HTTP")

    def of(where: str, column: str) -> list[float]:
        return [mean(row[column]) for row in table if row[""] == where]

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
    said = "FQ-CoDel takes {:.1f} and {:.1f} s more for a median page at 98 %"
    assert said.format(*(each / 1e3 for each in more)) in text
    off = [a - b for a, b in zip(of(busy, slow), of(calm, slow), strict=True)][1:]
    assert "and {:.0f} and {:.0f} s off the slowest".format(*(each / 1e3 for each in off)) in text
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
    assert "eleven agree, eight do not, and three cannot be told." in text
    assert "Four claims are judged" in text
    assert study_tables.turned("web-today", "quick", "full").count("\n") == 4 + 1
    home = means("web-today", "The household", "full")
    tail, load = home["drop-tail 500 ms, CUBIC"], "page load, median (ms)"
    assert f"to {tail['films (Mb/s)']:.2f} Mb/s where two minutes gave 1.7" in text
    assert f"a median page takes {tail[load] / 1e3:.1f} s instead of 10.2 s" in text
    prague, cubic = (home[f"DualPI2, {each}"][load] / 1e3 for each in ("Prague", "CUBIC"))
    assert f"{prague:.2f} s beside it, {cubic:.2f} s beside CUBIC." in text
    lost = [
        mean(row[load]) / 1e3
        for row in study_tables.table("web-today", "full", "Pages over each version of HTTP")
        if row[""] == "0.5 % lost"
    ]
    _, two, three = lost
    assert f"takes {three:.2f} s over it and {two:.2f} s over HTTP/2" in text
