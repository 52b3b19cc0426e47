"""The documents against the program: links lead somewhere, tables are complete."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from documents import DOCS, PAGES, ROOT, console_lines, own_command, page_name, prose, text_of
from sojourn import Scenario, run, schema

sys.path.insert(0, str(DOCS / "builder"))
import fields as field_tables


def test_the_readme_shows_the_commands() -> None:
    lines = map(own_command, console_lines(ROOT / "README.md"))
    shown = {line.split()[0] for line in lines if line}
    assert shown >= {"run", "compare", "report", "explain", "schema"}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        there, _, anchor = target.partition("#")
        file = (page.parent / there).resolve() if there else page
        assert file.exists(), f"{page.name}: {target} is not there"
        if anchor:
            assert anchor in anchors(file), f"{page.name}: {target}: no such heading"


def anchors(path: Path) -> set[str]:
    """Anchors of headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text_of(path), re.M)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def tables(path: Path, kind: str) -> dict[str, list[list[str]]]:
    """Tables with a comment ``<!-- kind: name -->`` above them: their rows without the heading."""
    found = {}
    for match in re.finditer(rf"^<!-- {kind}(?:: (\S+))? -->\n((?:\|.*\n)+)", text_of(path), re.M):
        rows = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in match[2].splitlines()
        ]
        found[match[1] or kind] = rows[2:]
    return found


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`\"]+)`", cell)


def resolve(field: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in field:
        return resolve(schema()["$defs"][field["$ref"].rsplit("/", 1)[-1]])
    for each in field.get("anyOf", []):
        if each.get("type") != "null":
            return resolve(each)
    return field


def alternatives(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Alternatives by their ``kind``, however deep they lie."""
    kinds: dict[str, dict[str, Any]] = {}
    for each in found.get("oneOf", []) + found.get("anyOf", []):
        kind = each.get("properties", {}).get("kind", {}).get("const")
        kinds |= {kind: each["properties"]} if kind else alternatives(each)
    return kinds


def written(cell: str) -> object:
    """A default as a document has it, or nothing if the cell holds words."""
    try:
        return json.loads(cell.strip("`"))
    except ValueError:
        return None


def test_the_version_is_told_once() -> None:
    version = tomllib.loads(text_of(ROOT / "Cargo.toml"))["workspace"]["package"]["version"]
    assert f"\nversion: {version}\n" in text_of(ROOT / "CITATION.cff")
    assert re.search(rf"^## \[{re.escape(version)}\] - ", text_of(ROOT / "CHANGELOG.md"), re.M)


def test_tables_of_fields_are_those_of_the_schema() -> None:
    text = text_of(field_tables.PAGE)
    assert text == field_tables.written(text), "make format"
    known = set(field_tables.parts())
    assert set(field_tables.shown(text)) == known | {"schedule", "distribution"}
    assert '| `qdisc` | `"droptail"` |' in text and "| `duration` | required |" in text


def test_a_changed_default_is_written_anew() -> None:
    text = text_of(field_tables.PAGE)
    old = text.replace("| `mean_packet` | `1500` |", "| `mean_packet` | `1400` |")
    assert old != text == field_tables.written(old)


def test_every_distribution_is_documented() -> None:
    rows = tables(DOCS / "reference/scenarios.md", "fields")["distribution"]
    defs = schema()["$defs"]
    assert [names(row[0])[0] for row in rows] == defs["DistributionName"]["enum"]
    told = {name for row in rows for name in names(row[1])}
    assert told == set(defs["DistributionTableOfTime"]["properties"]) - {"dist", "even"}


def test_every_way_a_rate_changes_is_documented() -> None:
    rows = tables(DOCS / "reference/scenarios.md", "fields")["schedule"]
    kinds = alternatives(schema()["$defs"]["Schedule"])
    told = {names(row[0])[0]: set(names(row[1])) for row in rows}
    assert told == {kind: set(fields) - {"kind"} for kind, fields in kinds.items()}


def test_every_discipline_has_a_row_with_its_parameters() -> None:
    page = DOCS / "reference/disciplines.md"
    common = tables(page, "fields")["common"]
    rows = {names(row[0])[0]: row[1] for row in tables(page, "fields")["disciplines"]}
    kinds = alternatives(schema()["$defs"]["QueueDiscipline"])
    assert list(rows) == list(kinds)
    for kind, fields in kinds.items():
        defaults = dict(re.findall(r"`(\w+)`(?: \(([^)]*)\))?", rows[kind]))
        if "the common ones" in rows[kind]:
            defaults |= {names(row[0])[0]: row[1] for row in common}
        assert set(defaults) == set(fields) - {"kind"}, kind
        for name, default in defaults.items():
            known = fields[name].get("default")
            if isinstance(known, dict):  # a discipline inside another: its kind says enough
                known = known.get("kind")  # a table of a class's own parameters has none
            if known is not None and not isinstance(known, list):
                assert written(default.split()[0]) == known, f"{kind}.{name}"


def test_the_profiles_of_tcp_are_documented() -> None:
    rows = tables(DOCS / "reference/tcp.md", "profiles")["profiles"]
    fields = schema()["$defs"]["Tcp"]["properties"]
    assert [names(row[0])[0] for row in rows] == list(fields)
    for row in rows:
        about = fields[names(row[0])[0]]["description"]
        told = re.search(r"classic (\S+), modern ([^)\s]+)\)", " ".join(about.split()))
        both = re.search(r"\(default ([^)\s]+)\)", about)
        values = list(told.groups()) if told else [both[1]] * 2 if both else None
        if values and names(row[0])[0] != "profile":
            assert [cell.strip("`") for cell in row[1:3]] == values, row[0]


def test_the_columns_of_every_table_are_documented(tmp_path: Path) -> None:
    probes = {
        "queues": True,
        "packet_counts": "1ms",
        "flows": True,
        "traces": ["bulk1.0"],
        "exchanges": True,
    }
    base = {"duration": "1s", "bottleneck": {"rate": "10mbit"}, "probes": probes}
    kinds: list[dict[str, object]] = [{"kind": "bulk"}, {"kind": "web", "users": 1}]
    result = run(Scenario({**base, "traffic": kinds}), tmp_path / "run")
    told = tables(DOCS / "reference/scenarios.md", "columns")
    assert len(told) == len(list((tmp_path / "run").glob("*.parquet")))
    for name, rows in told.items():
        shown = [column for row in rows for column in names(row[0])]
        assert shown == result.table(name).columns, name


def test_every_measure_of_the_summary_is_documented() -> None:
    base = {"duration": "1s", "bottleneck": {"rate": "10mbit"}, "probes": {"flows": True}}
    summary = run(Scenario({**base, "traffic": [{"kind": "bulk", "flows": 2}]})).summary
    text = text_of(DOCS / "reference/measures.md")
    parts = [summary["links"][0], summary["groups"][0], summary["flows"][0]]
    known = {"name", "kind", "rate_bps", "group", "index"}
    for name in {name for part in parts for name in part} - known:
        plain = name.removesuffix("_bytes") if name != "queue_bytes" else name
        assert f"`{plain}`" in text, name


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda f: f.stem)
def test_scenarios_say_what_they_are_and_begin_to_run(file: Path) -> None:
    assert text_of(file).startswith("# ")
    scenario = Scenario.from_file(file)
    changes: dict[str, object] = {"duration": "200ms", "warmup": "0s"}
    if scenario.needs_users:
        changes |= {"load": None, "traffic.0.users": 5}
    assert run(scenario.with_(changes)).summary["simulated_s"] == pytest.approx(0.2)
