"""Clients of CoreNLP work against the server without a change."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
import requests
from nltk.parse.corenlp import CoreNLPDependencyParser, CoreNLPParser

from fencepost.search.nodes import Nodes
from fencepost.serve.corenlp import CoreNlpRequest
from fencepost.serve.penn import penn_text
from fencepost.trees.brackets import parse_tree
from tests.serve.serving import Answer, Client, SlowParser, in_thread, shared_parser, wait_for


@pytest.fixture
def parser(client: Client) -> CoreNLPParser:
    return CoreNLPParser(url=client.url)


def annotate(client: Client, text: str, **properties: object) -> list[dict[str, object]]:
    answer = client.ask("POST", f"/?properties={quote(json.dumps(properties))}", text, Content_Type="text/plain")
    assert answer.status == 200, answer.text
    sentences: list[dict[str, object]] = answer.json()["sentences"]
    return sentences


def test_nltk_parses_a_raw_sentence(parser: CoreNLPParser) -> None:
    (tree,) = parser.raw_parse("The quick brown fox jumps over the lazy dog.")
    assert tree.label() == "ROOT"
    assert tree.leaves() == ["The", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "."]
    assert tree[0].label() == "S"


def test_nltk_parses_raw_sentences(parser: CoreNLPParser) -> None:
    sentences = ["The fox jumps. Really?", "The wolf (a grey one) sleeps."]
    trees = [tree for (tree,) in parser.raw_parse_sents(sentences)]
    assert [" ".join(tree.leaves()) for tree in trees] == [
        "The fox jumps . Really ?",
        "The wolf -LRB- a grey one -RRB- sleeps .",
    ]


def test_nltk_parses_a_text(parser: CoreNLPParser) -> None:
    assert [" ".join(tree.leaves()) for tree in parser.parse_text("John loves Mary. Mary walks.")] == [
        "John loves Mary .",
        "Mary walks .",
    ]


def test_nltk_parses_tokens(parser: CoreNLPParser) -> None:
    trees = [
        tree for (tree,) in parser.parse_sents([["I", "'m", "a", "dog"], ["It", "is", "my", "friends", "'", "cat"]])
    ]
    assert [tree.leaves() for tree in trees] == [["I", "'m", "a", "dog"], ["It", "is", "my", "friends", "'", "cat"]]
    (tree,) = parser.parse(["What", "is", "the", "airspeed", "of", "an", "unladen", "swallow", "?"])
    assert tree[0].label() == "SBARQ"


def test_nltk_tokenizes(parser: CoreNLPParser) -> None:
    text = "Good muffins cost $3.88\nin New York.  Please buy me\ntwo of them.\nThanks."
    expected = [
        "Good",
        "muffins",
        "cost",
        "$",
        "3.88",
        "in",
        "New",
        "York",
        ".",
        "Please",
        "buy",
        "me",
        "two",
        "of",
        "them",
        ".",
        "Thanks",
        ".",
    ]
    assert list(parser.tokenize(text)) == expected


def test_nltk_tags(client: Client) -> None:
    tagger = CoreNLPParser(url=client.url, tagtype="pos")
    assert tagger.tag(["What", "is", "the", "airspeed", "?"]) == [
        ("What", "WP"),
        ("is", "VBZ"),
        ("the", "DT"),
        ("airspeed", "NN"),
        ("?", "."),
    ]


def test_what_is_missing_is_a_clear_message(client: Client) -> None:
    with pytest.raises(requests.HTTPError, match="fencepost has no annotator 'depparse'"):
        list(CoreNLPDependencyParser(url=client.url).raw_parse("It works."))
    with pytest.raises(requests.HTTPError, match=r"fencepost has no annotator 'ner'.*dependencies, entities"):
        CoreNLPParser(url=client.url, tagtype="ner").tag(["Rome"])


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ('{"outputFormat": "serialized"}', "fencepost can't write the outputFormat 'serialized'"),
        ("[]", "the properties must be a JSON object"),
        ("{", "the properties must be a JSON object"),
        ("{'" * 4_000, "the properties must be a JSON object"),
        ("[" * 20_000, "the properties must be a JSON object"),
    ],
    ids=lambda value: value[:20],
)
def test_other_properties_are_refused_in_plain_text(client: Client, properties: str, message: str) -> None:
    answer = client.ask("POST", f"/?properties={quote(properties)}", "It works.")
    assert answer.status == 422
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text.startswith(message)


@pytest.mark.parametrize("value", ["0x" + "f" * 5_000, "[" * 150 + "0x" + "f" * 5_000 + "]" * 150])
def test_properties_that_cannot_be_written_are_refused(client: Client, value: str) -> None:
    properties = quote(f"{{'x': {value}}}")
    answer = client.ask("POST", f"/?properties={properties}", "It works.")
    assert (answer.status, answer.text.splitlines()[0]) == (422, "the properties must be a JSON object")


def test_a_text_that_takes_long_to_split_is_503_and_is_given_up(tmp_path: Path) -> None:
    properties = quote(json.dumps({"annotators": "tokenize"}))
    with in_thread(tmp_path, timeout=0.5) as client:
        for _ in range(4):
            answer = client.ask("POST", f"/?properties={properties}", "5% " * 300_000)  # takes more than two seconds
            assert answer.status == 503
            assert answer.text.startswith("this request takes longer than 0.5 seconds")
        assert client.ask("POST", f"/?properties={properties}", "It works.").status == 200  # the threads are free


def test_too_many_texts_to_split_are_429(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    monkeypatch.setattr(CoreNlpRequest, "tokens", lambda *_: go.wait(30) and [])
    properties = quote(json.dumps({"annotators": "tokenize"}))
    with in_thread(tmp_path, max_requests=4) as client, ThreadPoolExecutor(6) as clients:
        asked = [clients.submit(client.ask, "POST", f"/?properties={properties}", "It works.") for _ in range(6)]
        wait_for(lambda: sum(each.done() for each in asked) == 2)
        go.set()
        statuses = sorted(each.result().status for each in asked)
    assert statuses == [200] * 4 + [429] * 2


def test_a_text_that_is_not_utf8_is_refused(client: Client) -> None:
    answer = client.ask("POST", "/", b"caf\xe9", Content_Type="text/plain")
    assert (answer.status, answer.text) == (422, "the body isn't UTF-8: unexpected end of data at byte 3")


def test_without_properties_everything_is_annotated(client: Client) -> None:
    sentence = client.ask("POST", "/", "It works.", Content_Type="text/plain").json()["sentences"][0]
    assert sentence["parse"] == "(ROOT (S (NP (PRP It)) (VP (VBZ works)) (. .)))"
    assert sentence["tokens"][1] == {
        "index": 2,
        "word": "works",
        "originalText": "works",
        "characterOffsetBegin": 3,
        "characterOffsetEnd": 8,
        "pos": "VBZ",
    }


def test_properties_may_be_a_python_dictionary_as_stanza_sends_them(client: Client) -> None:
    properties = quote(str({"annotators": "tokenize,ssplit", "outputFormat": "json"}))
    sentence = client.ask("POST", f"/?properties={properties}", "It works.").json()["sentences"][0]
    assert "parse" not in sentence
    assert "pos" not in sentence["tokens"][0]


def test_annotators_may_be_a_list(client: Client) -> None:
    (sentence,) = annotate(client, "It works.", annotators=["tokenize", "ssplit", "parse"])
    assert sentence["parse"] == "(ROOT (S (NP (PRP It)) (VP (VBZ works)) (. .)))"


def test_the_body_of_a_form_is_decoded(client: Client) -> None:
    answer = client.ask("POST", "/", "It%20works: 100% of C++.", Content_Type="application/x-www-form-urlencoded")
    words = [token["word"] for token in answer.json()["sentences"][0]["tokens"]]
    assert words == ["It", "works", ":", "100", "%", "of", "C++", "."]


@pytest.mark.parametrize("option", ["ssplit.isOneSentence", "ssplit.eolonly"])
def test_tokens_of_one_sentence_end_at_full_stops_inside(client: Client, option: str) -> None:
    (sentence,) = annotate(client, " It works. So does Mr. Smith.", annotators="tokenize,ssplit", **{option: "true"})
    tokens = sentence["tokens"]
    assert isinstance(tokens, list)
    assert [token["word"] for token in tokens] == ["It", "works", ".", "So", "does", "Mr.", "Smith", "."]
    assert [token["characterOffsetBegin"] for token in tokens] == [1, 4, 9, 11, 14, 19, 23, 28]


def test_the_model_of_a_language_is_chosen(tmp_path: Path) -> None:
    german = SlowParser(shared_parser())
    german.text_language = "de-news"
    second = SlowParser(shared_parser())  # of the same language: the first one answers
    second.text_language = "de"
    with in_thread(tmp_path, {"en": shared_parser(), "news": german, "de": second}) as client:
        annotate(client, "Es geht.", annotators="parse")
        annotate(client, "Es geht.", annotators="parse", pipelineLanguage="English")
        assert german.batches == []
        annotate(client, "Es geht.", annotators="parse", pipelineLanguage="german")
        annotate(client, "Es geht.", annotators="parse", pipelineLanguage="de")
        tregex(client, "Es geht.", "NP", pipelineLanguage="de")
        assert german.batches == [[("Es", "geht", ".")]] * 3
        assert second.batches == []
        for annotators in ("tokenize", "parse"):
            properties = quote(json.dumps({"annotators": annotators, "pipelineLanguage": "french"}))
            answer = client.ask("POST", f"/?properties={properties}", "Ça va.")
            message = "this server has no model of the language 'fr'\nhint: it has models of de, en"
            assert (answer.status, answer.text) == (422, message)


def test_positions_count_units_of_utf16(client: Client) -> None:
    (sentence,) = annotate(client, "😀 works.", annotators="tokenize,ssplit")
    tokens = sentence["tokens"]
    assert isinstance(tokens, list)
    spans = [(token["characterOffsetBegin"], token["characterOffsetEnd"]) for token in tokens]
    assert spans == [(0, 2), (3, 8), (8, 9)]


def test_blanks_can_separate_tokens_and_lines_sentences(client: Client) -> None:
    options = {"annotators": "tokenize,ssplit", "tokenize.whitespace": "true"}
    found = annotate(client, "It doesn't .\n\nIt  (does)", **options)
    words = [[token["originalText"] for token in each["tokens"]] for each in found]  # type: ignore[attr-defined]
    assert words == [["It", "doesn't", "."], ["It", "(does)"]]
    second = found[1]["tokens"]
    assert isinstance(second, list)
    assert [token["characterOffsetBegin"] for token in second] == [14, 18]


def test_probes_of_corenlp_answer(client: Client) -> None:
    assert client.get("/ping").text == "pong\n"
    assert client.get("/live").status == client.get("/ready").status == 200


def tregex(client: Client, text: str, pattern: str, **query: str) -> Answer:
    asked = urlencode({"pattern": pattern, **query})
    return client.ask("POST", f"/tregex?{asked}", text, Content_Type="text/plain")


def test_tregex_gives_each_match_and_its_named_nodes(client: Client) -> None:
    answer = tregex(client, "It works. The cat on the mat sleeps. Really?", "NP=all < (PP=pp < IN)")
    assert answer.headers["content-type"] == "application/json"
    cat = "(NP\n  (NP (DT The) (NN cat))\n  (PP (IN on)\n    (NP (DT the) (NN mat))))\n"
    mat = "(PP (IN on)\n  (NP (DT the) (NN mat)))\n"
    assert answer.json() == {"sentences": [{}, {"0": {"match": cat, "namedNodes": [{"all": cat}, {"pp": mat}]}}, {}]}


def test_tregex_gives_one_match_for_each_way_and_begins_with_root(client: Client) -> None:
    (sentence,) = tregex(client, "It works.", "ROOT << __=x").json()["sentences"]
    assert list(sentence) == [str(number) for number in range(9)]
    named = [match["namedNodes"][0]["x"] for match in sentence.values()]
    assert named[1:4] == ["(NP (PRP It))\n", "(PRP It)\n", "It\n"]
    assert sentence["0"]["match"] == "(ROOT\n  (S\n    (NP (PRP It))\n    (VP (VBZ works))\n    (. .)))\n"


def test_tregex_takes_what_stanza_sends_along(client: Client) -> None:
    properties = str({"annotators": "tokenize,ner,depparse", "outputFormat": "serialized", "ssplit.eolonly": "true"})
    answer = tregex(client, "It works. So\nit does", "PRP", properties=properties, filter="False")
    assert [len(each) for each in answer.json()["sentences"]] == [1, 1]


@pytest.mark.parametrize(
    ("pattern", "text", "message"),
    [
        ("", "It works.", "the parameter pattern is missing"),
        ("NP < (", "It works.", "column 7: "),
        ("N" * 1_001, "It works.", "the pattern has more than 1,000 characters"),
        ("__ .. __", "The cat sat on the mat. " * 400, "the answer would have more than 10,000 matches"),
    ],
    ids=lambda value: value[:20],
)
def test_a_tregex_request_that_cannot_be_answered_is_refused_in_plain_text(
    client: Client, pattern: str, text: str, message: str
) -> None:
    answer = tregex(client, text, pattern)
    assert answer.status == 422
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text.startswith(message)


@pytest.mark.parametrize("name", ["semgrex", "tokensregex"])
def test_other_patterns_of_corenlp_are_refused_in_plain_text(client: Client, name: str) -> None:
    answer = client.ask("POST", f"/{name}?pattern=x", "It works.")
    assert (answer.status, answer.text) == (
        501,
        f"fencepost doesn't support {name}\nhint: /tregex finds patterns in trees",
    )


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        ("(NN dog)", "(NN dog)\n"),
        ("(S (NP (PRP It)) (. .))", "(S\n  (NP (PRP It))\n  (. .))\n"),
        ("(NP (DT a) (NN b) (CC or) (NN c))", "(NP (DT a) (NN b)\n  (CC or)\n  (NN c))\n"),
        ("(NP (CC either) (NN b) (-LRB- -LRB-))", "(NP (CC either)\n  (NN b) (-LRB- -LRB-))\n"),
    ],
)
def test_subtrees_are_written_as_corenlp_writes_them(tree: str, text: str) -> None:
    read = parse_tree(f"(ROOT {tree})")
    assert penn_text(Nodes.of(read), 1) == text
