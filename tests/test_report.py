"""The page of a report as a file: complete, escaped, small, and an error where it must be one."""

from __future__ import annotations

import html
import json
import re
import urllib.parse
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from browser.samples import Sample, long_run, web_comparison, web_run
from conftest import SMALL
from sojourn import Scenario, compare, report, style
from sojourn import run as run_one
from sojourn.report import frames
from sojourn.report.figures import cases, courses
from sojourn.report.layout import arrange
from sojourn.report.page import VEGA_LITE, _facts
from sojourn.report.runs import check
from sojourn.report.sections import sections
from sojourn.sweep import Results, grid, sweep

HOSTILE = "<script>alert('&')</script>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report.write(web_comparison(seeds=2), tmp_path_factory.mktemp("page") / "web.html")


def charts(runs: list[Sample]) -> dict[str, dict[str, Any]]:
    """Every chart of a report, checked by Altair against Vega-Lite's schema."""
    made = sections(arrange(check(runs)))
    return {figure.slug: figure.chart.to_dict() for section in made for figure in section.figures}


def embedded(page: Path) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text())
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_page_is_self_contained(page: Path) -> None:
    text = page.read_text()
    markup = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", markup)
    assert "@import" not in markup
    assert "default-src 'none'" in markup
    assert len(text.encode()) < 3_000_000


def test_every_figure_is_written_as_svg_and_png_and_linked(page: Path) -> None:
    names = set(embedded(page)["figures"])
    assert len(names) == 11
    folder = page.parent / "web-figures"
    assert {p.stem for p in folder.glob("*.svg")} == names
    assert {p.stem for p in folder.glob("*.png")} == names
    text = page.read_text()
    for name in names:
        assert (folder / f"{name}.svg").read_text().startswith("<svg")
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert f'href="web-figures/{name}.svg"' in text
        assert f'href="web-figures/{name}.png"' in text
    assert not list(page.parent.rglob(".*"))


def test_a_saved_figure_carries_its_legend_and_dashes_ecn(page: Path) -> None:
    svg = (page.parent / "web-figures" / "response-times-98-load.svg").read_text()
    for name in ("uncongested", "drop-tail", "PI ECN"):
        assert f">{name}<" in svg
    assert "stroke-dasharray" in svg


def test_the_table_has_a_row_for_each_case(page: Path) -> None:
    text = page.read_text()
    table = text[text.index("<table") : text.index("</table>")]
    assert table.count('<tr class="block">') == 2
    assert len(re.findall(r'<th scope="row"', table)) == 16
    assert "realised" in table
    for heading in ("Loss", "Marked", "Util.", "Finished", "Response, ms", "Queue, packets"):
        assert heading in table


def test_every_run_shows_its_scenario_and_seed(page: Path) -> None:
    text = page.read_text()
    assert text.count('<details class="run">') == 32
    for run in web_comparison(seeds=2):
        assert (
            html.escape(run.scenario_toml, quote=True)
            .replace("&#x27;", "&#39;")
            .replace("&quot;", "&#34;")
            in text
        )


def test_user_text_is_escaped(tmp_path: Path) -> None:
    runs = [web_run("droptail"), web_run("pi")]
    for run in runs:
        run.label += HOSTILE
        run.scenario_toml = run.scenario_toml.replace('"web"', f'"{HOSTILE}"', 1)
        run.summary["groups"][0]["name"] = HOSTILE
    runs[1].scenario_toml = runs[1].scenario_toml.replace('"pi"', f'"{HOSTILE}"')
    page = report.write(runs, tmp_path / "page.html", title=HOSTILE)
    text = page.read_text()
    assert "<script>alert" not in text
    assert html.escape(HOSTILE, quote=False).replace("'", "&#39;") in text
    assert any(HOSTILE in json.dumps(spec) for spec in embedded(page)["figures"].values())


def test_charts_are_valid_and_carry_no_theme() -> None:
    for spec in charts(web_comparison(seeds=1)).values():
        assert "hidden" in json.dumps(spec["params"])
        assert "background" not in spec.get("config", {})


def test_the_axis_of_response_times_follows_the_data() -> None:
    near = [web_run("pi"), web_run("droptail")]
    spec = charts(near)["response-times"]
    assert spec["encoding"]["y"]["scale"]["domain"] == [0, 1]
    assert "uncongested" not in json.dumps(spec)
    layout = arrange(check(near))
    table = frames.response_cdf(layout, layout.panels[0])
    slowest = (
        table.filter(pl.col("fraction") >= 0.95).group_by("series").agg(pl.col("seconds").min())
    )
    least, most = spec["encoding"]["x"]["scale"]["domain"]
    assert least == 0
    assert 1.0 <= most / (1e3 * slowest["seconds"].max()) < 1.5
    far = [web_run("pi"), web_run("droptail")]
    times = far[1].summary["groups"][0]["response_time_s"]
    times["cdf"] = [[20 * x, y] for x, y in times["cdf"]]
    spec = charts(far)["response-times"]["encoding"]["x"]
    assert spec["scale"]["type"] == "log"
    assert "logarithmic" in spec["title"]


