"""Connections within limits: those that send or read too slowly are closed, and half-closed ones are answered.

uvicorn itself waits forever, both for the rest of a request and for a client that doesn't read its answer.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from fencepost.serve.settings import SLOWEST_REQUEST

LARGEST_HEADERS: Final = 65_536  # bytes
SLOWEST_READER: Final = 30.0  # seconds until a client must read more of its answer
DRAINING: Final = 5.0  # seconds that a client may go on sending a body that is already refused


class Protocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._slow: asyncio.TimerHandle | None = None  # runs while the headers of a request are due
        self._header_bytes = 0
        self._unread: asyncio.TimerHandle | None = None  # runs while the client doesn't read our answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._slow is None and self._awaits_request():
            self._expect_headers()
        if self._slow is not None:
            self._header_bytes += len(data)
        super().data_received(data)
        if self._slow is not None and self._header_bytes > LARGEST_HEADERS:
            self._refuse(431, "the headers are too large")

    def on_headers_complete(self) -> None:
        self._stop_clock()
        super().on_headers_complete()

    def eof_received(self) -> bool | None:  # type: ignore[override]
        """A client that has sent its request and closes its side still gets an answer; then the connection ends."""
        if self.cycle is None or self.cycle.response_complete:
            return None
        if self.cycle.more_body:
            if not self.cycle.response_started:
                self._refuse(400, "the connection closed before the whole body arrived")
            return None
        self.cycle.keep_alive = False
        return True

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle is not None and self.cycle.more_body:
            self.loop.call_later(DRAINING, self.transport.close)

    def pause_writing(self) -> None:
        self._unread = self.loop.call_later(SLOWEST_READER, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        self._stop_waiting()
        super().resume_writing()

    def _stop_waiting(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _awaits_request(self) -> bool:
        return self.cycle is None or (self.cycle.response_complete and not self.cycle.more_body)

    def _expect_headers(self) -> None:
        self._header_bytes = 0
        self._slow = self.loop.call_later(SLOWEST_REQUEST, self._refuse, 408, "the headers didn't arrive in time")

    def _stop_clock(self) -> None:
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None

    def _refuse(self, status: int, message: str) -> None:
        self._stop_clock()
        if self.transport.is_closing():
            return
        body = f"{message}\n".encode()
        about = b"content-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
        length = f"content-length: {len(body)}\r\n\r\n".encode()
        self.transport.write(STATUS_LINE[status] + about + length + body)
        self.transport.close()
