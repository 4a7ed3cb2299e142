"""Answers are those that the OpenAPI document describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.serve.serving import Answer, Client, SlowParser, in_thread, shared_parser

TREE = "(TOP (S (NP (PRP It)) (VP (VBZ works))))"
REQUESTS: list[tuple[str, str, str | bytes | None]] = [
    ("POST", "/v1/parse", '{"text": "It works."}'),
    ("POST", "/v1/parse", '{"text": "It works.", "stream": true}'),
    ("POST", "/v1/parse", '{"text": "\\u0000\\udad3\\udd64", "format": "brackets"}'),
    ("POST", "/v1/parse", '{"text": "It works.", "tokens": ["It"]}'),
    ("POST", "/v1/parse", "x" * 1_100_000),
    ("POST", "/v1/search", json.dumps({"pattern": "NP", "trees": [TREE]})),
    ("POST", "/v1/search", json.dumps({"pattern": "NP < PRP", "trees": [""]})),
    ("POST", "/v1/search", json.dumps({"pattern": "NP", "trees": ["(NP " * 50_000]})),
    ("POST", "/", None),
    ("POST", "/", "It works."),
    ("POST", "/", b"\xff"),
    ("POST", "/?properties=0", "It works."),
    ("POST", "/?properties=%7B%22annotators%22%3A%22ner%22%7D", "It works."),
    ("POST", "/tregex", "It works."),
    ("POST", "/tregex?pattern=NP", None),
    ("POST", "/tregex?pattern=0", "It works."),
    ("POST", "/tregex?pattern=%00%ff", "It works."),
    ("GET", "/v1/models", None),
    ("GET", "/v1/labels", None),
    ("GET", "/healthz", None),
    ("GET", "/readyz", None),
    ("GET", "/metrics", None),
]


def check(client: Client, answer: Answer, method: str, path: str) -> None:
    about = client.get("/openapi.json").json()["paths"][path.partition("?")[0]][method.lower()]
    documented = about["responses"][str(answer.status)]["content"]
    assert answer.headers["content-type"].partition(";")[0] in documented


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS, ids=lambda value: str(value)[:40])
def test_status_and_type_of_an_answer_are_described(
    client: Client, method: str, path: str, body: str | bytes | None
) -> None:
    answer = client.ask(method, path, body, Content_Type="text/plain")
    assert answer.status in (200, 413, 422)
    check(client, answer, method, path)


@pytest.mark.parametrize("path", ["/v1/parse", "/"])
def test_answers_of_a_server_that_takes_too_long_are_described(tmp_path: Path, path: str) -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    with in_thread(tmp_path, {"en": parser}, timeout=0.2) as client:
        answer = client.ask("POST", path, '{"text": "It works."}', Content_Type="text/plain")
        parser.go.set()
        assert answer.status == 503
        check(client, answer, "POST", path)


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS, ids=lambda value: str(value)[:40])
def test_a_missing_token_is_described(
    locked: Client, client: Client, method: str, path: str, body: str | bytes | None
) -> None:
    answer = locked.ask(method, path, body if body is None else body[:100], Content_Type="text/plain")
    assert answer.status == (200 if path in ("/healthz", "/readyz") else 401)
    check(client, answer, method, path)


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with in_thread(tmp_path_factory.mktemp("locked"), token="s3cret") as client:
        yield client


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"text": "It works."}, 200),
        ({"text": "It works.", "tokens": None, "model": None}, 200),
        ({"text": None, "tokens": ["It"]}, 200),
        ({"text": "It works.", "tokens": ["It"]}, 422),
        ({"text": None, "tokens": None}, 422),
        ({}, 422),
        ({"text": "It works.", "stream": True}, 200),
        ({"text": "It works.", "format": "brackets"}, 200),
        ({"text": "It works.", "format": "brackets", "stream": True}, 422),
        ({"text": "It works.", "kbest": 101}, 422),
    ],
    ids=str,
)
def test_the_schema_of_a_request_says_what_is_accepted(client: Client, fields: dict[str, Any], status: int) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    about = client.get("/openapi.json").json()["paths"]["/v1/parse"]["post"]["requestBody"]["content"]
    validator = jsonschema.Draft202012Validator(about["application/json"]["schema"])
    assert client.parse(**fields).status == status
    assert validator.is_valid(fields) == (status == 200)
