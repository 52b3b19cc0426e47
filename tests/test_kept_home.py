"""The page on the home, against the results that are kept for it."""

from __future__ import annotations

from kept_pages import means, words


def test_home_quotes_its_tables_right() -> None:
    text = words("home")
    places = means("home", "The household, by the place of its slowest link")
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
    assert f"{off['device']:.0%} (device) to {off['Wi-Fi']:.0%} (Wi-Fi)" in text.replace(" %", "%")
    assert all(places[f"{each}, PIE"][game] > places[f"{each}, CoDel"][game] for each in plain)
    fair, cake = places["modem, FQ-CoDel"], places["modem, CAKE"]
    own = places["device, FQ-CoDel"][game]
    assert f"{own:.0f} ms in the device, {fair[game]:.0f} ms and {cake[game]:.0f} ms" in text
    assert f"in {fair[page]:.1f} s instead of {places['modem, drop-tail'][page]:.1f} s" in text
    behind = [places[f"gateway, {each}"][game] for each in ("FQ-CoDel", "CAKE")]
    air = [places[f"Wi-Fi, {each}"][game] for each in ("FQ-CoDel", "CAKE")]
    said = "Behind the gateway it is {:.0f} ms and {:.0f} ms, over Wi-Fi {:.0f} and {:.0f}."
    assert said.format(*behind, *air) in text
    assert "three in ten of the call's" in text
    assert round((places["modem, drop-tail"][late] - fair[late]) / 10) == 3
    managed = [places[f"phone, {each}"] for each in ("PIE", "CoDel", "FQ-CoDel", "CAKE")]
    four = [row[game] for row in managed]
    assert max(four) / phone < 0.5
    assert f"{min(four) / 1e3:.1f} to {max(four) / 1e3:.1f} s" in text
    assert f"from {places['phone, drop-tail'][late]:.0f} % to 4 or 5 %" in text
    assert {round(row[late]) for row in managed} == {4, 5}
    rates = ("download (Mb/s)", "upload (Mb/s)")
    got = [sum(places[f"Wi-Fi, {q}"][r] for r in rates) for q in ("FQ-CoDel", "drop-tail")]
    assert "get {:.1f} instead of {:.1f} Mb/s".format(*got) in text
    assert f"With CAKE {cake[late]:.1f} % of" in text
    ends = means("home", "A cable line managed at neither end, one, or both")
    up, down = ends["FQ-CoDel, up only"], ends["FQ-CoDel, down only"]
    assert f"{up[game]:.0f} ms and {up[late]:.0f} % of the call's frames late" in text
    assert f"alone {down[game]:.0f} ms and half" in text and 48 < down[late] < 52
    ring = list(means("home", "FQ-CoDel above a device's ring").values())
    assert f"from {ring[0][game]:.0f} to {ring[1][game]:.0f} ms" in text
    chain = means("home", "An upload's mean wait, stage by stage")
    at = "modem (ms)"
    assert (
        f"{chain['FQ-CoDel in the gateway'][at]:.1f} ms in the modem instead of "
        f"{chain['plain buffers'][at]:.1f}." in text
    )
    shaped = chain["… which shapes to 95 %"]
    assert f"{shaped['gateway (ms)']:.1f} ms there and {shaped[at]:.1f} ms in the modem" in text
