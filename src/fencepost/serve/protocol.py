"""Connections within limits: those that send or read too slowly are closed, and half-closed ones are answered.

uvicorn itself waits forever, both for the rest of a request and for a client that doesn't read its answer. It also
keeps headers of any size: those of a request, those that follow a body in chunks, and those of the next request. And it
loses the body of a request that offers another protocol, as Java's HttpClient does by default (``Upgrade: h2c``).
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from fencepost.serve.settings import SLOWEST_REQUEST

LARGEST_HEADERS: Final = 65_536  # bytes
CROWDED: Final = "fencepost.crowded"  # an extension of a request that came while too many connections were open
SLOWEST_READER: Final = 30.0  # seconds in which a client must read more of its answer
LEAST_READ: Final = 32_768  # bytes that it must read in this time
DRAINING: Final = 5.0  # seconds that a client may go on sending a body that is already refused
FRAMING: Final = (b"content-length", b"transfer-encoding")  # headers of a request with a body


class Protocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # ``guard`` refuses what is too much: uvicorn's own answer is neither counted nor says when to come back.
        self._most_connections, self.limit_concurrency = self.limit_concurrency, None
        self._slow: asyncio.TimerHandle | None = None  # runs while the headers of a request are due
        self._header_bytes = 0  # received since the last piece of a body, or the end of headers
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
        self._header_bytes += len(data)
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except HttpParserUpgrade as offer:
            self._decline(data[offer.args[0] :])
        except HttpParserError:
            self.send_400_response("this isn't HTTP")
        if self._header_bytes > LARGEST_HEADERS:
            if self._awaits_request():
                self._refuse(431, "the headers are too large")
            else:
                self.transport.abort()  # an answer is under way, and this can't be said in the middle of it

    def on_headers_complete(self) -> None:
        self._stop_clock()
        self._header_bytes = 0
        if self._most_connections is not None and len(self.connections) > self._most_connections:
            self.scope["extensions"] = {CROWDED: {}}
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._header_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._framing_of_an_offer():
            super().on_message_complete()

    def _framing_of_an_offer(self) -> list[tuple[bytes, bytes]]:
        """The headers that say where the body ends, if the request offers another protocol and has a body."""
        return [header for header in self.headers if header[0] in FRAMING] if self.parser.should_upgrade() else []

    def _decline(self, rest: bytes) -> None:
        """Reads on after the headers of a request that offers another protocol, for which the parser takes the rest.

        Another parser reads the body. The connection ends with the answer.
        """
        framing = self._framing_of_an_offer()
        if not framing:
            return
        self.cycle.keep_alive = False
        self.parser = HttpRequestParser(_Body(self))
        head = b"".join(b"%s: %s\r\n" % header for header in framing)
        self.data_received(b"POST / HTTP/1.1\r\n" + head + b"\r\n" + rest)

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
        self._wait_for_reader()
        super().pause_writing()

    def _wait_for_reader(self) -> None:
        unread = self.transport.get_write_buffer_size()
        self._unread = self.loop.call_later(SLOWEST_READER, self._look_at_reader, unread)

    def _look_at_reader(self, before: int) -> None:
        """Goes on with a client that is slow, but reads."""
        if before - self.transport.get_write_buffer_size() < LEAST_READ:
            self.transport.abort()
        else:
            self._wait_for_reader()

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


class _Body:
    """The callbacks of a parser that reads only the body of a request."""

    def __init__(self, protocol: Protocol) -> None:
        self.on_body = protocol.on_body
        self.on_message_complete = protocol.on_message_complete