def test_the_uncongested_network_is_the_grey_curve() -> None:
    runs = [web_run("droptail", uncongested=True), web_run("pi")]
    scale = charts(runs)["response-times"]["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True))["uncongested"] == style.GREY[0]


def test_names_of_points_at_the_same_place_are_a_list() -> None:
    kinds = ("droptail", "pi", "rem", "red", "codel")
    runs = [long_run(kind, traces=False) for kind in kinds]
    for run, delay in zip(runs, (0.010, 0.0101, 0.0102, 0.0103, 0.001), strict=True):
        run.summary["links"][0] |= {"sojourn_s": {"mean": delay}, "utilisation": 0.99}
    table = cases._named(frames.plane(arrange(check(runs))), logarithmic=False)
    near = table.filter(pl.col("delay_ms") > 5)
    (alone,) = table.filter(pl.col("delay_ms") < 5).to_dicts()
    assert near["below"].is_unique().all()
    # Names at the end of the axis stand before their points.
    assert (near["aside"] < 0).all() and alone["aside"] > 0
    assert alone["below"] == near["below"][0]


def test_an_axis_of_nothing_but_zero_has_an_end() -> None:
    runs = [long_run(kind) for kind in ("droptail", "pi")]
    for run in runs:
        for group in run.summary["groups"]:
            group["goodput_bps"] = 0.0
        run.summary["links"][0]["sojourn_s"] = {"mean": 0.0}
        run.queues = run.queues.with_columns(packets=pl.lit(0))  # type: ignore[union-attr]
    made = charts(runs)
    across = made["goodput"]["spec"]["layer"][0]["encoding"]["x"]["scale"]
    assert (across["zero"], across["domainMax"]) == (True, 1)
    plane = json.dumps(made["delay-utilisation"]["layer"])
    assert '"domainMax": 1, "domainMin": 0' in plane
    assert "top" in json.dumps(made["queue"])
    runs[1].summary["engine"] = "fluid"
    runs[1].scenario_toml = runs[0].scenario_toml
    laid = charts(runs)["queue"]["layer"][0]["encoding"]["y"]["scale"]
    assert laid == {"domainMax": 1}


def test_long_flows_show_goodput_and_windows_instead_of_empty_figures() -> None:
    made = charts([long_run("droptail"), long_run("pi")])
    assert {"goodput", "congestion-windows", "queue", "delay-utilisation"} <= set(made)
    assert not {"response-times", "response-tails"} & set(made)
    assert "congestion-windows" not in charts([long_run("pi", traces=False)])


def test_without_queue_samples_there_are_no_queue_figures() -> None:
    made = charts([web_run("pi", queues=False), web_run("droptail", queues=False)])
    assert set(made) == {"response-times", "response-tails", "delay-utilisation"}


def test_rows_of_different_scale_have_own_axes() -> None:
    near = arrange(check([web_run("pi", qref=24), web_run("pi", qref=40)]))
    far = arrange(check([web_run("pi", qref=8), web_run("droptail")]))
    for layout, own in ((near, False), (far, True)):
        table = frames.queue_series(layout, layout.panels[0])
        assert courses.apart(table) is own


def test_seeds_far_apart_are_listed() -> None:
    for seeds, said in (((1, 2, 3, 4), "1 to 4"), ((1, 2, 3, 2**63), f"1, 2, 3 and {2**63}")):
        runs = [web_run("pi", seed=seed, queues=False) for seed in seeds]
        assert ("Seeds", said) in _facts(arrange(check(runs)))


def test_a_measure_may_be_missing_in_some_panels() -> None:
    runs = []
    for kind in ("droptail", "pi"):
        for flows, jain in ((1, None), (4, 0.9)):
            run = long_run(kind)
            run.scenario_toml += f"flows = {flows}\n"
            run.summary["groups"] = [{**run.summary["groups"][0], "jain": jain}]
            runs.append(run)
    assert len([slug for slug in charts(runs) if slug.startswith("goodput-")]) == 2


def test_similar_panel_names_get_distinct_files() -> None:
    runs = []
    for kind in ("droptail", "pi"):
        for rtt in ("10ms", "10 ms"):
            run = web_run(kind, queues=False)
            run.scenario_toml = run.scenario_toml.replace("10ms..150ms", rtt)
            runs.append(run)
    made = charts(runs)
    assert len([slug for slug in made if slug.startswith("response-times")]) == 2


def test_folder_argument_gets_default_page_name(tmp_path: Path) -> None:
    page = report.write([long_run("pi", traces=False)], tmp_path / "new" / "folder")
    assert page == tmp_path / "new" / "folder" / "report.html"
    assert page.exists()


def test_reports_in_one_folder_have_each_its_own_figures(tmp_path: Path) -> None:
    run = long_run("pi", traces=False)
    for name in ("report", "fast", "a #1%"):
        text = report.write([run], tmp_path / f"{name}.html").read_text()
        folder = "figures" if name == "report" else f"{name}-figures"
        assert f"in the folder <code>{folder}</code>" in text
        hrefs = re.findall(r'href="([^"]+\.svg)"', text)
        assert hrefs
        for href in hrefs:
            found = tmp_path / urllib.parse.unquote(href)
            assert found.parent.name == folder and found.exists()


def test_unwritable_place_is_one_line_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(report.ReportError, match=r"cannot write the report to .*name a folder"):
        report.write([long_run("pi", traces=False)], tmp_path / "file" / "page.html")


def test_damaged_run_leaves_no_page(tmp_path: Path) -> None:
    broken = web_run()
    broken.summary = {}
    with pytest.raises(report.ReportError):
        report.write([broken], tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_stopped_run_is_labelled(tmp_path: Path) -> None:
    run = web_run("pi", queues=False)
    run.summary["stopped_early"] = True
    text = report.write([run], tmp_path / "page.html").read_text()
    assert "Stopped before the end of the scenario: run 1" in text


def test_the_page_and_the_files_are_drawn_by_one_version() -> None:
    spec = charts([web_run("pi", queues=False)])["response-times"]
    assert f"/v{VEGA_LITE}" in spec["$schema"]


def test_no_two_of_many_cases_look_alike() -> None:
    own = [(f"own{n}", "", marks) for n in range(30) for marks in (False, True)]
    known = [(kind, "", False) for kind in style.KIND_COLOURS]
    swept = [(kind, f"target {n}", False) for kind in ("codel", "pie") for n in range(4)]
    for given in (own, own + known, known + own, swept, [("pi", "", True), ("pi", "", True)]):
        looks = style.looks(given)
        for shade in ("light", "dark"):
            assert len({(getattr(look, shade), look.dash) for look in looks}) == len(given)
        # ECN, and only ECN, has dashes; with and without it a case has one colour.
        assert [style.DASHED[0] in look.dash for look in looks] == [case[2] for case in given]
        for kind, base in style.KIND_COLOURS.items():
            if (kind, "", False) in given:
                look = looks[given.index((kind, "", False))]
                assert (look.light, look.dark, look.dash) == (*base, style.SOLID)
    looks = style.looks(own)
    assert [look.light for look in looks[::2]] == [look.light for look in looks[1::2]]


def test_dots_are_told_in_the_legend_the_files_and_the_words(tmp_path: Path) -> None:
    kinds = [*style.KIND_COLOURS, "cake"]
    page = report.write([web_run(kind, queues=False) for kind in kinds], tmp_path / "many.html")
    text = page.read_text()
    assert "Dotted: in a colour that another has." in text
    swatch = r'data-series="CAKE"><svg[^>]*><line[^>]* stroke-dasharray="2 5"/>'
    assert re.search(swatch, text)
    svg = (tmp_path / "many-figures" / "response-times.svg").read_text()
    assert 'stroke-dasharray="2,5"' in svg


@pytest.mark.parametrize(("paper", "place"), [("#ffffff", 0), ("#15181b", 1)])
def test_every_colour_stands_out_from_the_page(paper: str, place: int) -> None:
    pairs = [*style.KIND_COLOURS.values(), *style.SPARE_COLOURS, style.GREY]
    for pair in pairs:
        assert contrast(pair[place], paper) >= 3.0, pair


def contrast(one: str, other: str) -> float:
    """Contrast of two colours as WCAG 2 defines it (success criterion 1.4.11)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_report_takes_a_run_a_comparison_and_what_came_of_a_sweep(tmp_path: Path) -> None:
    base = Scenario(SMALL)
    one = run_one(base)
    compared = compare(base, {"bottleneck.qdisc": ["droptail", "codel"]}, 2, baseline="codel")
    swept = sweep(grid(base, {}, [1, 2]))
    for given, runs in ((one, 1), (compared, 4), (swept, 2), (iter([one]), 1)):
        page = report.write(given, tmp_path / "page.html").read_text()
        assert page.count('<details class="run">') == runs
    said = report.write(compared.runs, tmp_path / "page.html", baseline="codel").read_text()
    assert said == report.write(compared, tmp_path / "page.html").read_text()
    twins = Results(swept.runs, twins=swept.runs[:1])
    assert len(check(twins)) == 3


@pytest.mark.parametrize("given", ["folder", Path("folder"), None, 3, ["folder"]])
def test_what_is_no_run_is_told_what_to_give(given: Any, tmp_path: Path) -> None:
    with pytest.raises(report.ReportError, match=r"is no run: give what .* open_runs\("):
        report.write(given, tmp_path / "page.html")
