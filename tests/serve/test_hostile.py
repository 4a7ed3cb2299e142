"""Hostile requests to every address that reads a body: each gets its status, and the server goes on."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from fencepost.serve import bodies
from tests.serve.serving import Answer, Client

TREE = "(TOP (S (NP (PRP It)) (VP (VBZ works))))"
GOOD = {
    "/v1/parse": b'{"text": "It works."}',
    "/v1/search": json.dumps({"pattern": "NP", "trees": [TREE]}).encode(),
    "/": b"It works.",
    "/tregex?pattern=NP": b"It works.",
}
every_address = pytest.mark.parametrize("path", GOOD)


@pytest.fixture(autouse=True)
def still_works(client: Client) -> Iterator[None]:
    yield
    assert client.parse(text="It works.").status == 200


def head(path: str, length: int | str) -> bytes:
    how = f"Content-Length: {length}" if isinstance(length, int) else f"Transfer-Encoding: {length}"
    return f"POST {path} HTTP/1.1\r\nHost: test\r\nContent-Type: text/plain\r\n{how}\r\n\r\n".encode()


def answer_to(connection: socket.socket) -> bytes:
    """The first line of the answer, however the connection ends."""
    received = b""
    try:
        while b"\r\n" not in received and (piece := connection.recv(1000)):
            received += piece
    except ConnectionError:
        pass
    return received.split(b"\r\n")[0]


@every_address
@pytest.mark.parametrize("length", [50_000_000, "chunked"])
def test_50_megabytes_are_413(client: Client, path: str, length: int | str) -> None:
    piece = b"x" * 1_000_000
    sent = piece if isinstance(length, int) else f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
    with client.connect() as connection:
        connection.sendall(head(path, length))
        try:
            for _ in range(50):
                connection.sendall(sent)
        except (ConnectionError, TimeoutError):
            pass  # it has been refused meanwhile
        assert answer_to(connection).startswith(b"HTTP/1.1 413 ")  # the words depend on the version of Python


def post(client: Client, path: str, body: bytes) -> Answer:
    return client.ask("POST", path, body, Content_Type="text/plain")


@every_address
def test_invalid_utf8_is_422(client: Client, path: str) -> None:
    answer = post(client, path, GOOD[path].replace(b"It", b"caf\xe9"))
    assert answer.status == 422
    assert "Traceback" not in answer.text


@every_address
def test_deep_json_is_422_or_text(client: Client, path: str) -> None:
    count, status = (900_000, 422) if path.startswith("/v1") else (500, 200)
    assert post(client, path, b"[" * count).status == status


def test_a_deep_tree_that_never_closes_is_422(client: Client) -> None:
    answer = post(client, "/v1/search", json.dumps({"pattern": "NP", "trees": ["(NP " * 200_000]}).encode())
    assert answer.status == 422


def test_a_deep_tree_can_be_searched(client: Client) -> None:
    depth = 20_000
    tree = "(NP " * depth + "(NN x)" + ")" * depth
    answer = post(client, "/v1/search", json.dumps({"pattern": "NP < NN", "trees": [f"(TOP {tree})"]}).encode())
    assert [match["node"] for match in answer.json()["matches"]] == [depth]


@every_address
def test_nul_is_data_but_not_in_a_tree(client: Client, path: str) -> None:
    nul = rb"\u0000" if path.startswith("/v1") else b"\0"
    answer = post(client, path, GOOD[path].replace(b"It", b"I" + nul + b"t"))
    assert answer.status == (422 if path == "/v1/search" else 200)


@every_address
def test_a_body_that_comes_too_slowly_is_408(client: Client, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "SLOWEST_REQUEST", 0.2)
    with client.connect() as connection:
        connection.sendall(head(path, len(GOOD[path])) + GOOD[path][:-1])
        assert answer_to(connection) == b"HTTP/1.1 408 Request Timeout"


@every_address
def test_a_half_closed_connection_gets_its_answer(client: Client, path: str) -> None:
    with client.connect() as connection:
        connection.sendall(head(path, len(GOOD[path])) + GOOD[path])
        connection.shutdown(socket.SHUT_WR)
        assert answer_to(connection) == b"HTTP/1.1 200 OK"


@every_address
def test_a_connection_that_closes_inside_its_body_is_400(client: Client, path: str) -> None:
    with client.connect() as connection:
        connection.sendall(head(path, 1_000) + GOOD[path])
        connection.shutdown(socket.SHUT_WR)
        assert answer_to(connection) == b"HTTP/1.1 400 Bad Request"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/parse", json.dumps({"tokens": ["very"] * 10_000}).encode()),
        (f"/?properties={quote(json.dumps({'ssplit.isOneSentence': 'true'}))}", b"very " * 10_000),
        (f"/?properties={quote(json.dumps({'tokenize.whitespace': 'true'}))}", b"very " * 10_000),
        ("/tregex?pattern=NP&ssplit.isOneSentence=true", b"very " * 10_000),
    ],
    ids=["tokens", "one sentence", "blanks", "tregex"],
)
def test_a_sentence_of_10000_words_is_422(client: Client, path: str, body: bytes) -> None:
    answer = post(client, path, body)
    assert answer.status == 422
    assert "sentence 1 has 10,000 words; at most 1,000 are allowed" in answer.text


@every_address
def test_markup_in_a_text_is_never_a_page(client: Client, path: str) -> None:
    answer = post(client, path, GOOD[path].replace(b"It", b"<script>alert`1`</script>"))
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/docs", "/<script>alert(1)</script>", "/openapi.json"])
def test_markup_in_headers_and_addresses_is_never_part_of_a_page(client: Client, path: str) -> None:
    answer = client.get(quote(path), Host='x"><script>alert(1)</script>', Origin="<script>", User_Agent="<script>")
    assert "<script" not in answer.text
