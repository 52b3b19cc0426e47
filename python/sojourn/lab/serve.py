"""Serving the lab: one page to whoever asks for it, and nothing else."""

from __future__ import annotations

import re
import socket
import sys
import webbrowser
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from sojourn.errors import Error

_LOCAL = ("127.0.0.1", "localhost", "::1")


class LabServer(ThreadingHTTPServer):
    """Hands out a page at ``/``.

    Raises:
        Error: If the address cannot be listened on.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, page: str, *, policy: str, host: str, port: int) -> None:
        self.page = page.encode()
        self.policy = policy
        self.local = host in _LOCAL
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            self.address_family = found[0]
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise Error(f"--host {host} --port {port}: {error.strerror or error}") from error

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever goes away before the end is no error of ours."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """Where the page is."""
        host, port = self.server_address[:2]
        name = str(host)
        return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"


class _Handler(BaseHTTPRequestHandler):
    server: LabServer
    # Who says nothing for so many seconds is not waited for.
    timeout = 20
    server_version = "sojourn"
    sys_version = ""

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        status, kind, body = self._found()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", f"{self.server.policy}; frame-ancestors 'none'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def _found(self) -> tuple[HTTPStatus, str, bytes]:
        # A page elsewhere may have its name point to this machine, and read a scenario.
        name = re.sub(r":\d*$", "", self.headers.get("Host", "")).strip("[]")
        if self.server.local and name not in _LOCAL:
            return HTTPStatus.FORBIDDEN, "text/plain", b"not this host\n"
        if self.path.partition("?")[0] != "/":
            return HTTPStatus.NOT_FOUND, "text/plain", b"there is nothing here but /\n"
        return HTTPStatus.OK, "text/html", self.server.page

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is said of requests."""


def serve(page: str, *, policy: str, host: str, port: int, browser: bool) -> None:
    """Serves a page until Ctrl-C.

    Raises:
        Error: If the address cannot be listened on.
    """
    with LabServer(page, policy=policy, host=host, port=port) as server:
        print(f"lab: {server.address}   (Ctrl-C ends it)", flush=True)
        if browser:
            webbrowser.open(server.address)
        server.serve_forever()
