"""The examples in docs/serve.md run as they are written."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.serve.serving import Client

PAGE = (Path(__file__).parents[2] / "docs" / "serve.md").read_text("utf-8")
DEFAULT = "http://127.0.0.1:8000"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.M | re.S)


CURL = [line for block in blocks("sh") for line in block.splitlines()]


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
@pytest.mark.parametrize("command", CURL, ids=lambda command: command[:70])
def test_curl_examples_are_answered(client: Client, command: str) -> None:
    shown = command.replace(DEFAULT, client.url).replace("curl ", "curl -sS --fail-with-body ", 1)
    result = subprocess.run(["bash", "-c", shown], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout


def test_every_endpoint_has_a_curl_example(client: Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert [path for path in paths if not any(f"{DEFAULT}{path}" in command for command in CURL)] == []


def test_curl_examples_of_the_server_itself_are_answered(client: Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    for about in (about for methods in paths.values() for about in methods.values()):
        shown = about["x-curl"].replace("URL", client.url).replace("curl ", "curl -sS --fail-with-body ", 1)
        assert subprocess.run(["bash", "-c", shown], capture_output=True).returncode == 0, shown


def test_the_answer_in_the_docs_has_the_fields_of_a_real_one(client: Client) -> None:
    shown, _ = blocks("json")
    sentence = client.parse(text="It works.").json()["sentences"][0]
    assert [name for name in sentence if f'"{name}": ' not in shown] == []


def test_the_matches_in_the_docs_are_those_of_the_example(client: Client) -> None:
    _, shown = blocks("json")
    (command,) = (command for command in CURL if "/tregex" in command)
    result = subprocess.run(["bash", "-c", command.replace(DEFAULT, client.url)], capture_output=True, text=True)
    assert json.loads(result.stdout) == json.loads(shown)


def test_the_fields_in_the_docs_are_those_of_the_request(client: Client) -> None:
    schema = client.get("/openapi.json").json()["paths"]["/v1/parse"]["post"]["requestBody"]["content"]
    properties = schema["application/json"]["schema"]["properties"]
    assert [name for name in properties if f"| `{name}` |" not in PAGE] == []


def test_python_examples_run(client: Client) -> None:
    pytest.importorskip("nltk")
    for block in blocks("python"):
        exec(compile(block.replace(DEFAULT, client.url), "docs/serve.md", "exec"), {})
