"""Pages on the agreement with Linux, against the results that are kept for them."""

from __future__ import annotations

import math
import re

import polars as pl
import pytest

from documents import DOCS, text_of
from kept_pages import data, study_tables, words


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
    assert min(by_queue, key=by_queue.__getitem__) == "red"
    assert max(by_queue, key=by_queue.__getitem__) == "codel"
    low, high, plain = (by_queue[each] for each in ("red", "codel", "droptail"))
    assert f"{low:.3f} (RED) to {high:.3f} (CoDel), and {plain:.3f} where" in text
    laws = {law: drops(10, congestion=law) for law in ("reno", "cubic", "scalable", "westwood")}
    least, most = min(laws, key=laws.__getitem__), max(laws, key=laws.__getitem__)
    assert (least, most) == ("reno", "scalable")
    assert f"{laws[least]:.3f} (Reno) to {laws[most]:.3f} (Scalable)" in text
    # What the sentences say beyond the numbers.
    (_, ten), (_, fifty) = (data.pooled("packets", "dropped", mbit) for mbit in (10, 50))
    assert ten.high is not None and ten.high < 0
    assert fifty.high is not None and fifty.high < 0
    assert f"and {-100 * math.expm1(fifty.mean):.0f} % less at 50" in text
    hosts = data.pooled("linux", "dropped", 10)[1]
    assert hosts.high is not None and hosts.high < 0
    assert hosts.mean == pytest.approx(ten.mean / 3, rel=0.15)
    more = [data.pooled("packets", each, 50)[1] for each in ("sojourn_s", "utilisation")]
    assert all(each.low is not None and each.low > 0 for each in more)
    wait, busy = (100 * math.expm1(each.mean) for each in more)
    assert f"they are {wait:.1f} and {busy:.1f} % higher" in text
    for measure in ("sojourn_s", "utilisation"):
        found = data.pooled("packets", measure, 10)[1]
        assert found.low is not None and found.high is not None and found.low < 0 < found.high
