"""``fencepost serve`` as a process: starting, stopping, several processes, the log."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.serve import server as serving
from fencepost.storage.find_model import find_model
from tests.serve.serving import Client, Process, SlowParser, in_thread, shared_parser, wait_for

LONG = "The cat sat on the mat, and then it slept for a while. " * 300


def test_a_server_that_is_told_to_stop_finishes_what_is_under_way() -> None:
    with Process() as server, ThreadPoolExecutor(1) as pool:
        assert server.parse(text="It works.").status == 200
        answer = pool.submit(server.parse, text=LONG)
        wait_for(lambda: re.search(r"fencepost_sentences_total [2-9]", server.get("/metrics").text))
        assert server.stop() == 0
        assert len(answer.result().json()["sentences"]) == 300
        assert not any("Traceback" in line for line in server.log)


def test_a_server_that_is_told_to_stop_gives_up_on_what_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(serving, "LAST_ANSWERS", 0.5)
    parser = SlowParser(shared_parser(), seconds=0.01)
    with ThreadPoolExecutor(4) as clients:
        with in_thread(tmp_path, {"en": parser}) as server:
            answers = [clients.submit(server.parse, text=LONG * 40) for _ in range(4)]
            wait_for(lambda: len(parser.batches) > 3)
        ended = time.monotonic()
        assert [answer.result().status for answer in answers] == [503] * 4
        assert time.monotonic() - ended < 5
    assert answers[0].result().json()["error"] == "the server is stopping"
    assert "Traceback" not in caplog.text


def test_processes_that_are_told_to_stop_refuse_connections_while_they_finish() -> None:
    with Process("--workers", "2") as server, ThreadPoolExecutor(1) as pool:
        assert server.parse(text="It works.").status == 200
        answer = pool.submit(server.parse, text=LONG * 4)
        wait_for(lambda: re.search(r"fencepost_sentences_total [2-9]", server.get("/metrics").text))
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: refuses(server))
        assert not answer.done()
        assert len(answer.result().json()["sentences"]) == 1200
        assert server.process.wait(60) == 0


def refuses(server: Process) -> bool:
    """Whether a connection is refused. One that is accepted and never answered doesn't count."""
    try:
        with server.connect() as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n")
            connection.recv(1)
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        pass
    return False


def test_ctrl_c_stops_a_server_with_the_status_of_an_interruption() -> None:
    with Process() as server:
        assert server.get("/healthz").text == "ok\n"
        assert server.stop(signal.SIGINT) == 130
        assert server.log[-1] == "interrupted\n"


def test_the_log_has_requests_but_no_texts_and_no_queries() -> None:
    with Process() as server:
        server.parse(text="A secret sentence.")
        server.ask("POST", "/?properties=%7B%22secret%22%3A1%7D", "A secret text.")
        server.get("/secret?secret=1")
        server.stop()
        log = "".join(server.log)
    assert re.search(r"127\.0\.0\.1 POST /v1/parse 200 \d+\.\d ms\n", log)
    assert re.search(r"127\.0\.0\.1 POST / 200 ", log)
    assert re.search(r"127\.0\.0\.1 GET \(another path\) 404 ", log)
    assert "secret" not in log


def test_processes_share_the_work_and_a_dead_one_is_replaced() -> None:
    with Process("--workers", "2", "--no-access-log") as server:
        wait_for(lambda: "fencepost_processes 2" in server.get("/metrics").text)
        workers = children(server.process.pid)
        with ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(server.parse, text=f"It works {number} times.") for number in range(40)]
            assert all(answer.result().status == 200 for answer in answers)
        wait_for(lambda: 'status="200"} 40' in server.get("/metrics").text)  # counted once the answer is sent
        wait_for(lambda: "fencepost_sentences_total 40\n" in server.get("/metrics").text)
        os.kill(workers[0], signal.SIGKILL)
        wait_for(lambda: len(children(server.process.pid)) == 2 and children(server.process.pid) != workers)
        wait_for(lambda: "fencepost_processes 2" in server.get("/metrics").text)
        assert 'endpoint="parse",status="200"} 40' in server.get("/metrics").text
        assert "fencepost_sentences_total 40\n" in server.get("/metrics").text
        assert server.stop() == 0
        assert not any("Traceback" in line for line in server.log)


