"""A page by the packet engine, by the linux engine's Rust clients and by Chromium, side by side.

    # .venv/bin/python benches/browser_pages.py [--out FILE.json] [--only TEXT] [--loads N]

The page is made from a graph of objects: a document that names a style, two scripts and images, and
scripts that name more images. The graph becomes a HAR file, which both engines load, and files that
a server of ours (crates/router/examples/page_server.rs: h2 and h3; Python's for HTTP/1.1) gives to
Chromium, through `sojourn-router between` with the same bottleneck. Needs root, Chromium, and

    $ cargo build --profile router -p sojourn-router --bin sojourn-router --example page_server

whose folder `$SOJOURN_PAGE_SERVER` names if it is not target/router/examples.

Every load has new connections and an empty cache. What is compared is the time from the first
connection's SYN or first datagram (`connectStart`) to the last byte of the last object
(`responseEnd`), as medians; the line ends with what differs from the packet engine by more than
15 %. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from sojourn import Scenario, run
from sojourn.engines.linux import program

ROOT = Path(__file__).resolve().parent.parent
RATES = ("5mbit", "20mbit", "100mbit")
RTTS = ("20ms", "200ms")
QDISCS: dict[str, dict[str, Any]] = {
    "droptail": {"kind": "droptail", "limit": 100},
    "fq_codel": {"kind": "fq_codel"},
    "pie": {"kind": "pie"},
}
SERVER = "10.128.0.1"
NAME = "sojourn.test"
CERTIFICATE = "certificate.der"

# The graph: path, kind, bytes, and who names it.
GRAPH: list[tuple[str, str, int, str | None]] = [
    ("/", "html", 24_000, None),
    ("/style", "css", 30_000, "/"),
    ("/script1", "js", 60_000, "/"),
    ("/script2", "js", 40_000, "/"),
    *((f"/image{n}", "gif", 6_000 + 3_000 * n, "/") for n in range(12)),
    *((f"/early{n}", "gif", 12_000, "/script1") for n in range(6)),
    *((f"/late{n}", "gif", 20_000, "/script2") for n in range(4)),
]
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "gif": "image/gif"}
# One transparent point.
GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
# When all is there: from the first connection to the last byte, in the document's title.
CLOCK = """<script>addEventListener("load", () => setTimeout(() => {
  const all = performance.getEntriesByType("resource");
  const own = performance.getEntriesByType("navigation")[0];
  const end = Math.max(own.responseEnd, ...all.map((one) => one.responseEnd));
  document.title = `took ${end - own.connectStart} ${all.length + 1} ${own.nextHopProtocol}`;
}, 0));</script>"""


def body(path: str, kind: str, size: int) -> bytes:
    """An object of the page, as long as the graph says."""
    named = [name for name, _, _, by in GRAPH if by == path]
    if kind == "html":
        parts = []
        for name, what, _, by in GRAPH:
            if by != path:
                continue
            if what == "css":
                parts.append(f'<link rel="stylesheet" href="{name}">')
            elif what == "js":
                parts.append(f'<script src="{name}" async></script>')
            else:
                parts.append(f'<img src="{name}">')
        # What it names stands at its end: engines ask for that when a document is there whole.
        head, tail = f"<!doctype html><meta charset=utf-8>{CLOCK}", "".join(parts)
        filling = size - len(head) - len(tail) - 7
        return f"{head}<!--{'x' * filling}-->{tail}".encode()
    if kind == "gif":
        return GIF + bytes(size - len(GIF))
    text = "".join(f'new Image().src="{name}";' for name in named) if kind == "js" else ""
    return f"{text}/*{'x' * (size - len(text) - 4)}*/".encode()


def har() -> str:
    """The graph as browsers save one."""
    entries = []
    for at, (path, _, size, by) in enumerate(GRAPH):
        entry: dict[str, Any] = {
            "startedDateTime": f"2026-01-01T00:00:00.{at:03}Z",
            "time": 1.0,
            "request": {"url": f"https://{NAME}{path}", "headersSize": 400, "bodySize": 0},
            "response": {"_transferSize": size + 60},
        }
        if by is not None:
            entry["_initiator"] = {"url": f"https://{NAME}{by}"}
        entries.append(entry)
    return json.dumps({"log": {"entries": entries}})


def scenario(rate: str, rtt: str, qdisc: dict[str, Any], http: str, folder: Path) -> Scenario:
    """One user who loads the page again and again, over new connections each time."""
    half = f"{float(rtt.removesuffix('ms')) / 2:g}ms"
    user: dict[str, Any] = {
        "kind": "web",
        "name": "user",
        "users": 1,
        "har": "page.har",
        "http": http,
        "think": "500ms",
        "server_delay": "0s",
        "parse": "0s",
        "gap": "0s",
        "start": "0s",
    }
    if http == "1.1":
        user |= {"persistent": 1.0, "pages_per_connection": 1.0, "parallel": 6}
    return Scenario(
        {
            "duration": "10s" if rate == "5mbit" else "6s",
            "tcp": {"profile": "modern", "congestion": "cubic", "tso": True},
            "quic": {"congestion": {"kind": "cubic", "alpha_rises": False}},
            "bottleneck": {"rate": rate, "delay": half, "qdisc": qdisc},
            "traffic": [user],
        },
        base_dir=folder,
    )


def engine(of: Scenario, name: str) -> tuple[float, bool]:
    """The median page load time, s, and whether the router was late."""
    summary = run(of, engine=name).summary
    [group] = summary["groups"]
    late = (summary.get("router") or {}).get("late", False)
    return group["pages"]["load_time_s"]["p50"], late


class Handler(BaseHTTPRequestHandler):
    """HTTP/1.1 with connections that stay."""

    protocol_version = "HTTP/1.1"
    # Headers and body go out together, and what is short does not wait for an acknowledgement.
    wbufsize = 1 << 16
    disable_nagle_algorithm = True

    def __init__(self, page: dict[str, tuple[str, bytes]], *rest: Any) -> None:
        self.page = page
        super().__init__(*rest)

    def do_GET(self) -> None:
        """Gives an object."""
        kind, content = self.page.get(self.path, ("text/plain", b""))
        self.send_response(200 if content else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


def serve(folder: Path) -> None:
    """HTTP/1.1 for a browser, until killed."""
    page = {path: (KINDS[kind], body(path, kind, size)) for path, kind, size, _ in GRAPH}
    (folder / CERTIFICATE).unlink(missing_ok=True)
    with ThreadingHTTPServer(("0.0.0.0", 8080), partial(Handler, page)) as server:
        server.daemon_threads = True
        tool = Path(os.environ.get("SOJOURN_PAGE_SERVER", ROOT / "target/router/examples"))
        with subprocess.Popen([tool / "page_server", folder]):
            server.serve_forever()


def key_of(certificate: Path) -> str:
    """The hash by which Chromium knows a key (P-256), once the server has written it."""
    for _ in range(100):
        if certificate.exists() and (found := certificate.read_bytes()):
            at = found.index(bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200"))
            return base64.b64encode(hashlib.sha256(found[at : at + 91]).digest()).decode()
        time.sleep(0.1)
    raise SystemExit("the page server wrote no certificate: it did not start")


def load(folder: Path, http: str, loads: int) -> None:
    """Has Chromium load the page, in its namespace; prints what the page says each time."""
    key = key_of(folder / CERTIFICATE)
    for _ in range(loads):
        with TemporaryDirectory() as profile:
            command = [
                shutil.which("chromium") or "chromium",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--no-first-run",
                f"--user-data-dir={profile}",
                f"--host-resolver-rules=MAP {NAME} {SERVER}",
                f"--ignore-certificate-errors-spki-list={key}",
                "--timeout=30000",
                "--dump-dom",
            ]
            if http == "3":
                command.append(f"--origin-to-force-quic-on={NAME}:4433")
            url = f"http://{NAME}:8080/" if http == "1.1" else f"https://{NAME}:4433/"
            said = subprocess.run(
                [*command, url], capture_output=True, text=True, timeout=60, check=False
            )
            found = re.search(r"<title>(took [^<]*)</title>", said.stdout)
            print(found[1] if found else f"no page: {said.stderr[-300:]!r}", flush=True)


def chromium(
    rate: str, rtt: str, qdisc: dict[str, Any], http: str, folder: Path, loads: int
) -> tuple[float, str]:
    """The median time that Chromium takes, s, and what it spoke."""
    own = f"{sys.executable} {Path(__file__).resolve()}"
    settings = ",".join([qdisc["kind"], *(f"{k}={v}" for k, v in qdisc.items() if k != "kind")])
    command = [
        *(str(program()), "between", "--rate", rate, "--qdisc", settings, "--delay", rtt),
        *("--server", f"{own} --serve {folder}"),
        *("--", *own.split(), "--load", str(folder), "--http", http, "--loads", str(loads)),
    ]
    said = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    took = re.findall(r"^took (\S+) (\d+) (\S*)$", said.stdout, re.MULTILINE)
    whole = [float(ms) / 1e3 for ms, objects, _ in took if int(objects) == len(GRAPH)]
    if not whole:
        raise SystemExit(f"Chromium loaded no page: {said.stdout[-500:]}{said.stderr[-500:]}")
    return median(whole), took[0][2]


def main() -> int:
    """Runs them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--loads", type=int, default=3)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--http", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve)
        return 0
    if given.load:
        load(given.load, given.http, given.loads)
        return 0
    print("| bottleneck | HTTP | packets s | linux s | Chromium s | spoke | misses | load |")
    print("|---|---|---|---|---|---|---|---|")
    rows = []
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "page.har").write_text(har())
        lines = []
        for at, (path, kind, size, _) in enumerate(GRAPH):
            (folder / str(at)).write_bytes(body(path, kind, size))
            lines.append(f"{path} {KINDS[kind]} {at}\n")
        (folder / "objects").write_text("".join(lines))
        for rate in RATES:
            for rtt in RTTS:
                for qdisc, settings in QDISCS.items():
                    for http in ("1.1", "2", "3"):
                        name = f"{rate}, {rtt}, {qdisc}"
                        if given.only not in f"{name}, {http}":
                            continue
                        of = scenario(rate, rtt, settings, http, folder)
                        simulated, _ = engine(of, "packets")
                        real, late = engine(of, "linux")
                        browser, spoke = chromium(rate, rtt, settings, http, folder, given.loads)
                        others = {"linux": real, "Chromium": browser}
                        misses = [n for n, t in others.items() if abs(t / simulated - 1) > 0.15]
                        row = {
                            "bottleneck": name,
                            "http": http,
                            "packets": simulated,
                            **others,
                            "spoke": spoke,
                            "misses": misses,
                            "late": late,
                            "load_average": os.getloadavg()[0],
                        }
                        rows.append(row)
                        print(
                            f"| {name} | {http} | {simulated:.2f} | {real:.2f}"
                            f"{' doubtful' if late else ''} | {browser:.2f} | {spoke} "
                            f"| {', '.join(misses)} | {row['load_average']:.1f} |",
                            flush=True,
                        )
                        if given.out:
                            given.out.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
