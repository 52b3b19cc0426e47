"""Starting the lab."""

from __future__ import annotations

import socket
import webbrowser
from pathlib import Path

import uvicorn

from sojourn.errors import Error
from sojourn.lab.server import Options, application, new_token
from sojourn.lab.setting import Setting
from sojourn.scenario import Scenario


def serve(file: Path | None, *, host: str, port: int, readonly: bool, browser: bool) -> None:
    """Serves the lab until Ctrl-C.

    Raises:
        ScenarioError: If there is something wrong with the scenario in ``file``.
        Error: If the address cannot be listened on.
    """
    # All of it now, in one thread: the first answers come from several at once.
    first = None
    if file is not None:
        toml = Scenario.from_file(file).to_toml()
        first = Setting(toml, {}, {"A": {}, "B": {}})
    local = host in ("127.0.0.1", "localhost", "::1")
    token = None if local else new_token()
    listening = _listen(host, port)
    port = listening.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}/" + (f"?token={token}" if token else "")
    base_dir = file.parent if file is not None else Path()
    options = Options(readonly=readonly, first=first, file=file, token=token, base_dir=base_dir)
    config = uvicorn.Config(
        application(options), log_level="warning", ws_max_size=256_000, lifespan="off"
    )
    print(f"lab: {address}   (Ctrl-C ends it)", flush=True)
    if browser:
        webbrowser.open(address)
    uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        raise Error(f"--host {host} --port {port}: {error.strerror or error}") from error
    return listening