def test_no_process_outlives_a_parent_that_was_killed() -> None:
    with Process("--workers", "2") as server:
        wait_for(lambda: "fencepost_processes 2" in server.get("/metrics").text)
        workers = children(server.process.pid)
        server.process.kill()
        wait_for(lambda: not any(map(is_running, workers)))


def children(parent: int) -> list[int]:
    """The processes that a server has started to answer requests."""
    listed = subprocess.run(["ps", "-ww", "-o", "pid=,args=", "--ppid", str(parent)], capture_output=True, text=True)
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if "spawn_main" in line]


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process}/stat").read_text("utf-8").split()[2] != "Z"


def test_several_models_are_served_by_name(tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(find_model("en"), other)
    with Process("--model", "en", str(other)) as server:
        found = [server.parse(text="It works.", model=name).json() for name in ("en", "other")]
        assert [each["model"] for each in found] == ["en", "other"]
        assert server.parse(text="It works.", model=str(other)).status == 422
        server.stop()


@pytest.mark.parametrize("options", [["--model", "en", "somewhere/en"], ["--model", "en", "--model", "somewhere/en"]])
def test_two_models_of_one_name_are_an_error(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *options]) == 2
    assert capsys.readouterr().err.startswith("error: two models are called en\n")


def test_a_model_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--model", "klingon", "--port", "0"]) == 2
    assert capsys.readouterr().err.startswith("error: no model at klingon\n")


def test_a_damaged_model_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(find_model("en"), damaged)
    (damaged / "vocab.json").write_text("{}", "utf-8")
    assert main(["serve", "--model", str(damaged), "--workers", "2", "--port", "0"]) == 2
    assert "vocab.json" in capsys.readouterr().err


def test_a_port_in_use_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert main(["serve", "--port", str(port)]) == 2
    assert capsys.readouterr().err.startswith(f"error: can't listen on 127.0.0.1:{port}: ")


@pytest.mark.parametrize("options", [["--port", "70000"], ["--workers", "0"], ["--timeout", "0"], ["--max-body", "-1"]])
def test_options_out_of_range_are_errors(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *options]) == 2
    assert capsys.readouterr().err.startswith(f"error: {options[0]} must be ")


def test_a_token_is_asked_for_only_where_texts_are_read(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret\n", "utf-8")
    with Process("--token-file", str(tmp_path / "token")) as server:
        body = json.dumps({"text": "It works."})
        refused = server.ask("POST", "/v1/parse", body)
        assert refused.status == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        assert refused.json()["error"] == "this server needs a token"
        assert server.ask("POST", "/v1/parse", body, Authorization="Bearer wrong").status == 401
        assert server.ask("POST", "/v1/parse", body, Authorization="Bearer s3cret").status == 200
        assert server.ask("POST", "/v1/parse", body, Authorization="bearer s3cret").status == 200
        assert server.ask("POST", "/v1/parse", body, Authorization="s3cret").status == 401
        assert server.ask("POST", "/", "It works.").status == 401
        assert server.get("/metrics").status == 401
        assert server.get("/").status == server.get("/healthz").status == server.get("/docs").status == 200
        server.stop()
        assert "s3cret" not in "".join(server.log)


def test_a_token_from_the_environment_counts() -> None:
    with Process(FENCEPOST_TOKEN="s3cret") as server:
        assert server.parse(text="It works.").status == 401


def test_an_empty_token_file_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "token").write_text("\n", "utf-8")
    assert main(["serve", "--token-file", str(tmp_path / "token")]) == 2
    assert "the first line is empty" in capsys.readouterr().err


def test_pages_of_other_origins_may_not_call_unless_they_are_named(client: Client, tmp_path: Path) -> None:
    asked = {"Origin": "https://example.org", "Access_Control_Request_Method": "POST"}
    assert "access-control-allow-origin" not in client.ask("OPTIONS", "/v1/parse", **asked).headers
    with in_thread(tmp_path, cors=("https://example.org",)) as other:
        answer = other.ask("OPTIONS", "/v1/parse", **asked)
        assert answer.headers["access-control-allow-origin"] == "https://example.org"
        denied = other.ask("OPTIONS", "/v1/parse", **{**asked, "Origin": "https://example.com"})
        assert "access-control-allow-origin" not in denied.headers


