"""Requests that can't be answered: each limit has its own status and message, and no message shows a traceback."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from fencepost.serve import bodies, protocol
from fencepost.serve.failures import InvalidError
from fencepost.serve.models import Models
from fencepost.text import stream
from fencepost.text.sentences import Span, split_sentences
from tests.serve.serving import Client, SlowParser, in_thread, shared_parser, wait_for


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "the body isn't JSON"),
        ("It works.", "the body isn't JSON"),
        ("[" * 100_000, "the body isn't JSON"),
        ('{"text": ' + "[" * 100_000 + "]" * 100_000 + "}", "the body isn't JSON"),
        (b'{"text": "caf\xe9"}', "the body isn't JSON"),
        (r'{"text": "\ud800"}', "the body isn't JSON"),
        ("[]", "the body must be a JSON object"),
        ("{}", "text or tokens is missing"),
        ('{"text": "It.", "tokens": ["It"]}', "give text or tokens, not both"),
        ('{"txt": "It works."}', "unknown field 'txt'"),
        ('{"text": 3}', "text must be a string or a list of strings"),
        ('{"text": ["a", 3]}', "text must be a string or a list of strings"),
        ('{"tokens": "It works"}', "tokens must be a list of words, or a list of lists of words"),
        ('{"tokens": [["It"], "works"]}', "tokens must be a list of words, or a list of lists of words"),
        ('{"tokens": [[]]}', "sentence 1 has no words"),
        ('{"tokens": ["It", ""]}', "sentence 1: word 2, '', is empty"),
        ('{"tokens": [["It"], ["New York"]]}', "sentence 2: word 1, 'New York'"),
        ('{"text": "It works.", "kbest": -1}', "kbest: input should be greater than or equal to 0"),
        ('{"text": "It works.", "kbest": 1000000}', "kbest: input should be less than or equal to 100"),
        ('{"text": "It works.", "kbest": true}', "kbest: input should be a valid integer"),
        ('{"text": "It works.", "mode": "verse"}', "mode: input should be 'text', 'paragraph' or 'line'"),
        ('{"text": "It works.", "format": "xml"}', "format: input should be 'json' or 'brackets'"),
        ('{"text": "It works.", "format": "brackets", "stream": true}', "a stream is always JSON"),
        ('{"text": "It works.", "model": "klingon"}', "no model is called 'klingon'"),
        (json.dumps({"tokens": ["very"] * 10_000}), "sentence 1 has 10,000 words; at most 1,000 are allowed"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_body_that_cannot_be_used_is_422_with_a_reason(client: Client, body: str | bytes, message: str) -> None:
    answer = client.ask("POST", "/v1/parse", body)
    assert answer.status == 422
    assert answer.json()["error"].startswith(message)
    assert "Traceback" not in answer.text


def test_a_mistyped_field_is_corrected(client: Client) -> None:
    assert client.parse(txt="It works.").json()["hint"] == "did you mean text?"


def test_a_text_without_a_full_stop_is_cut(client: Client) -> None:
    sentences = client.parse(text="word " * 1_000).json()["sentences"]
    assert [len(each["tokens"]) for each in sentences] == [400, 400, 200]


def test_a_large_body_is_413(client: Client) -> None:
    answer = client.parse(text="word " * 250_000)
    assert answer.status == 413
    assert answer.json()["error"] == "the body is larger than 1,000,000 bytes"


def test_a_large_body_without_a_length_is_413_too(client: Client) -> None:
    with client.connect() as connection:
        connection.sendall(b"POST /v1/parse HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        for _ in range(16):
            connection.sendall(piece)
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("path", ["/v1/parse", "/v1/search", "/", "/tregex?pattern=NP"])
def test_a_compressed_body_is_415(client: Client, path: str) -> None:
    body = gzip.compress(b'{"text": "It works."}')
    answer = client.ask("POST", path, body, Content_Encoding="gzip", Content_Type="text/plain")
    assert answer.status == 415
    assert "the body is compressed (gzip)" in answer.text
    assert client.ask("POST", "/", "It works.", Content_Encoding="identity").status == 200


def test_a_client_that_goes_on_sending_a_refused_body_is_cut_off(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "DRAINING", 0.2)
    with client.connect() as connection:
        connection.sendall(b"POST /v1/parse HTTP/1.1\r\nHost: test\r\nContent-Length: 50000000\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            send_forever(connection)


def send_forever(connection: socket.socket) -> None:
    for _ in range(100):
        connection.sendall(b"x" * 1000)
        time.sleep(0.05)


def test_too_many_connections_are_503_and_counted(tmp_path: Path) -> None:
    with in_thread(tmp_path, max_connections=2) as client:
        with client.connect(), client.connect() as second:
            second.sendall(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
            assert second.recv(10_000).startswith(b"HTTP/1.1 200 ")
            answer = client.parse(text="It works.")
        assert (answer.status, answer.json()["error"]) == (503, "too many connections are open")
        assert (answer.headers["retry-after"], answer.headers["connection"]) == ("2", "close")
        wait_for(lambda: client.parse(text="It works.").status == 200)
        assert 'fencepost_requests_total{endpoint="parse",status="503"}' in client.get("/metrics").text


def test_headers_that_arrive_too_slowly_are_408(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "SLOWEST_REQUEST", 0.2)
    with client.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost:")
        assert connection.recv(100).startswith(b"HTTP/1.1 408 ")


def test_headers_of_a_second_request_that_arrive_too_slowly_are_408(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "SLOWEST_REQUEST", 0.2)
    with client.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
        assert connection.recv(10_000).startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost:")
        assert connection.recv(100).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_arrives_too_slowly_is_408(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "SLOWEST_REQUEST", 0.2)
    with client.connect() as connection:
        connection.sendall(b'POST /v1/parse HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n{"text": ')
        assert connection.recv(100).startswith(b"HTTP/1.1 408 ")


def test_endless_headers_are_431(client: Client) -> None:
    with client.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nX-Long: " + b"x" * 100_000)
        assert connection.recv(100).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("end", [b"", b"\r\n"], ids=["one line", "many lines"])
@pytest.mark.parametrize("before", [b"5\r\nIt wo\r\n0\r\n", b"5;"], ids=["after the body", "with a piece of it"])
def test_endless_headers_in_a_body_of_chunks_end_the_connection(client: Client, before: bytes, end: bytes) -> None:
    with client.connect() as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n" + before)
        assert is_cut_off(connection, b"x: " + b"x" * 1_000 + end)


def test_endless_headers_behind_a_request_under_way_end_the_connection(tmp_path: Path) -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    body = b"It works."
    with in_thread(tmp_path, {"en": parser}) as client, client.connect() as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        assert parser.entered.wait(10)
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert is_cut_off(connection, b"x: " + b"x" * 1_000 + b"\r\n")
        parser.go.set()


def is_cut_off(connection: socket.socket, piece: bytes) -> bool:
    """Whether the server closes the connection before it has received 20 MB more."""
    try:
        for _ in range(20):
            connection.sendall(piece * (1_000_000 // len(piece)))
        connection.settimeout(1)
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.parametrize("together", [True, False], ids=["at once", "piece by piece"])
@pytest.mark.parametrize("chunked", [True, False])
def test_the_body_of_a_request_that_offers_another_protocol_is_read(
    client: Client, chunked: bool, together: bool
) -> None:
    body = b'{"text": "It works.", "format": "brackets"}'
    framing = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % len(body)
    sent = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if chunked else body
    head = b"POST /v1/parse HTTP/1.1\r\nHost: test\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    request = head + framing + b"\r\n\r\n" + sent
    with client.connect() as connection:
        for at in range(0, len(request), len(request) if together else 30):
            connection.sendall(request[at:][: len(request) if together else 30])
            time.sleep(0.01)
        with connection.makefile("rb") as received:
            answer = received.read()
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.endswith(b"\n(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))\n")


def test_an_offer_of_another_protocol_without_a_body_is_ignored(client: Client) -> None:
    assert client.get("/healthz", Connection="Upgrade", Upgrade="websocket").status == 200


def test_bytes_that_are_not_http_are_400(client: Client) -> None:
    with client.connect() as connection:
        connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")


def test_a_half_closed_connection_is_answered(client: Client) -> None:
    body = b'{"text": "It works."}'
    with client.connect() as connection:
        head = f"POST /v1/parse HTTP/1.1\r\nHost: test\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        connection.shutdown(socket.SHUT_WR)
        received = b"".join(iter(lambda: connection.recv(1000), b""))
    assert received.startswith(b"HTTP/1.1 200 ")
    assert b"(VP (VBZ works))" in received


def test_a_connection_that_closes_in_the_middle_of_its_body_is_400(client: Client) -> None:
    with client.connect() as connection:
        connection.sendall(b'POST /v1/parse HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n{"text": ')
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
    assert client.parse(text="It works.").status == 200


def test_a_client_that_does_not_read_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "SLOWEST_READER", 0.5)
    with in_thread(tmp_path) as client:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        connection.connect(client.address)
        body = json.dumps({"text": "It works. " * 300, "stream": True, "kbest": 30, "probabilities": True}).encode()
        head = f"POST /v1/parse HTTP/1.1\r\nHost: test\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        waiting = 'endpoint="parse",status="200"'
        wait_for(lambda: waiting in client.get("/metrics").text)  # the request has ended
        wait_for(lambda: "fencepost_waiting_requests 0" in client.get("/metrics").text)
        connection.close()


def test_a_client_is_cut_off_when_it_stops_reading_but_not_while_it_reads_slowly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protocol, "SLOWEST_READER", 0.01)
    transport = Mock()
    unread = iter([3, 2, 2, 1, 1, 1])  # when it starts to wait, when it looks, and so on
    transport.get_write_buffer_size.side_effect = lambda: next(unread) * protocol.LEAST_READ

    async def wait() -> None:
        cut_off = asyncio.Event()
        transport.abort.side_effect = cut_off.set
        connection = protocol.Protocol.__new__(protocol.Protocol)
        connection.loop, connection.transport = asyncio.get_running_loop(), transport
        connection._wait_for_reader()
        await asyncio.wait_for(cut_off.wait(), 10)

    asyncio.run(wait())
    assert next(unread, None) is None  # it looked three times


def test_a_full_queue_is_429_and_drains(tmp_path: Path) -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    with in_thread(tmp_path, {"en": parser}, max_requests=2) as client, ThreadPoolExecutor(8) as pool:
        under_way = [pool.submit(client.parse, text="It works.")]
        wait_for(parser.entered.is_set)
        under_way += [pool.submit(client.parse, text="It works.") for _ in range(2)]
        wait_for(lambda: "fencepost_waiting_requests 2" in client.get("/metrics").text)
        refused = client.parse(text="It works.")
        parser.go.set()
        assert [future.result().status for future in under_way] == [200, 200, 200]
        assert client.parse(text="It works.").status == 200
    assert refused.status == 429
    assert refused.headers["retry-after"] == "2"
    assert refused.json()["error"].startswith("the server is busy: 2 requests")


def test_too_much_text_in_the_queue_is_429(tmp_path: Path) -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    with in_thread(tmp_path, {"en": parser}, max_body=2_000) as client, ThreadPoolExecutor(8) as pool:
        first = pool.submit(client.parse, text="Go.")
        wait_for(parser.entered.is_set)  # from now on nothing leaves the queue
        text = "It works. " * 190
        waiting = [pool.submit(client.parse, text=text) for _ in range(4)]
        wait_for(lambda: "fencepost_waiting_requests 4" in client.get("/metrics").text)
        refused = client.parse(text=text)
        parser.go.set()
        assert [future.result().status for future in (first, *waiting)] == [200] * 5
    assert refused.status == 429
    assert refused.json()["error"] == "the server is busy: 4 requests with 7,600 characters are waiting"


def test_an_answer_that_takes_too_long_is_503(tmp_path: Path) -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    with in_thread(tmp_path, {"en": parser}, timeout=0.3) as client:
        answer = client.parse(text="It works.")
        parser.go.set()
        assert answer.status == 503
        assert answer.json()["error"] == "this request takes longer than 0.3 seconds"
        wait_for(lambda: "fencepost_waiting_requests 0" in client.get("/metrics").text)


def test_a_stream_that_takes_too_long_ends_with_an_error(tmp_path: Path) -> None:
    parser = SlowParser(shared_parser(), batches=1)
    with in_thread(tmp_path, {"en": parser}, timeout=4.0) as client:
        text = "It works. " * 300
        lines = client.parse(text=text, stream=True).lines()
        parser.go.set()
    assert "tree" in lines[0]
    assert lines[-1]["error"] == "this request takes longer than 4 seconds"


def test_a_bad_sentence_in_the_middle_of_a_stream_ends_it_with_an_error(tmp_path: Path) -> None:
    with in_thread(tmp_path, max_words=30) as client:
        text = "It works. " * 300 + "Very " + "very " * 49
        lines = client.parse(text=text, stream=True).lines()
    assert len(lines) == 301
    assert lines[-1] == {
        "error": "sentence 301 has 50 words; at most 30 are allowed",
        "hint": "split it, or start the server with a larger --max-words",
    }


def test_a_bug_of_ours_is_500_without_details_and_spares_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    with in_thread(tmp_path, {"en": parser}) as client, ThreadPoolExecutor(4) as pool:
        texts = ["It works.", "boom", "It does."]
        first = pool.submit(client.parse, text="Go.")
        wait_for(parser.entered.is_set)
        futures = [pool.submit(client.parse, text=text) for text in texts]
        wait_for(lambda: "fencepost_waiting_requests 3" in client.get("/metrics").text)
        parser.go.set()
        answers = [future.result() for future in futures]
        assert first.result().status == 200
    assert [answer.status for answer in answers] == [200, 500, 200]
    assert answers[1].json() == {
        "error": "the server failed to answer this request",
        "hint": "its log has the details",
    }


def test_a_bug_outside_the_model_is_500_in_json_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Models, "describe", lambda _: 1 / 0)
    with in_thread(tmp_path) as client:
        answer = client.get("/v1/models")
    assert answer.status == 500
    assert answer.json()["error"] == "the server failed to answer this request"


def test_a_text_that_waits_does_not_block_others(tmp_path: Path) -> None:
    parser = SlowParser(shared_parser(), seconds=0.02)
    with in_thread(tmp_path, {"en": parser}) as client, ThreadPoolExecutor(2) as pool:
        long = pool.submit(client.parse, text="The cat sat on the mat, and then it slept for a while. " * 400)
        wait_for(lambda: len(parser.batches) > 1)
        assert client.parse(text="It works.").status == 200
        assert not long.done()
        assert len(long.result().json()["sentences"]) == 400


@pytest.mark.parametrize("path", ["/v1/parse", "/"])
def test_a_text_without_an_end_is_split_piece_by_piece(
    client: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the model's thread would split one long text for seconds, while the others wait."""
    lengths: list[int] = []

    def noting(text: str, *options: Any) -> list[Span]:
        lengths.append(len(text))
        return split_sentences(text, *options)

    monkeypatch.setattr(stream, "split_sentences", noting)
    text = "5% " * 10_000
    answer = client.ask("POST", path, json.dumps({"text": text}) if path == "/v1/parse" else text)
    assert answer.status == 200
    assert max(lengths) < 20_000


def test_requests_that_come_together_are_parsed_together(tmp_path: Path) -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    with in_thread(tmp_path, {"en": parser}) as client, ThreadPoolExecutor(11) as pool:
        pool.submit(client.parse, text="Go.")
        wait_for(parser.entered.is_set)
        waiting = [pool.submit(client.parse, text=f"It works {number} times.") for number in range(10)]
        wait_for(lambda: "fencepost_waiting_requests 10" in client.get("/metrics").text)
        parser.go.set()
        answers: list[Any] = [future.result() for future in waiting]
    assert [len(batch) for batch in parser.batches] == [1, 10]
    assert [answer.json()["sentences"][0]["tokens"][2]["text"] for answer in answers] == list(map(str, range(10)))


def test_functions_are_refused_if_the_model_does_not_predict_them() -> None:
    parser = SimpleNamespace(vocabularies=SimpleNamespace(functions=None))
    models = Models({"plain": SimpleNamespace(parser=parser)})  # type: ignore[dict-item]
    with pytest.raises(InvalidError, match="the model plain doesn't predict functions"):
        models.find("plain", functions=True)
    assert models.find("plain")[0] == "plain"
