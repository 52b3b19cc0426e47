"""What is kept of the benchmarks, and the documents that quote it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from documents import DOCS, ROOT, text_of
from kept_pages import data


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
