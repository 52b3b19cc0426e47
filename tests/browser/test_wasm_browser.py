"""The engines in WebAssembly in a browser: the same bits as natively."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from browser.conftest import launch
from test_wasm import FOLDER, IN_BROWSER, goldens, natively, stepped, untimed, whole

pytestmark = IN_BROWSER

# One job after another, each with an engine of its own; numbers stay text.
WORK = """
const [jobs, done] = arguments;
const work = async () => {
  const { Engine } = await import("/engine.js");
  const bytes = await (await fetch("/sojourn.wasm")).arrayBuffer();
  const module = await WebAssembly.compile(bytes);
  return jobs.map(({ toml, changeable, actions }) => {
    const engine = new Engine(module);
    let simulation = engine.simulation(toml, { changeable });
    for (const [name, ...rest] of actions) {
      const answer = simulation[name](...rest);
      if (name === "fork") simulation = answer;
    }
    simulation.finish();
    return simulation.engine.text();
  });
};
work().then(done, (error) => done(`${error.name}: ${error.message}`));
"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    rules = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    yield from launch(tmp_path_factory.mktemp("wasm"), rules, "--proxy-bypass-list=127.0.0.1")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    serve = partial(_Quiet, directory=FOLDER)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_golden_scenarios_give_the_same_bits(browser: Any, address: str) -> None:
    scenarios = goldens()
    browser.set_script_timeout(600)
    browser.get(address)
    jobs = [make(toml) for toml in scenarios.values() for make in (whole, stepped)]
    answers = browser.execute_async_script(WORK, jobs)
    assert isinstance(answers, list), answers
    for number, (name, toml) in enumerate(scenarios.items()):
        expected = natively(toml)
        for text in answers[2 * number : 2 * number + 2]:
            got = json.loads(text)
            # How many events it takes depends on whether links are fused.
            got["events"] = json.loads(expected)["events"]
            assert untimed(got) == expected, name
