"""What every request goes through: safe headers, the access log, metrics, and an answer to our own bugs."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fencepost.serve.failures import RequestError, UnavailableError, internal_error
from fencepost.serve.metrics import Metrics
from fencepost.serve.protocol import CROWDED

ACCESS: Final = logging.getLogger("fencepost.access")
PROBLEMS: Final = logging.getLogger("fencepost.serve")
# Paths that the log may show; any other could contain a text.
ENDPOINTS: Final = {
    "/": "page",
    "/v1/parse": "parse",
    "/v1/search": "search",
    "/tregex": "tregex",
    "/semgrex": "other",
    "/tokensregex": "other",
    "/v1/models": "models",
    "/v1/labels": "labels",
    "/healthz": "health",
    "/readyz": "health",
    "/ping": "health",
    "/live": "health",
    "/ready": "health",
    "/metrics": "metrics",
    "/docs": "docs",
    "/openapi.json": "docs",
}
PAGE: Final = "/page/"  # where the files of the page are
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Final = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


def endpoint_of(method: str, path: str) -> str:
    """The name of an endpoint in metrics."""
    if path == "/" and method == "POST":
        return "corenlp"
    return "page" if path.startswith(PAGE) else ENDPOINTS.get(path, "other")


class Guard:
    """The outermost part of the application."""

    def __init__(self, app: ASGIApp, metrics: Metrics, access_log: bool) -> None:
        self._app = app
        self._metrics = metrics
        self._access_log = access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        endpoint = endpoint_of(scope["method"], scope["path"])
        answer = _Answer(send)
        started = time.perf_counter()
        try:
            if CROWDED in scope.get("extensions", ()):
                crowded = UnavailableError("too many connections are open", hint="try again in a few seconds")
                await send_failure(answer.send, crowded, ((b"retry-after", b"2"), (b"connection", b"close")))
            else:
                await self._app(_as_get(scope), receive, answer.send)
        except asyncio.CancelledError:  # the server is stopping and has waited long enough
            if not answer.status:
                stopping = UnavailableError("the server is stopping", hint="try again later")
                await send_failure(answer.send, stopping, ((b"retry-after", b"2"),))
        except Exception:
            PROBLEMS.exception("a request to %s failed", endpoint)
            if not answer.status:
                await send_failure(answer.send, internal_error())
        finally:
            seconds = time.perf_counter() - started
            status = answer.status or 499
            self._metrics.count(endpoint, status, seconds)
            if self._access_log:
                self._log(scope, status, seconds)

    def _log(self, scope: Scope, status: int, seconds: float) -> None:
        """One line without any text of the client."""
        path = scope["path"]
        shown = path if path in ENDPOINTS else f"{PAGE}…" if path.startswith(PAGE) else "(another path)"
        client = scope["client"][0] if scope.get("client") else "-"
        ACCESS.info("%s %s %s %d %.1f ms", client, scope["method"], shown, status, 1000 * seconds)


def _as_get(scope: Scope) -> Scope:
    """Lets endpoints answer HEAD as they answer GET; the server leaves out the body."""
    return {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope


class _Answer:
    """Adds the safe headers to an answer, and notes its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = message.get("headers", [])
            names = {name.lower() for name, _ in given}
            more = [header for header in HEADERS if header[0] not in names]
            if b"cache-control" not in names:
                more.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*given, *more]}
        await self._send(message)


async def send_failure(send: Callable[[Message], Any], error: RequestError, headers: Any = ()) -> None:
    body = json.dumps(error.to_dict(), ensure_ascii=False).encode()
    about = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": error.status, "headers": about})
    await send({"type": "http.response.body", "body": body})