def test_a_page_of_a_named_origin_can_read_that_its_token_is_missing(tmp_path: Path) -> None:
    with in_thread(tmp_path, cors=("https://example.org",), token="s3cret") as server:
        body = json.dumps({"text": "It works."})
        refused = server.ask("POST", "/v1/parse", body, Origin="https://example.org")
        assert refused.status == 401
        assert refused.headers["access-control-allow-origin"] == "https://example.org"
        assert refused.headers["x-content-type-options"] == "nosniff"
        asked = {"Origin": "https://example.org", "Access_Control_Request_Method": "POST"}
        assert server.ask("OPTIONS", "/v1/parse", **asked).status == 200


def test_every_answer_has_safe_headers(client: Client) -> None:
    answers = [client.get(path) for path in ("/", "/docs", "/healthz", "/nowhere", "/page/app.js", "/v1/models")]
    for answer in (*answers, client.parse(text="It works."), client.parse()):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "server" not in answer.headers


def test_unknown_addresses_and_methods_are_errors_in_json(client: Client) -> None:
    assert client.get("/nowhere").json()["error"] == "there is nothing at this address"
    assert client.get("/v1/parse").json()["error"] == "this address doesn't support this method"
    assert [client.get("/nowhere").status, client.get("/v1/parse").status] == [404, 405]
    assert client.get("/page/../app.py").status == client.get("/page/%2e%2e/app.py").status == 404


@pytest.mark.parametrize("path", ["/", "/docs", "/healthz", "/readyz", "/v1/models", "/page/app.js", "/nowhere"])
def test_head_is_answered_as_get_without_a_body(client: Client, path: str) -> None:
    asked, answered = client.ask("GET", path), client.ask("HEAD", path)
    assert answered.status == asked.status
    assert answered.headers["content-length"] == asked.headers["content-length"]
    assert answered.body == b""


def test_requests_may_follow_each_other_before_they_are_answered(client: Client) -> None:
    body = b'{"text": "It works.", "format": "brackets"}'
    parse = b"POST /v1/parse HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    last = b"GET /nowhere HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"
    with socket.create_connection(client.address, timeout=20) as connection:
        connection.sendall(parse + b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n" + parse + last)
        with connection.makefile("rb") as received:
            answers = received.read().decode("utf-8")
    assert re.findall(r"HTTP/1\.1 (\d+)", answers) == ["200", "200", "200", "404"]
    assert answers.count("(TOP (S (NP (PRP It))") == 2


def test_metrics_count_requests_and_sentences(tmp_path: Path) -> None:
    with in_thread(tmp_path) as client:
        client.parse(text="It works. It does.")
        client.parse()
        page = client.get("/metrics").text
    assert 'fencepost_requests_total{endpoint="parse",status="200"} 1\n' in page
    assert 'fencepost_requests_total{endpoint="parse",status="422"} 1\n' in page
    assert 'fencepost_request_seconds_bucket{endpoint="parse",le="+Inf"} 2\n' in page
    assert "fencepost_sentences_total 2\n" in page
    assert "fencepost_words_total 6\n" in page
    assert re.search(r"process_resident_memory_bytes [1-9]", page)


def test_metrics_have_the_status_that_was_answered(client: Client) -> None:
    statuses = [
        client.ask("POST", "/v1/parse", b"\x1f\x8b", Content_Encoding="gzip").status,
        client.get("/page/app.js", Range="bytes=0-9").status,
        client.get("/page/app.js", Range="bytes=9000000-").status,
        client.get("/v1/models/").status,
        client.ask("PUT", "/v1/parse").status,
    ]
    assert statuses == [415, 206, 416, 307, 405]
    page = client.get("/metrics").text
    assert all(f'status="{status}"' in page for status in statuses)
    assert 'status="500"' not in page


def test_the_docs_need_no_script_and_describe_every_endpoint(client: Client) -> None:
    page = client.get("/docs").text
    paths = client.get("/openapi.json").json()["paths"]
    own = {"/v1/parse", "/v1/search", "/v1/models", "/v1/labels", "/healthz", "/readyz", "/metrics"}
    assert set(paths) == own | {"/", "/tregex"}
    assert all(f"<code>{method.upper()} {path}</code>" in page for path in paths for method in paths[path])
    assert "<script" not in page
    assert "//" not in re.sub(r"http://127\S+", "", page.replace("https://www.w3.org", ""))
