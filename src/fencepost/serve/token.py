"""Refuses requests without the server's token."""

from __future__ import annotations

import hmac
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from fencepost.serve.failures import UnauthorizedError
from fencepost.serve.guard import endpoint_of, send_failure

OPEN: Final = frozenset({"page", "health", "docs"})  # endpoints that need no token: they say nothing about texts


class TokenCheck:
    """Inside of CORS, so that a page of an allowed origin can read the refusal."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or endpoint_of(scope["method"], scope["path"]) in OPEN or self._is_given(scope):
            await self._app(scope, receive, send)
            return
        missing = UnauthorizedError("this server needs a token", hint="send the header Authorization: Bearer TOKEN")
        await send_failure(send, missing, ((b"www-authenticate", b"Bearer"),))

    def _is_given(self, scope: Scope) -> bool:
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, _, token = given.partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token, self._token)
