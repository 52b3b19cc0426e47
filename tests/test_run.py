"""Single runs: the command and the function, what they keep, and how they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

from conftest import COMMAND, Command, untimed
from sojourn import Error, InputError, Scenario, __version__, open_runs, run
from sojourn.engines import ENGINES, load_engine
from sojourn.engines.engine import Engine


def test_json_is_the_summary_and_nothing_else(sojourn: Command, small_file: Path) -> None:
    done = sojourn("run", small_file, "--json", "--seed", 5)
    assert (done.returncode, done.stderr) == (0, "")
    summary = json.loads(done.stdout)
    assert summary["seed"] == 5
    assert summary["engine_seconds"] > 0
    assert summary["bottleneck_packets"] > 1000
    assert summary["links"][0]["utilisation"] > 0.9


def test_the_table_shows_links_and_groups(sojourn: Command, small_file: Path) -> None:
    done = sojourn("run", small_file, "--set", "bottleneck.qdisc=pi")
    assert done.returncode == 0
    assert "bottleneck" in done.stdout
    assert "bulk1" in done.stdout


def test_the_same_seed_gives_the_same_summary(small: Scenario) -> None:
    assert untimed(run(small).summary) == untimed(run(small).summary)
    assert untimed(run(small).summary) != untimed(run(small.with_({"seed": 2})).summary)


def test_a_kept_run_opens_to_the_same(small: Scenario, tmp_path: Path) -> None:
    made = run(small.with_({"probes.queues": True}), tmp_path / "run", label="mine")
    (opened,) = open_runs([tmp_path / "run"])
    assert opened.summary == made.summary
    assert (opened.label, opened.seed) == ("mine", 1)
    assert untimed(run(Scenario(opened.scenario_toml)).summary) == untimed(made.summary)
    assert sorted(file.name for file in (tmp_path / "run").iterdir()) == [
        "SHA256SUMS",
        "queues.parquet",
        "run.json",
        "scenario.toml",
        "summary.json",
    ]


@pytest.mark.parametrize("engine", ["packets", "fluid"])
def test_tables_say_their_units_and_their_run(small: Scenario, tmp_path: Path, engine: str) -> None:
    wanted = small.with_({"probes.queues": True, "seed": 5})
    for folder in ("one", "other"):
        run(wanted, tmp_path / folder, engine=engine)
    files = [tmp_path / folder / "queues.parquet" for folder in ("one", "other")]
    assert files[0].read_bytes() == files[1].read_bytes()
    told = pl.read_parquet_metadata(files[0])
    assert (told["sojourn.engine"], told["sojourn.seed"]) == (engine, "5")
    assert told["sojourn.version"] == __version__
    assert Scenario(json.loads(told["sojourn.scenario"])) == wanted
    columns = json.loads(told["sojourn.columns"])
    assert list(columns) == pl.read_parquet(files[0]).columns
    assert columns["rate_bps"]["unit"] == "bit/s"


def test_run_leaves_no_temporary_files(small: Scenario, tmp_path: Path) -> None:
    run(small, tmp_path / "run")
    run(small.with_({"seed": 2}), tmp_path / "run")
    assert [file.name for file in tmp_path.iterdir()] == ["run"]
    assert open_runs([tmp_path])[0].seed == 2


def test_tables_come_without_a_folder_too(small: Scenario) -> None:
    result = run(small.with_({"probes.queues": True, "probes.flows": True}))
    assert result.queues.columns[:5] == ["time_s", "link", "packets", "bytes", "probability"]
    assert result.queues["packets"].max() == 60
    assert result.flows.height == 5
    assert result.has("flows")
    assert not result.has("exchanges")
    with pytest.raises(InputError, match=r"small: no table 'exchanges'.* probes\.exchanges = true"):
        _ = result.exchanges
    with pytest.raises(Error, match=r"probes\.exchanges = true"):
        result.table("exchanges")


def test_records_are_kept_on_request(sojourn: Command, small_file: Path, tmp_path: Path) -> None:
    done = sojourn("run", small_file, "--records", "--out", "run")
    assert done.returncode == 0, done.stderr
    (opened,) = open_runs([tmp_path / "run"])
    assert opened.has("queues")
    assert opened.has("flows")


def test_records_that_nobody_keeps_are_named(sojourn: Command, small_file: Path) -> None:
    wanted = ["--set", "probes.queues=true", "--set", "probes.flows=true"]
    done = sojourn("run", small_file, *wanted)
    said = "sojourn: probes.queues, probes.flows: not written without --out, a folder\n"
    assert (done.returncode, done.stderr) == (0, said)
    assert sojourn("run", small_file, *wanted, "--out", "kept").stderr == ""
    drawn = sojourn("run", small_file, *wanted, "--report", "a.html")
    assert drawn.stderr == said.replace("probes.queues, ", "")


# A group that is there once for each of the links.
HOUSES = """
duration = "1s"
[[links]]
name = "down"
from = "internet"
to = "house"
count = 2
rate = "10mbit"
[[links]]
name = "up"
from = "house"
to = "internet"
count = 2
rate = "10mbit"
[[traffic]]
kind = "bulk"
from = "internet"
to = "house"
rtt = "20ms"
"""


@pytest.mark.parametrize("name", ["", 'name = "people"'])
def test_a_report_traces_the_first_of_a_group_s_copies(
    name: str, sojourn: Command, tmp_path: Path
) -> None:
    (tmp_path / "isp.toml").write_text(HOUSES + name)
    done = sojourn("run", "isp.toml", "--engine", "packets,fluid", "--report", "isp.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "isp-figures" / "congestion-windows.svg").exists()


def test_progress_callback_is_called(small: Scenario) -> None:
    seen: list[tuple[float, int]] = []
    run(
        small.with_({"duration": "200s", "bottleneck.rate": "100mbit", "traffic.0.flows": 50}),
        progress=lambda now_s, packets: seen.append((now_s, packets)),
    )
    assert seen
    assert seen == sorted(seen)
    assert 0 <= seen[-1][0] <= 200


@pytest.mark.alone
def test_ctrl_c_ends_run_within_a_second_with_partial_summary(small_file: Path) -> None:
    words = [COMMAND, "run", small_file, "--json", "--set", "duration=100h"]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    begin = time.monotonic()
    os.kill(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert time.monotonic() - begin < 1.0
    assert child.returncode == 130
    assert "Traceback" not in err
    summary = json.loads(out)
    assert summary["stopped_early"] is True
    assert 0 < summary["simulated_s"] < 360_000


def test_what_was_asked_for_is_written_whoever_reads_the_rest(
    small_file: Path, tmp_path: Path
) -> None:
    vary = "--vary bottleneck.qdisc=codel,pie --repeat 1 --out"
    for words, name in ((f"compare '{small_file}' {vary} '{tmp_path}/runs'", "compared.html"),
                        (f"run '{small_file}'", "run.html")):  # fmt: skip
        pipe = f"'{COMMAND}' {words} --report '{tmp_path / name}' | true"
        done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=True)
        assert (done.stderr, (tmp_path / name).exists()) == ("", True)


def test_closed_stdout_is_silent(small_file: Path) -> None:
    pipe = f"'{COMMAND}' schema | head -c 10"
    done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=True)
    assert done.stderr == ""


@pytest.mark.parametrize("name", ENGINES)
def test_engines_are_found_by_name(small: Scenario, name: str) -> None:
    engine: Engine = load_engine(name)
    assert engine.name == name
    engine.check(small)
    if name == "kernel-7":
        return  # To be asked who it is it compiles Linux; tests/test_kernel_source.py has that.
    # What the compiled ones depend on is in the extension module, which is in every key.
    assert (engine.identity() == "") == (name in ("packets", "fluid"))


def test_unknown_engine_is_refused(small: Scenario) -> None:
    with pytest.raises(InputError, match=r"no engine 'ns-3'; there are packets, fluid"):
        run(small, engine="ns-3")


@pytest.mark.alone
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_what_ends_a_process_ends_a_run_as_ctrl_c_does(
    small_file: Path, tmp_path: Path, number: int, code: int
) -> None:
    """Also where Ctrl-C is ignored, as in a shell's background; tables have their folder in /tmp,
    and timeout sends its signal twice."""
    place = tmp_path / "temporary"
    place.mkdir()
    changes = ["--set", "duration=100h", "--set", "probes.queues=true"]
    words = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", COMMAND, "run", small_file, "--json"]
    # Under nohup the tests ignore the end of their terminal, and what they start would do so too.
    ours = signal.signal(number, signal.SIG_DFL)
    try:
        child = subprocess.Popen(
            [*words, *changes, "--set", "probes.interval=100s"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(place)},
        )
    finally:
        signal.signal(number, ours)
    deadline = time.monotonic() + 30
    while not list(place.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    child.send_signal(number)
    child.send_signal(number)
    out, err = child.communicate(timeout=30)
    assert child.returncode == code, err
    assert "Traceback" not in err and not list(place.iterdir())
    assert json.loads(out)["stopped_early"] is True


@pytest.mark.alone
def test_a_hangup_that_is_ignored_stays_so(small_file: Path) -> None:
    words = ["nohup", COMMAND, "run", small_file, "--json", "--set", "duration=100h"]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    child.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    assert child.poll() is None
    child.send_signal(signal.SIGTERM)
    out, _ = child.communicate(timeout=30)
    assert child.returncode == 143 and json.loads(out)["stopped_early"] is True
