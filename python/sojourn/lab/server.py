"""The lab's server: a page, a few questions over HTTP, and runs over a WebSocket.

It listens on this machine only. Told to listen elsewhere, it wants a token with every request, and
a request that comes from a page of another origin is refused either way.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from sojourn.errors import Error, ScenarioError
from sojourn.lab import limits, play, presets
from sojourn.lab.answers import answer, themes
from sojourn.lab.controls import controls
from sojourn.lab.models import overlaid
from sojourn.lab.setting import LONGEST, SIDES, Setting
from sojourn.lab.theory import theory
from sojourn.lab.work import Simulation, short
from sojourn.report.page import bundle

_MOST_BODY = 2 * LONGEST
_PAGE = {
    "/": ("lab.html", "text/html"),
    "/lab.css": ("lab.css", "text/css"),
    "/lab.js": ("lab.js", "text/javascript"),
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_WITHOUT_ENGINE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Sojourn: queues at play</title>
<h1>Nothing plays yet</h1>
<p>This page cannot be made: {}. Then load it again; <a href="./">the lab</a> works without.</p>
"""


@dataclass(frozen=True)
class Options:
    """How the lab is served."""

    readonly: bool = False
    """Only what is on the table at first may be run: no scenario of one's own."""
    first: Setting | None = None
    """A scenario that was named when the lab was started."""
    file: Path | None = None
    """Where that scenario is."""
    token: str | None = None
    """What every request must carry; none on this machine's own address."""
    base_dir: Path = field(default_factory=Path)


def application(options: Options) -> Starlette:
    """The lab as an ASGI application."""
    served = _Server(options)
    routes = [Route(path, served.page) for path in _PAGE]
    routes += [
        Route("/vega.js", served.vega),
        Route("/play", served.play),
        Route("/api/presets", served.presets),
        Route("/api/controls", served.controls, methods=["POST"]),
        Route("/api/scenario", served.scenario, methods=["POST"]),
    ]
    return Starlette(routes=[*routes, WebSocketRoute("/api/runs", served.runs)])


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(18)


