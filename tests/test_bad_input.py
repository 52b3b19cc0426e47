"""Whatever is wrong with the input gives one line on stderr and a code, never a traceback."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import COMMAND, SMALL, Command
from sojourn import Error, InputError, Scenario, ScenarioError, compare, open_runs, run
from sojourn.control import Region
from sojourn.files import page_file
from sojourn.sweep import Case, Rule, grid, open_comparison, sweep


def edited(old: str, new: str) -> str:
    assert old in SMALL
    return SMALL.replace(old, new)


BAD_SCENARIOS = {
    "unknown field": (edited("warmup", "warmpu"), r":4:1: warmpu: .*warmup"),
    "unknown table": (edited("[bottleneck]", "[botleneck]"), "botleneck.*bottleneck"),
    "wrong unit": (edited('"10mbit"', '"10ms"'), r"bottleneck\.rate.*10ms"),
    "no unit": (edited('"5ms"', "5"), r"bottleneck\.delay"),
    "negative rate": (edited('"10mbit"', '"-10mbit"'), r"bottleneck\.rate.*-10mbit"),
    "warm-up after the end": (edited('"1s"', '"9s"'), "warmup.*9s.*4s"),
    "min_th not below max_th": (
        edited('{ kind = "droptail", limit = 60 }', '{ kind = "red", min_th = 30, max_th = 20 }'),
        r"bottleneck\.qdisc\.m(in|ax)_th.*20",
    ),
    "unknown discipline": (edited('"droptail"', '"dropfront"'), "dropfront.*droptail"),
    "field of another discipline": (edited("limit = 60", "qref = 60"), "qref"),
    "path that does not exist": (
        edited("flows = 5", 'flows = 5\nfrom = "left"\nto = "middle"'),
        r"traffic\[0\]\.to.*middle",
    ),
    "path over a missing link": (
        edited("flows = 5", 'flows = 5\npath = ["left", "up", "right"]'),
        r"traffic\[0\]\.path.*up",
    ),
    "not TOML": (edited("[tcp]", "[tcp"), "not TOML"),
    "no traffic": (SMALL.split("[[traffic]]")[0], "traffic"),
    "replay of a missing file": (
        edited('kind = "bulk"\nflows = 5', 'kind = "replay"\nfile = "nothing.csv"'),
        r"nothing\.csv",
    ),
}


def one_line(text: str) -> str:
    lines = text.splitlines()
    assert len(lines) == 1, text
    assert lines[0].startswith("sojourn: ")
    return lines[0]


@pytest.mark.parametrize(("text", "message"), BAD_SCENARIOS.values(), ids=BAD_SCENARIOS)
def test_a_wrong_scenario_is_one_line(
    sojourn: Command, tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    done = sojourn("run", file)
    assert done.returncode == 2
    assert done.stdout == ""
    line = one_line(done.stderr)
    assert str(file) in line
    with pytest.raises(ScenarioError, match=message):
        raise ScenarioError(line)


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "nothing.toml"],
        ["run", "."],
        ["run", "small.toml", "--no-such-option"],
        ["run", "small.toml", "--set", "bottleneck.rate"],
        ["run", "small.toml", "--set", "bottleneck.colour=red"],
        ["run", "small.toml", "--set", "bottleneck.rate=fast"],
        ["run", "small.toml", "--seed", "first"],
        ["run", "small.toml", "--seed", "-1"],
        ["run", "small.toml", "--records"],
        ["compare", "small.toml", "--vary", "bottleneck.qdisc=pi,{kind="],
        ["compare", "small.toml", "--vary", "bottleneck.qdisc=pi,,red"],
        ["compare", "small.toml", "--vary", "bottleneck.qdisc=pi,pix"],
        ["compare", "small.toml", "--repeat", "0"],
        ["sweep", "small.toml", "--seeds", "7,7,7,7"],
        ["sweep", "small.toml", "--seeds", "1,1,2"],
        ["sweep", "small.toml", "--seeds", "5..1"],
        ["sweep", "small.toml", "--seeds", "1..100000000000"],
        ["sweep", "small.toml", "--seeds", "1..99999999999999999999"],
        ["sweep", "small.toml", "--seeds", "1..9999999999999999999999"],
        ["calibrate", "small.toml"],
        ["calibrate", "web.toml", "--loads", "high"],
        ["explain", "nonsense"],
        ["nonsense"],
    ],
    ids=" ".join,
)
def test_wrong_arguments_are_one_line_and_code_2(
    sojourn: Command, small_file: Path, web_file: Path, arguments: list[str]
) -> None:
    done = sojourn(*arguments)
    assert done.returncode == 2, done.stderr
    one_line(done.stderr)
    assert done.stdout == ""


@pytest.mark.parametrize("command", ["run", "compare"])
@pytest.mark.parametrize("out", ["small.toml", "small.toml/run", "/proc/sojourn/run", "/proc/run"])
def test_an_unwritable_folder_is_one_line(
    sojourn: Command, small_file: Path, command: str, out: str
) -> None:
    vary = ["--vary", "bottleneck.qdisc=pi"] if command == "compare" else []
    done = sojourn(command, small_file, "--out", out, *vary)
    assert done.returncode == 1
    said = one_line(done.stderr)
    assert "cannot write to" in said and "; name a folder" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "run small.toml --out NAME",
            "cannot write to NAME: File name too long; give it a",
        ),
        ("sweep small.toml --store NAME", "cannot write to NAME: File name too long; give it a"),
        ("report NAME", "NAME: there is no such folder"),
        ("report . --out NAME.foo", "NAME.foo: is to be a page"),
    ],
)
def test_a_name_too_long_is_one_line(
    sojourn: Command, small_file: Path, words: str, said: str
) -> None:
    name = "a" * 300
    done = sojourn(*words.replace("NAME", name).split())
    assert done.returncode in (1, 2) and "internal" not in done.stderr
    assert said.replace("NAME", name) in one_line(done.stderr)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "compare small.toml --vary bottleneck.rate=",
            "--vary bottleneck.rate: a value is missing",
        ),
        ("compare small.toml --vary ", '--vary "": is empty; write what is meant'),
        ("run small.toml --set ", '--set "": is empty; write what is meant'),
        ("run small.toml --report=", '--report "": is empty'),
        ("report ", 'report "": is empty'),
        ("new home ", 'home "": is empty'),
        ("evaluate --qdisc pi,", "--qdisc: a value is missing"),
        ("vectors codel --out .", "Is a directory; name a file"),
        ("vectors codel --rate 10", 'sojourn: --rate: "10" is not a rate: the unit is missing'),
        ("vectors codel --mean-packet 3", "sojourn: --mean-packet: 3 must be from 40 to 65535"),
        ("vectors codel --set target=x", 'sojourn: --set target: "x" is not a time'),
        ("vectors codel --set targt=5ms", 'sojourn: --set targt: unknown field "targt"'),
        ("compare small.toml --vary tcp.mss=1000 --measure los", "'los'; did you mean loss?"),
        ("sweep small.toml --until goodput:5%", "'goodput'; did you mean goodput_bps?"),
        ("sweep small.toml --until loss:500%", "loss:500%: must be above 0 % and below 100 %"),
        ("sweep small.toml --until loss:1.2.3%", "must be MEASURE:PERCENT%"),
        ("sweep small.toml --until loss:5%:2", "the most seeds must be from 5 to 1000000"),
        ("check small.toml --toml --json", "--toml and --json: give one of them"),
        ("reproduce --scale smoke", "--scale: of which study?"),
        ("reproduce --check", "--check: of which study?"),
    ],
)
def test_an_error_names_the_option(
    sojourn: Command, small_file: Path, words: str, said: str
) -> None:
    done = sojourn(*words.split(" "))
    assert done.returncode in (1, 2) and done.stdout == ""
    line = done.stderr.strip()
    assert said in line and "\n" not in line and len(line) < 200


def test_foreign_folder_is_not_overwritten(
    sojourn: Command, small_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter1.txt").write_text("years of work")
    done = sojourn("run", small_file, "--out", folder)
    assert done.returncode == 1
    assert "holds something that is not a run" in one_line(done.stderr)
    assert (folder / "chapter1.txt").read_text() == "years of work"


@pytest.mark.parametrize("name", ["summary.json", "run.json", "comparison.json"])
def test_a_folder_with_files_of_such_names_is_not_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / name).write_text("{}")
    with pytest.raises(Error, match="holds something that is not a run"):
        run(SMALL, tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == {"src", name}


def test_a_run_with_notes_or_in_which_one_is_stays(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (kept / "report.html").touch()
    (kept / "figures").mkdir()
    run(SMALL, kept)
    assert not (kept / "figures").exists()
    monkeypatch.chdir(kept)
    with pytest.raises(InputError, match="it is a mount point; name a folder in it"):
        run(SMALL, "/")
    for here in (".", kept.parent / "kept"):
        with pytest.raises(InputError, match="you are in it; name a folder in it"):
            run(SMALL, here)
    monkeypatch.chdir(kept.parent)
    (kept / "notes.txt").write_text("years of work")
    with pytest.raises(Error, match=r"not a run \(notes.txt\)"):
        run(SMALL, kept)
    assert (kept / "notes.txt").exists()


def test_a_run_is_put_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    for out in (tmp_path / "link", tmp_path / "other" / ".." / "there"):
        run(SMALL, out)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "summary.json").exists()
    assert {each.name for each in tmp_path.iterdir()} == {"there", "link"}


def test_a_run_and_a_comparison_do_not_share_a_folder(kept: Path, tmp_path: Path) -> None:
    vary = {"bottleneck.qdisc": ["codel", "pie"]}
    with pytest.raises(InputError, match="a single run is there"):
        compare(SMALL, vary, 1, out=kept)
    compare(SMALL, vary, 1, out=tmp_path / "compared")
    with pytest.raises(Error, match="not a run"):
        run(SMALL, tmp_path / "compared")
    # As earlier versions left them.
    shutil.copy(kept / "summary.json", tmp_path / "compared")
    assert len(open_comparison(tmp_path / "compared").runs) == 2


def test_runs_of_several_engines_do_not_share_a_folder_with_another(
    kept: Path, small_file: Path, tmp_path: Path, sojourn: Command
) -> None:
    compare(SMALL, {"bottleneck.qdisc": ["codel"]}, 1, out=tmp_path / "compared")
    for folder, there in ((kept, "a single run"), (tmp_path / "compared", "a comparison")):
        # What is there would be opened in their place.
        done = sojourn("run", small_file, "--engine", "packets,fluid", "--out", folder)
        assert done.returncode == 2
        assert f"{folder}: {there} is there (" in one_line(done.stderr)
        assert not (folder / "packets").exists()


@pytest.fixture
def kept(small: Scenario, tmp_path: Path) -> Path:
    run(small.with_({"duration": "2s", "probes.queues": True}), tmp_path / "kept")
    return tmp_path / "kept"


def damage_summary(folder: Path) -> None:
    text = (folder / "summary.json").read_text()
    (folder / "summary.json").write_text(text[: len(text) // 2])


def empty_summary(folder: Path) -> None:
    (folder / "summary.json").write_text("")


def forget_links(folder: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    (folder / "summary.json").write_text(json.dumps(summary | {"links": []}))


def remove_summary(folder: Path) -> None:
    (folder / "summary.json").unlink()


def remove_scenario(folder: Path) -> None:
    (folder / "scenario.toml").unlink()


def damage_table(folder: Path) -> None:
    (folder / "queues.parquet").write_bytes(b"PAR1 and nothing else")


def empty(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


@pytest.mark.parametrize(
    "damage",
    [
        damage_summary,
        empty_summary,
        forget_links,
        remove_summary,
        remove_scenario,
        damage_table,
        empty,
    ],
)
def test_a_report_on_a_damaged_run_is_one_line(sojourn: Command, kept: Path, damage) -> None:
    damage(kept)
    done = sojourn("report", kept, "-o", kept.parent / "report.html")
    assert done.returncode == 1
    assert str(kept) in one_line(done.stderr)
    assert not (kept.parent / "report.html").exists()


def test_a_report_on_nothing_is_one_line(sojourn: Command) -> None:
    done = sojourn("report", "nowhere")
    assert done.returncode == 2
    assert "nowhere" in one_line(done.stderr)


def test_a_damaged_comparison_is_an_error(tmp_path: Path) -> None:
    for text in ("{}", "[]", "{", '{"runs": [{}]}', '{"runs": [{"folder": "x"}]}'):
        (tmp_path / "comparison.json").write_text(text)
        with pytest.raises(Error, match=r"comparison\.json: damaged"):
            open_runs([tmp_path])


def test_errors_in_python_are_value_errors_of_one_line() -> None:
    with pytest.raises(ValueError, match=r"^scenario:4:1: warmpu: ") as caught:
        Scenario(SMALL.replace("warmup", "warmpu"))
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ScenarioError)


def unreadable(folder: Path) -> dict[str, tuple[Path, str]]:
    """Files that are no text of a sensible size, and what is said of each."""
    pipe = folder / "pipe.toml"
    os.mkfifo(pipe)
    (folder / "folder.toml").mkdir()
    texts = {
        "large.toml": (b'name = "' + b"x" * (10 << 20) + b'"', "too large: more than 10 MiB"),
        "bytes.toml": (b'name = "\xff"', "not text in UTF-8: see byte 9"),
        "deep.toml": (b"x = " + b"[" * 100_000, "nested too deeply"),
        "deep-key.toml": (b"x." * 20_000 + b"y = 1", "nested too deeply"),
        "deep.json": (b"[" * 100_000, "nested too deeply"),
        "twice.toml": (b'duration = "1s"\nduration = "2s"', "duplicate key"),
        "twice.json": (b'{"duration": "1s", "duration": "2s"}', 'duplicate key "duration"'),
    }
    for name, (text, _) in texts.items():
        (folder / name).write_bytes(text)
    return {
        "pipe": (pipe, "standard input, as -"),
        "device": (Path("/dev/zero"), "is a pipe or a device"),
        "folder": (folder / "folder.toml", "is a folder"),
        **{name: (folder / name, said) for name, (_, said) in texts.items()},
    }


def test_file_that_is_no_scenario_is_refused_in_words(tmp_path: Path) -> None:
    for name, (file, said) in unreadable(tmp_path).items():
        with pytest.raises(ScenarioError, match=said) as error:
            Scenario.from_file(file)
        assert "\n" not in str(error.value), name
        assert len(str(error.value)) < 200, name


@pytest.mark.parametrize(
    "group",
    [
        'kind = "replay"\nfile = "{}"',
        'kind = "web"\nusers = 1\nthink = {{ dist = "quantiles", file = "{}" }}',
    ],
)
def test_file_that_a_scenario_names_is_read_with_the_same_care(tmp_path: Path, group: str) -> None:
    files = unreadable(tmp_path)
    old = 'kind = "bulk"\nflows = 5'
    for name in ("pipe", "device", "folder", "bytes.toml"):
        file, said = files[name]
        with pytest.raises(ScenarioError, match=said):
            Scenario(edited(old, group.format(file))).ready()
        link = edited(
            "[bottleneck]", f'[bottleneck]\nschedule = {{ kind = "trace", file = "{file}" }}'
        )
        with pytest.raises(ScenarioError, match=said):
            Scenario(link).ready()


@pytest.mark.parametrize("name", ["marked.toml", "marked.json"])
def test_mark_and_line_ends_of_other_systems_are_read(tmp_path: Path, name: str) -> None:
    written = Scenario(SMALL)
    text = written.to_json() if name.endswith("json") else SMALL.replace("\n", "\r\n")
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert Scenario.from_file(tmp_path / name).to_json() == written.to_json()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (b"x" * ((10 << 20) + 1), "too large"),
        (b'name = "\xff"', "TOML or JSON"),
        (b'{"seed": 1, "seed": 2}', 'duplicate key "seed"'),
        (b"{" * 100_000, "not JSON"),
    ],
    ids=["large", "bytes", "twice", "braces"],
)
def test_standard_input_is_read_with_the_same_care(written: bytes, said: str) -> None:
    done = subprocess.run([COMMAND, "check", "-"], input=written, capture_output=True, check=False)
    assert done.returncode == 2
    line = one_line(done.stderr.decode())
    assert line.startswith("sojourn: standard input")
    assert said in line


def test_wrong_numbers_in_calls_are_named() -> None:
    vary = {"bottleneck.qdisc": "codel"}
    for repeat in (2.5, True, "3"):
        with pytest.raises(InputError, match=r"^repeat: .* must be a whole number$"):
            compare(SMALL, vary, repeat=repeat)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^repeat: 0 must be at least 1$"):
        compare(SMALL, vary, repeat=0)
    with pytest.raises(InputError, match=r"^repeat: 100000000000 must be at most 1000000$"):
        compare(SMALL, vary, repeat=10**11)
    with pytest.raises(InputError, match=r"^workers: 1000 must be at most 256$"):
        compare(SMALL, vary, workers=1000)
    with pytest.raises(ScenarioError, match=r"^'duration=1s': give fields with their values"):
        Scenario(SMALL).with_("duration=1s")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^3: give the folder of a run, or several$"):
        open_runs(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^5: give the folder of a run, or several$"):
        open_runs([5])  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"^labels: 'a': give what distinguishes the case"):
        Case("a", SMALL)  # type: ignore[arg-type]


def test_one_measure_is_taken_as_one() -> None:
    vary = {"bottleneck.qdisc": ["codel", "pie"]}
    for call in (
        lambda: compare(SMALL, vary, 1, measures="nonsense"),
        lambda: sweep(grid(SMALL, vary, 1), measures="nonsense"),
    ):
        with pytest.raises(InputError, match="nonsense"):
            call()


def test_folders_without_a_name_or_with_an_impossible_one_are_refused(tmp_path: Path) -> None:
    vary = {"bottleneck.qdisc": "codel"}
    with contextlib.chdir(tmp_path):
        for call in (
            lambda: run(SMALL, ""),
            lambda: compare(SMALL, vary, out=""),
            lambda: sweep(grid(SMALL, vary, 1), ""),
        ):
            with pytest.raises(InputError, match=r"^\"\" is the name of no folder; name one"):
                call()
        for call in (lambda: run(SMALL, "x\0y"), lambda: compare(SMALL, vary, out="x\0y")):
            with pytest.raises(InputError, match=r"^cannot write to 'x\\x00y': embedded null byte"):
                call()
        for call in (lambda: run(SMALL, 5), lambda: compare(SMALL, vary, out=5)):  # type: ignore[arg-type]
            with pytest.raises(InputError, match=r"^5 is the name of no folder; give it as text"):
                call()
        with pytest.raises(InputError, match="no file can have a null byte in its name"):
            page_file("x\0y.html")
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "make",
    [
        lambda: Scenario('name = "\ud800"'),
        lambda: Scenario.from_toml('name = "\ud800"'),
        lambda: Scenario.from_json('{"name": "\ud800"}'),
        lambda: Scenario(SMALL).with_({"name": "\ud800"}),
        lambda: Scenario(SMALL).with_({"\ud800": 1}),
        lambda: Scenario(SMALL).with_text([("name", "\ud800")]),
        lambda: Scenario({"tcp": {"\ud800": 1}}),
    ],
)
def test_half_a_character_is_refused(make: Callable[[], Scenario]) -> None:
    with pytest.raises(ScenarioError, match=r"\\ud800 is half of a character"):
        make()


@pytest.mark.parametrize(
    "words", ["run small.toml --set name=BAD", "run small.toml --out BAD", "check BAD.toml"]
)
def test_words_that_are_no_text_are_one_line(
    sojourn: Command, small_file: Path, words: str
) -> None:
    done = sojourn(*words.replace("BAD", "a\udcff").split())
    assert done.returncode == 2
    assert r"a\udcff" in one_line(done.stderr) and "is no text in UTF-8" in done.stderr


CASE = Case({}, Scenario(SMALL), [1])


@pytest.mark.parametrize("cases", [None, 3, "x", CASE, Scenario(SMALL), {"a": CASE}])
def test_what_is_no_list_of_cases_is_refused(cases: Any) -> None:
    with pytest.raises(InputError, match=r"^cases: a \w+: give a list of cases, such as grid"):
        sweep(cases)


def test_what_a_sweep_takes_is_named_where_it_is_wrong() -> None:
    with pytest.raises(InputError, match=r"^cases\[1\]: <Scenario .*> is no case: write Case"):
        sweep([CASE, Scenario(SMALL)])  # type: ignore[list-item]
    with pytest.raises(InputError, match=r'^cases: "small" is there twice; give labels or name$'):
        sweep([CASE, Case({}, Scenario(SMALL).with_({"duration": "3s"}), [1])])
    with pytest.raises(InputError, match=r"^until: 'loss:5%' is no rule: write Rule"):
        sweep([CASE], until="loss:5%")  # type: ignore[arg-type]
    for given in ({"relative": "5%"}, {"relative": 5}, {"relative": 0.1, "confidence": None}):
        with pytest.raises(InputError, match=r"must be a number between 0 and 1, such as 0\.\d5$"):
            Rule("loss", **given)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^None is no measure: name one"):
        Rule(None, 0.05)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^seeds: 3: give whole numbers, such as range"):
        Case({}, Scenario(SMALL), 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rate": 10e6}, r"^rate = 10000000.0: give text, such as \"100mbit\"$"),
        ({"flows": 10}, r"^flows = 10: give text, such as \"60\"$"),
        ({"rtt": 0.03}, r"^rtt = 0.03: give text, such as \"10ms\"$"),
        ({"packet": None}, r"^packet = None: give text, such as \"1500B\"$"),
    ],
)
def test_a_region_is_given_in_words(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Region.of(**{"rate": "10mbit", "flows": "10..40", "rtt": "30ms", **given})


def test_a_change_that_a_later_one_replaces_is_refused() -> None:
    scenario = Scenario.from_toml(
        'duration = "9s"\n[bottleneck]\nrate = "9mbit"\nqdisc = "pi"\n'
        '[[traffic]]\nkind = "bulk"\nflows = 1\nrtt = "20ms"\n'
    )
    first = r"^bottleneck\.qdisc\.qref: bottleneck\.qdisc, .* give bottleneck\.qdisc first$"
    lost: dict[str, object] = {"bottleneck.qdisc.qref": 60, "bottleneck.qdisc": "pi"}
    with pytest.raises(ScenarioError, match=first):
        scenario.with_(lost)
    with pytest.raises(ScenarioError, match=first):
        scenario.with_text([("bottleneck.qdisc.qref", "60"), ("bottleneck.qdisc", "pi")])
    kept = scenario.with_({"bottleneck.qdisc": "pi", "bottleneck.qdisc.qref": 60})
    assert '"qref":60' in kept.to_json().replace(" ", "")
    by_number: dict[str, object] = {"traffic.0.flows": 7, "traffic.bulk1": {"kind": "bulk"}}
    with pytest.raises(ScenarioError, match=r"^traffic\.0\.flows: traffic\.bulk1, which comes"):
        scenario.with_(by_number)


def test_two_names_of_one_field_are_refused() -> None:
    group = {"kind": "bulk", "from": "a", "to": "b"}
    links = [{"name": "ab", "from": "a", "to": "b", "rate": "9mbit"}]
    links += [{"name": "ba", "from": "b", "to": "a"}]
    scenario = Scenario(
        {"duration": "9s", "links": links, "traffic": [group, {**group, "name": "g"}, group]}
    )
    for one, other in (
        ("traffic.1.flows", "traffic.g.flows"),
        ("traffic[2].flows", "traffic.bulk3.flows"),
        ("traffic.bulk1.flows", "traffic.00.flows"),
    ):
        said = re.escape(f"{one}: {other} is the same field; give one of them")
        with pytest.raises(ScenarioError, match=said):
            grid(scenario, {one: [2, 3], other: [4]}, seeds=1)
        with pytest.raises(ScenarioError, match=said):
            scenario.with_text([(one, "2"), (other, "4")])
    with pytest.raises(ScenarioError, match=r"links\.0\.rate is the same field"):
        scenario.with_({"links.ab.rate": "1mbit", "links.0.rate": "2mbit"})
    apart = scenario.with_({"traffic.0.flows": 2, "traffic.g.flows": 3, "traffic.bulk3.flows": 4})
    assert [each["flows"] for each in apart.to_dict()["traffic"]] == [2, 3, 4]
