"""Sends hostile requests to the server and prints what it answers, how fast, and how much memory it takes.

python benchmarks/serve/hostile.py
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from itertools import chain
from urllib.parse import urlsplit

from benchmarks.serve.server import Server, serving


def request(body: bytes, path: str = "/v1/parse", length: int | None = None) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: test\r\nContent-Length: {len(body) if length is None else length}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + body


def text(words: str, **fields: object) -> bytes:
    return request(json.dumps({"text": words, **fields}).encode())


def exchange(server: Server, pieces: Iterator[bytes], half_close: bool = False) -> str:
    """Sends the pieces, and returns the first line of the answer."""
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=90) as connection:
        received = b""
        try:
            for piece in pieces:
                connection.sendall(piece)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the server has already answered and closed
        try:
            while chunk := connection.recv(65_536):
                received += chunk
        except OSError:
            pass
    return received.split(b"\r\n")[0].decode() or "closed without an answer"


def dripping(content: bytes, seconds: float) -> Iterator[bytes]:
    for number in range(len(content)):
        yield content[number : number + 1]
        time.sleep(seconds)


Case = Callable[[Server], str]
CASES: dict[str, Case] = {
    "a body of 50 MB": lambda server: exchange(server, iter([text("word " * 10_000_000)])),
    "the same, said to have 1 GB": lambda server: exchange(server, iter([request(b"{", length=10**9)])),
    "a body of 50 MB in chunks, without a length": lambda server: exchange(server, chunked(b"x" * 65_536, 760)),
    "invalid UTF-8": lambda server: exchange(server, iter([request(b'{"text": "caf\xe9"}')])),
    "JSON nested 100,000 deep": lambda server: exchange(server, iter([request(b"[" * 100_000)])),
    "NUL characters": lambda server: exchange(server, iter([text("A\0 \0 works.")])),
    "a sentence of 10,000 tokens": lambda server: exchange(
        server, iter([request(json.dumps({"tokens": ["very"] * 10_000}).encode())])
    ),
    "a text of 10,000 words without a full stop": lambda server: exchange(server, iter([text("word " * 10_000)])),
    "a word of 900,000 letters": lambda server: exchange(server, iter([text("x" * 900_000)])),
    "900,000 full stops": lambda server: exchange(server, iter([text("." * 900_000)])),
    "900,000 opening brackets": lambda server: exchange(server, iter([text("(" * 900_000)])),
    "script in a text": lambda server: exchange(server, iter([text("<script>alert(1)</script> works.")])),
    "kbest of a billion": lambda server: exchange(server, iter([text("It works.", kbest=10**9)])),
    "100 best trees of 400 words": lambda server: exchange(
        server, iter([request(json.dumps({"tokens": ["very"] * 400, "kbest": 100}).encode())])
    ),
    "headers at one byte a second": lambda server: exchange(server, dripping(b"GET / HTTP/1.1\r\nHost: a" * 9, 1.0)),
    "a body at one byte a second": lambda server: exchange(
        server, slow_body(b'{"text": "It works, and works, and works."}', 1.0)
    ),
    "headers of 1 MB": lambda server: exchange(
        server, iter([b"GET / HTTP/1.1\r\nX-Long: " + b"x" * 1_000_000 + b"\r\n\r\n"])
    ),
    "not HTTP": lambda server: exchange(server, iter([b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"])),
    "a half-closed connection": lambda server: exchange(server, iter([text("It works.")]), half_close=True),
    "a connection closed inside its body": lambda server: exchange(
        server, iter([request(b'{"text": ', length=100)]), half_close=True
    ),
    "200 MB of headers after a body in chunks": lambda server: exchange(server, chain(whole_chunk(), headers(3_000))),
    "200 MB of headers behind a request": lambda server: exchange(
        server, chain([whole(b'{"text": "It works."}')], headers(3_000))
    ),
    "CoreNLP properties of 60 kB": lambda server: exchange(
        server, iter([request(b"It works.", "/?properties=" + "%7B" * 20_000)])
    ),
}


def chunked(piece: bytes, count: int) -> Iterator[bytes]:
    yield b"POST /v1/parse HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
    for _ in range(count):
        yield f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
    yield b"0\r\n\r\n"


def whole_chunk() -> Iterator[bytes]:
    """A request up to where headers may follow its body."""
    *parts, _ = chunked(b'{"text": "It works."}', 1)
    yield from (*parts, b"0\r\n")


def whole(body: bytes) -> bytes:
    """A request after which the connection stays open, and the beginning of another one."""
    head = f"POST /v1/parse HTTP/1.1\r\nHost: test\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body + b"GET / HTTP/1.1\r\nHost: test\r\n"


def headers(count: int) -> Iterator[bytes]:
    """Headers of 64 kB each."""
    for number in range(count):
        yield f"X-{number}: {'x' * 65_536}\r\n".encode()


def slow_body(body: bytes, seconds: float) -> Iterator[bytes]:
    yield request(b"", length=len(body))
    yield from dripping(body, seconds)


def main() -> None:
    with serving() as server:
        print(f"| request | answer | seconds | memory after ({server.megabytes:.0f} MB before) |\n|---|---|---|---|")
        for name, case in CASES.items():
            started = time.perf_counter()
            answer = case(server).removeprefix("HTTP/1.1 ")
            seconds = time.perf_counter() - started
            print(f"| {name} | {answer} | {seconds:.1f} | {server.megabytes:.0f} MB |", flush=True)
        server.parse("It works.")
        problems = [line for line in server.log if "Traceback" in line]
        print(f"\nAfterwards the server parses as before; its log has {len(problems)} tracebacks.")


if __name__ == "__main__":
    main()