class _Server:
    def __init__(self, options: Options) -> None:
        self.options = options

    def _refusal(self, connection: HTTPConnection) -> str | None:
        """Why a request is not answered, if so."""
        origin = connection.headers.get("origin")
        host = connection.headers.get("host", "")
        if origin is not None and origin.partition("://")[2] != host:
            return "requests of pages from elsewhere are not answered"
        token = self.options.token
        if token is None:
            name = host.rsplit(":", 1)[0]
            # A page elsewhere may have its name point to this machine.
            return None if name in ("127.0.0.1", "localhost", "[::1]") else "not this host"
        given = connection.query_params.get("token") or connection.cookies.get("token") or ""
        good = hmac.compare_digest(given.encode(), token.encode())
        return None if good else "the address lacks its token: ?token=…"

    async def _answer(
        self, request: Request, work: Callable[[], Awaitable[Response] | Response]
    ) -> Response:
        refusal = self._refusal(request)
        if refusal is not None:
            return PlainTextResponse(refusal, 403)
        try:
            made = work()
            response = await made if not isinstance(made, Response) else made
        except Error as error:
            response = JSONResponse({"error": str(error)}, 400)
        except ClientDisconnect:
            # Nobody is there to read it.
            response = PlainTextResponse("the request ended early", 400)
        response.headers.setdefault("Content-Security-Policy", _POLICY)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cache-Control"] = "no-store"
        if self.options.token and request.query_params.get("token"):
            response.set_cookie("token", self.options.token, httponly=True, samesite="strict")
        return response

    async def page(self, request: Request) -> Response:
        name, media = _PAGE[request.url.path]

        def read() -> Response:
            text = (resources.files("sojourn.lab") / "assets" / name).read_text(encoding="utf-8")
            return Response(text, media_type=media)

        return await self._answer(request, read)

    async def play(self, request: Request) -> Response:
        """The page whose packets run in it; it says itself what it may do."""

        async def made() -> Response:
            try:
                text = await asyncio.to_thread(play.page, self.options.file)
            except play.EngineMissingError as error:
                return HTMLResponse(_WITHOUT_ENGINE.format(escape(str(error))), 503)
            policy = {"Content-Security-Policy": play.policy()}
            return Response(text, media_type="text/html", headers=policy)

        return await self._answer(request, made)

    async def vega(self, request: Request) -> Response:
        async def read() -> Response:
            code = await asyncio.to_thread(bundle)
            return Response(code, media_type="text/javascript")

        return await self._answer(request, read)

    async def presets(self, request: Request) -> Response:
        def listed() -> Response:
            first = self.options.first
            return JSONResponse(
                {
                    "presets": [preset.to_dict() for preset in presets.all_presets()],
                    "first": first.to_dict() if first else None,
                    "readonly": self.options.readonly,
                    "themes": themes(),
                }
            )

        return await self._answer(request, listed)

    async def controls(self, request: Request) -> Response:
        async def describe() -> Response:
            setting = self._allowed(Setting.read(await _body(request)))
            return JSONResponse(await asyncio.to_thread(controls, setting))

        return await self._answer(request, describe)

    async def scenario(self, request: Request) -> Response:
        async def text() -> Response:
            body = await _body(request)
            side = body.get("side")
            if side not in SIDES:
                raise ScenarioError('"side" is "A" or "B"')
            setting = self._allowed(Setting.read(body))
            toml = setting.scenario(side, self.options.base_dir).to_toml()
            return PlainTextResponse(toml, media_type="application/toml")

        return await self._answer(request, text)

    def _allowed(self, setting: Setting) -> Setting:
        """A setting that may be used: when reading only, one of those that are offered."""
        if self.options.readonly:
            offered = [preset.setting.toml for preset in presets.all_presets()]
            if self.options.first is not None:
                offered.append(self.options.first.toml)
            if setting.toml not in offered:
                raise ScenarioError("this lab is read-only: it runs its own scenarios only")
        return setting

    async def runs(self, socket: WebSocket) -> None:
        """One window of a browser: each request for runs replaces the one before."""
        refusal = self._refusal(socket)
        await socket.accept()
        if refusal is not None:
            await socket.close(4403, refusal)
            return
        job: Simulation | None = None
        task: asyncio.Task[None] | None = None
        try:
            while True:
                text = await socket.receive_text()
                if job is not None:
                    job.cancel()
                if task is not None:
                    await asyncio.gather(task, return_exceptions=True)
                job = Simulation()
                task = asyncio.create_task(self._run(socket, text, job))
        except (WebSocketDisconnect, RuntimeError):
            pass  # the window was closed
        finally:
            if job is not None:
                job.cancel()
            if task is not None:
                with suppress(Exception):
                    await task

    async def _run(self, socket: WebSocket, text: str, job: Simulation) -> None:
        number: Any = None
        try:
            request = _json(text)
            number = request.get("id")
            setting = self._allowed(Setting.read(request))
            await self._stages(socket, number, setting, job)
        except Exception as error:
            if job.stop.is_set():
                return
            message = str(error) if isinstance(error, Error) else f"internal error: {error!r}"
            await socket.send_json({"id": number, "error": message})

    async def _stages(
        self, socket: WebSocket, number: Any, setting: Setting, job: Simulation
    ) -> None:
        scenarios = await asyncio.to_thread(self._scenarios, setting)
        first = {side: short(scenario) for side, scenario in scenarios.items()}
        stages = [("full", scenarios)]
        if any(first.values()):
            beginning = {side: first[side] or scenarios[side] for side in scenarios}
            stages.insert(0, ("first", beginning))
        loop = asyncio.get_running_loop()
        for stage, wanted in stages:
            shown = dict.fromkeys(wanted, 0.0)

            def progress(side: str, share: float, shown: dict[str, float] = shown) -> None:
                shown[side] = share
                message = {"id": number, "progress": min(shown.values())}
                asyncio.run_coroutine_threadsafe(_send(socket, message, job), loop)

            report = progress if stage == "full" else None
            runs = await asyncio.to_thread(job.run, wanted, report)
            made = await asyncio.to_thread(answer, runs)
            await _send(socket, {"id": number, "stage": stage, **made}, job)
        loops = await asyncio.to_thread(theory, scenarios)
        if not job.stop.is_set():
            loops["overlaid"] = await asyncio.to_thread(overlaid, runs, scenarios)
        await _send(socket, {"id": number, "stage": "theory", **loops}, job)

    def _scenarios(self, setting: Setting) -> dict[str, Any]:
        made = {
            side: limits.checked(setting.scenario(side, self.options.base_dir)) for side in SIDES
        }
        # The same twice is shown once.
        return {"A": made["A"]} if made["A"] == made["B"] else made


async def _send(socket: WebSocket, message: dict[str, Any], job: Simulation) -> None:
    if not job.stop.is_set():
        with suppress(RuntimeError, WebSocketDisconnect):
            await socket.send_text(json.dumps(message, separators=(",", ":")))


async def _body(request: Request) -> dict[str, Any]:
    text = b""
    async for chunk in request.stream():
        text += chunk
        if len(text) > _MOST_BODY:
            raise ScenarioError(f"a request has at most {_MOST_BODY} bytes")
    return _json(text)


def _json(text: str | bytes) -> dict[str, Any]:
    if len(text) > _MOST_BODY:
        raise ScenarioError(f"a request has at most {_MOST_BODY} bytes")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScenarioError("a request is JSON") from error
    if not isinstance(value, dict):
        raise ScenarioError("a request is an object")
    return value
