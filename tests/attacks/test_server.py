"""Requests from strangers: addresses and models outside the server, and bodies that are traps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.serve.serving import Client, in_thread

SECONDS = 60


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with in_thread(tmp_path_factory.mktemp("metrics")) as client:
        yield client


ADDRESSES = [
    "/page/../app.py",
    "/page/%2e%2e/app.py",
    "/page/..%2fapp.py",
    "/page/%2e%2e%2fapp.py",
    "/page/..%5capp.py",
    "/page//etc/passwd",
    "/page/%2fetc%2fpasswd",
    "/page/....//app.py",
    "/page/index.html%00.css",
    "/page/%252e%252e/app.py",
    "/page/" + "../" * 30 + "etc/passwd",
    "/page/" + "%2e%2e/" * 30 + "etc/passwd",
    "/../../etc/passwd",
    "/v1/../page/../app.py",
    "/page/" + "a" * 5000,
    "/page/%ff%fe",
]


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda address: address[:40])
def test_no_address_leads_to_a_file_outside_the_page(client: Client, address: str) -> None:
    answer = client.get(address)
    assert answer.status in (400, 404)
    assert b"root:" not in answer.body
    assert b"import" not in answer.body
    assert b"Traceback" not in answer.body


@pytest.mark.parametrize("model", ["../en", "/etc", "en/../en", "", ".", "EN", "en\0", "\x1b[31m", "x" * 100_000])
def test_a_model_is_one_of_those_that_the_server_has(client: Client, model: str) -> None:
    answer = client.parse(text="It works.", model=model)
    assert answer.status == 422
    assert answer.json()["error"].startswith("no model is called ")
    assert len(answer.body) < 1000


BODIES = {
    "a deep list": b"[" * 100_000,
    "deep objects": b'{"text":' * 100_000,
    "a deep text": b'{"text": ' + b"[" * 50_000 + b'"a"' + b"]" * 50_000 + b"}",
    "a long number": b'{"kbest": ' + b"9" * 100_000 + b"}",
    "infinity": b'{"text": "a", "kbest": 1e999}',
    "not a number": b'{"text": "a", "kbest": NaN}',
    "half of a pair": b'{"text": "\\ud800"}',
    "not UTF-8": b'{"text": "\xff"}',
    "UTF-16": '{"text": "a"}'.encode("utf-16"),
    "nothing": b"",
    "null": b"null",
    "a NUL": b"\0",
    "the same field again and again": b"{" + b",".join([b'"text": "a"'] * 10) + b', "text": 5}',
    "an unknown field": b'{"text": "a", "__class__": "os.system"}',
}


@pytest.mark.parametrize("address", ["/v1/parse", "/v1/search"])
@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_a_trap_is_422(client: Client, name: str, address: str) -> None:
    answer = client.ask("POST", address, BODIES[name])
    assert answer.status == 422, answer.text[:300]
    assert answer.json()["error"]
    assert len(answer.body) < 2000
    assert client.parse(text="It works.").status == 200


SEARCHES: dict[str, tuple[str, str]] = {
    "a deep pattern": ("(" * 900, "(TOP (NN a))"),
    "a deep tree": ("NN", "(" * 100_000),
    "a deep tree that ends": ("NN > A", "(A " * 50_000 + "(NN c)" + ")" * 50_000),
    "an expression that backtracks": ("/^(a+)+$/", f"(TOP (NN {'a' * 5000}b))"),
    "a repetition without end": ("/((a{1000}){1000}){1000}/", "(TOP (NN a))"),
    "escapes": ("\x1b]0;owned\x07", "(TOP (NN a))"),
    "a name of a file": ("/etc/passwd", "(TOP (NN a))"),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_is_a_trap_ends(client: Client, name: str) -> None:
    pattern, tree = SEARCHES[name]
    answer = client.ask("POST", "/v1/search", json.dumps({"pattern": pattern, "trees": [tree]}))
    assert answer.status in (200, 422, 503), answer.text[:300]
    assert len(answer.body) < 5000
    again = client.ask("POST", "/v1/search", json.dumps({"pattern": "NN", "trees": ["(TOP (NN a))"]}))
    assert again.status == 200


@pytest.mark.parametrize("address", ["/v1/search", "/tregex"])
def test_a_search_that_could_take_exponential_time_says_so(
    client: Client, address: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The process that searches doesn't end, so the next search needn't wait for another one."""
    pattern, word = r"/^(a+)+\1$/", "a" * 2500 + "b"
    if address == "/tregex":
        answer = client.ask("POST", f"/tregex?pattern={quote(pattern)}", word)
    else:
        answer = client.ask("POST", address, json.dumps({"pattern": pattern, "trees": [f"(TOP (NN {word}))"]}))
    assert answer.status == 422, answer.text
    assert "exponential time" in answer.text
    assert "Traceback" not in capfd.readouterr().err


def test_properties_of_corenlp_name_no_files(client: Client, tmp_path: Path) -> None:
    for name in ("outputDirectory", "file", "parse.model", "props"):
        asked = json.dumps({"annotators": "parse", "outputFormat": "json", name: str(tmp_path / "made")})
        client.ask("POST", f"/?properties={asked.replace(' ', '')}", "It works.")
    assert list(tmp_path.iterdir()) == []
