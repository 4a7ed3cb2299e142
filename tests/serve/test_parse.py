"""``POST /v1/parse``: what it answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fencepost.cli.main import main
from tests.serve.serving import Client, SlowParser, in_thread, shared_parser

TEXT = "The cat sat on the mat. “It slept,” she said!\n\nDid it (really)?"


def command_line(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert main(["parse", "--workers", "1", *options]) == 0
    return capsys.readouterr().out


def plain(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in record.items() if name != "file"} for record in records]


def approximately(found: Any, expected: Any) -> bool:
    """Equal but for the last digits of scores, which depend on the company in a batch."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(approximately(found[name], expected[name]) for name in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(approximately, found, expected))
    return bool(found == pytest.approx(expected, abs=1e-3)) if isinstance(expected, float) else found == expected


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"probabilities": True},
        {"kbest": 3},
        {"kbest": 2, "probabilities": True},
        {"functions": True},
        {"functions": True, "kbest": 2},
        {"functions": True, "kbest": 2, "probabilities": True},
    ],
    ids=lambda options: "-".join(options) or "plain",
)
def test_fields_are_those_of_the_command_line(
    client: Client, options: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    switches = ["--kbest", str(options["kbest"])] if "kbest" in options else []
    switches += [f"--{name}" for name in ("probabilities", "functions") if options.get(name)]
    lines = command_line(capsys, "--format", "json", "--text", TEXT, *switches).splitlines()
    answer = client.parse(text=TEXT, **options)
    assert answer.status == 200
    assert answer.json()["model"] == "en"
    assert approximately(answer.json()["sentences"], plain([json.loads(line) for line in lines]))


def test_trees_in_brackets_are_those_of_the_command_line(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    answer = client.parse(text=TEXT, format="brackets")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == command_line(capsys, "--text", TEXT)


def test_the_k_best_trees_in_brackets_are_those_of_the_command_line(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = client.parse(text="It works. It does.", format="brackets", kbest=2)
    assert answer.text == command_line(capsys, "--text", "It works. It does.", "--kbest", "2")


def test_functions_are_in_labels_of_trees_and_beside_labels_of_constituents(client: Client) -> None:
    (sentence,) = client.parse(text="She lives in Rome.", functions=True).json()["sentences"]
    assert sentence["tree"].startswith("(TOP (S (NP-SBJ (PRP She)) (VP (VBZ lives) (PP-LOC ")
    clause, subject = sentence["constituents"][:2]
    assert (subject["label"], subject["function"]) == ("NP", "SBJ")
    assert subject["function_probability"] > 0.5
    assert clause["function"] is None
    assert "probability" not in subject


def test_functions_are_in_brackets_streams_and_each_of_the_k_best_trees(client: Client) -> None:
    text = "She lives in Rome. He works."
    trees = client.parse(text=text, functions=True, format="brackets").text.splitlines()
    assert [tree.count("NP-SBJ") for tree in trees] == [1, 1]
    lines = client.parse(text=text, functions=True, stream=True).lines()
    assert [line["tree"] for line in lines] == trees
    (sentence, _) = client.parse(text=text, functions=True, kbest=2, probabilities=True).json()["sentences"]
    assert all("NP-SBJ" in each["tree"] for each in sentence["kbest"])
    assert [each["constituents"][1]["function"] for each in sentence["kbest"]] == ["SBJ", "SBJ"]


def test_tokens_are_not_split_again(client: Client) -> None:
    sentence = client.parse(tokens=["It", "doesn't", "work", "(", "."]).json()["sentences"][0]
    assert [token["text"] for token in sentence["tokens"]] == ["It", "doesn't", "work", "(", "."]
    assert sentence["text"] == "It doesn't work ( ."
    assert [(token["start"], token["end"]) for token in sentence["tokens"]][:2] == [(0, 2), (3, 10)]


def test_several_sentences_of_tokens_are_numbered(client: Client) -> None:
    found = client.parse(tokens=[["It", "works"], ["So", "it", "does"]]).json()["sentences"]
    assert [(each["document"], each["text"]) for each in found] == [(0, "It works"), (1, "So it does")]


def test_several_texts_are_numbered_and_keep_their_offsets(client: Client) -> None:
    found = client.parse(text=["It works. It does.", "", "So be it."]).json()["sentences"]
    assert [(each["document"], each["offset"]) for each in found] == [(0, 0), (0, 10), (2, 0)]


def test_an_empty_text_has_no_sentences(client: Client) -> None:
    assert client.parse(text=" \n").json() == {"model": "en", "sentences": []}
    assert client.parse(text="", stream=True).text == ""
    assert client.parse(tokens=[]).json()["sentences"] == []


def test_the_mode_says_what_a_line_end_means(client: Client) -> None:
    text = "One line\nand another. And more."
    counts = [len(client.parse(text=text, mode=mode).json()["sentences"]) for mode in ("text", "paragraph", "line")]
    assert counts == [2, 3, 2]


def test_a_stream_has_the_same_sentences_one_per_line(client: Client) -> None:
    expected = client.parse(text=TEXT).json()["sentences"]
    for answer in (
        client.parse(text=TEXT, stream=True),
        client.ask("POST", "/v1/parse", json.dumps({"text": TEXT}), Accept="application/x-ndjson"),
    ):
        assert answer.headers["content-type"] == "application/x-ndjson"
        assert approximately(answer.lines(), expected)


def test_the_first_line_of_a_stream_comes_before_the_last_sentence_is_parsed(tmp_path: Path) -> None:
    parser = SlowParser(shared_parser(), batches=1)
    with in_thread(tmp_path, {"en": parser}) as client, client.connect() as connection:
        text = "The cat sat on the mat, and then it slept for a while. " * 300
        body = json.dumps({"text": text, "stream": True}).encode()
        head = f"POST /v1/parse HTTP/1.1\r\nHost: test\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        received = b""
        while b'"tree"' not in received:
            received += connection.recv(1000)
        count = sum(map(len, parser.batches))
        parser.go.set()
        assert 0 < count < 300


def test_a_sentence_that_is_too_long_for_probabilities_gets_its_best_tree(client: Client) -> None:
    words = ["very"] * 401
    (sentence,) = client.parse(tokens=words, probabilities=True, kbest=2).json()["sentences"]
    assert sentence["tree"].count("very") == 401
    assert "kbest" not in sentence
    assert "probability" not in sentence["constituents"][0]


def test_nul_and_markup_in_a_text_come_back_as_data(client: Client) -> None:
    answer = client.parse(text="A\0b <script>alert(1)</script> & works.")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.json()["sentences"][0]["text"] == "A\0b <script>alert(1)</script> & works."


def test_a_model_is_chosen_by_name(tmp_path: Path) -> None:
    slow = SlowParser(shared_parser())
    with in_thread(tmp_path, {"en": shared_parser(), "other": slow}) as client:
        assert client.parse(text="It works.").json()["model"] == "en"
        assert slow.batches == []
        assert client.parse(text="It works.", model="other").json()["model"] == "other"
        assert slow.batches == [[("It", "works", ".")]]
        names = [model["name"] for model in client.get("/v1/models").json()["models"]]
        assert names == ["en", "other"]


def test_models_say_what_they_can_do(client: Client) -> None:
    assert client.get("/v1/models").json()["models"] == [{"name": "en", "language": "en", "functions": True}]


def test_labels_are_explained(client: Client) -> None:
    labels = client.get("/v1/labels").json()
    assert labels["phrases"]["PP"] == {"meaning": "prepositional phrase", "example": "They met *in the park*."}
    assert labels["tags"]["NNS"]["meaning"] == "noun, plural"
    assert labels["functions"]["SBJ"]["meaning"] == "subject"


GERMAN = (
    "Ich weiß nicht, ob sie heute noch kommt. Wir haben die Katze gestern im Garten gesehen. Das war aber sehr schön."
)
NOTICE = "the text looks like German; the model en knows English"


@pytest.mark.parametrize("given", [{"text": GERMAN}, {"text": GERMAN.split(". ")}, {"tokens": GERMAN.split()}], ids=str)
def test_text_in_another_language_is_noticed_in_a_field_of_its_own(client: Client, given: dict[str, Any]) -> None:
    answer = client.parse(**given).json()
    assert answer["warnings"] == [NOTICE]
    assert not any("warnings" in sentence for sentence in answer["sentences"])
    assert client.parse(**given, format="brackets").text.startswith("(TOP ")


def test_text_in_the_language_of_the_model_has_no_such_field(client: Client) -> None:
    assert set(client.parse(text=TEXT).json()) == {"model", "sentences"}
    assert not any("warnings" in line for line in client.parse(text=TEXT, stream=True).lines())


@pytest.mark.parametrize("text", [GERMAN, GERMAN * 100, GERMAN.partition(".")[0]], ids=["few", "many", "one"])
def test_one_line_of_a_stream_has_the_warning(client: Client, text: str) -> None:
    lines = client.parse(text=text, stream=True).lines()
    assert [line["warnings"] for line in lines if "warnings" in line] == [[NOTICE]]


def test_each_request_is_looked_at_by_itself(client: Client) -> None:
    for _ in range(2):
        assert "warnings" not in client.parse(text="Das ist gut.").json()
        assert client.parse(text=GERMAN).json()["warnings"] == [NOTICE]
