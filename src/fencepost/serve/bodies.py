"""Reads the body of a request within limits of size and time."""

from __future__ import annotations

import asyncio

from fastapi import Request
from starlette.requests import ClientDisconnect

from fencepost.serve.failures import ClientGoneError, CompressedError, TooLargeError, TooSlowError
from fencepost.serve.settings import SLOWEST_REQUEST, Settings


async def read_body(request: Request, settings: Settings) -> bytes:
    """The body. Raises TooLargeError before all of it has arrived, and CompressedError."""
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding != "identity":
        raise CompressedError(f"the body is compressed ({encoding[:20]})", hint="send it without Content-Encoding")
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > settings.max_body:
        raise _too_large(settings)
    try:
        return await asyncio.wait_for(_read(request, settings), SLOWEST_REQUEST)
    except (TimeoutError, asyncio.TimeoutError):
        raise TooSlowError(f"the body didn't arrive within {SLOWEST_REQUEST:g} seconds") from None
    except ClientDisconnect:
        raise ClientGoneError("the client is gone") from None


async def _read(request: Request, settings: Settings) -> bytes:
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > settings.max_body:
            raise _too_large(settings)
        pieces.append(piece)
    return b"".join(pieces)


def _too_large(settings: Settings) -> TooLargeError:
    return TooLargeError(
        f"the body is larger than {settings.max_body:,} bytes",
        hint="send the text in parts, or start the server with a larger --max-body",
    )
