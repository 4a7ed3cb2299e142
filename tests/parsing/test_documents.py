"""Documents keep their texts, their order, and the place of everything in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fencepost
from fencepost.errors import InputError, MismatchError, UsageError
from fencepost.parsing.documents import Document
from fencepost.parsing.parser import Parser
from fencepost.trees.treebank import Sentence

pytestmark = pytest.mark.filterwarnings("ignore::fencepost.errors.LanguageWarning")  # of random characters

TEXTS = ["Dogs bark.  Cats don't.\n\nA heading", "", "“Yes,” she said (really).", " \n ", "One. Two. Three."]
PARTS = ["It works. ", "He (it) left", "\n\n", "“No!” ", "é", "."]
ANY_TEXT = st.text(max_size=60) | st.lists(st.sampled_from(PARTS)).map("".join)


@pytest.fixture(scope="module")
def parser() -> Parser:
    return fencepost.load()


@settings(max_examples=40)
@given(st.lists(ANY_TEXT, max_size=6))
def test_documents_come_out_in_order_and_positions_index_their_texts(parser: Parser, texts: list[str]) -> None:
    documents = list(parser.pipe(iter(texts)))
    assert [document.text for document in documents] == texts
    for document in documents:
        end = 0
        for sentence in document.sentences:
            assert document.text[end : sentence.start].strip() == ""
            assert document.text[sentence.start : sentence.end] == sentence.text != ""
            end = sentence.end
            inside = sentence.start
            for token, leaf in zip(sentence.tokens, sentence.tree.leaves(), strict=True):
                assert document.text[token.start : token.end] == token.text != ""
                assert inside <= token.start
                assert token.tag == leaf.tag
                inside = token.end
            assert inside <= sentence.end
        assert document.text[end:].strip() == ""


@settings(max_examples=40)
@given(st.lists(ANY_TEXT, max_size=5))
def test_batches_across_documents_give_the_trees_of_one_document_at_a_time(parser: Parser, texts: list[str]) -> None:
    together = list(parser.pipe(texts, batch_tokens=60))
    assert [document.trees for document in together] == [parser.parse_text(text) for text in texts]
    assert together == [parser.parse_document(text) for text in texts]


@settings(max_examples=25)
@given(ANY_TEXT, st.booleans())
def test_a_document_survives_json(parser: Parser, text: str, probabilities: bool) -> None:
    document = parser.parse_document(text, probabilities=probabilities)
    again = Document.from_dict(json.loads(json.dumps(document.to_dict())))
    assert again == document
    assert again.to_dict() == document.to_dict()
    assert [each.constituents for each in again.sentences] == [each.constituents for each in document.sentences]


def test_an_empty_document_has_no_sentences(parser: Parser) -> None:
    assert parser.parse_document("") == Document("", ())
    assert parser.parse_document(" \n\n ").sentences == ()
    assert list(parser.pipe([])) == []


def test_what_comes_with_a_text_comes_with_its_document(parser: Parser) -> None:
    pairs = [(text, {"id": number}) for number, text in enumerate(TEXTS)]
    found = list(parser.pipe(pairs, as_tuples=True))
    assert [(document.text, context) for document, context in found] == pairs


def test_worker_processes_give_the_same_documents(parser: Parser) -> None:
    texts = TEXTS * 30
    assert list(parser.pipe(texts, workers=2)) == list(parser.pipe(texts))


@pytest.mark.parametrize("workers", [1, 2])
def test_documents_before_an_error_in_the_source_of_texts_come_first(parser: Parser, workers: int) -> None:
    def texts() -> Iterator[str]:
        yield from TEXTS
        raise ZeroDivisionError("the database is gone")

    found = parser.pipe(texts(), workers=workers)
    assert [next(found).text for _ in TEXTS] == TEXTS
    with pytest.raises(ZeroDivisionError, match="the database is gone"):
        next(found)


def test_the_first_document_comes_before_many_texts_are_read(parser: Parser) -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield "It works."

    assert next(parser.pipe(endless())).text == "It works."
    assert read == 1


def test_empty_documents_fill_a_chunk_like_others(parser: Parser) -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield ""

    documents = parser.pipe(endless(), batch_tokens=100)
    for _ in range(200):
        assert next(documents) == Document("", ())
    assert read < 1000


def test_probabilities_and_line_ends_are_on_demand(parser: Parser) -> None:
    plain, sure = (parser.parse_document("It works.", probabilities=asked).sentences[0] for asked in (False, True))
    assert [part.probability for part in plain.constituents] == [None] * 3
    assert all(0.5 < (part.probability or 0) <= 1 for part in sure.constituents)
    assert [(part.label, part.start, part.end) for part in sure.constituents] == [
        ("S", 0, 3),
        ("NP", 0, 1),
        ("VP", 1, 2),
    ]
    assert [len(document.sentences) for document in parser.pipe(["One\ntwo"], mode="line")] == [2]
    with pytest.raises(UsageError, match="mode can't be 'verse'"):
        parser.pipe(["One"], mode="verse")  # type: ignore[call-overload]


def test_a_sentence_of_a_document_can_be_parsed_again(parser: Parser) -> None:
    sentence = parser.parse_document("The “cat” sat (there).").sentences[0]
    assert isinstance(sentence, Sentence)
    assert parser.parse([sentence]) == [sentence.tree]
    assert sentence.words == tuple(sentence.tree.words())
    assert sentence.spaces == (True, False, False, True, True, False, False, False, True)


def change(data: dict[str, Any], *path: Any, to: Any) -> dict[str, Any]:
    copy: Any = json.loads(json.dumps(data))
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return dict(copy)


def test_data_that_is_not_a_document_is_refused(parser: Parser) -> None:
    data = parser.parse_document("It works.").to_dict()
    for wrong in ({}, {"text": "a"}, {"text": "a", "sentences": [{}]}, {"text": "a", "sentences": 3}):
        with pytest.raises(InputError, match="this isn't a document"):
            Document.from_dict(wrong)
    contradictions = [
        (("sentences", 0, "text"), "It worked"),
        (("sentences", 0, "start"), 1),
        (("sentences", 0, "tokens", 1, "end"), 9),
        (("sentences", 0, "tokens", 1, "tag"), "NNS"),
        (("sentences", 0, "tree"), "(TOP (NP (NN one)))"),
    ]
    for path, value in contradictions:
        with pytest.raises(MismatchError, match="sentence 1 of the document"):
            Document.from_dict(change(data, *path, to=value))


class Lines(list[str]):
    """Several lines long when shown, as a column of a table is."""

    def __init__(self, *texts: str) -> None:
        super().__init__(texts)

    def __repr__(self) -> str:
        return "0  " + "\n1  ".join([*self, ""])


class Table:
    """Like a table of pandas: a loop over it gives the names of its columns."""

    columns = ("text",)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda parser: parser.parse_text(["A cat.", "A dog."]), "got .*\nhint: pipe(texts) takes many"),
        (lambda parser: parser.parse_text(b"A cat."), "text is bytes, not a string\nhint: decode it"),
        (lambda parser: parser.parse_text(Path("a.txt")), "text is a path, not a string\nhint: read it first"),
        (lambda parser: parser.parse([["A cat."]]), "word 1, 'A cat.', is empty or contains spaces"),
        (lambda parser: parser.parse([["A cat."]]), "parse_text(text) parses a text"),
        (lambda parser: parser.parse_document(None), "text must be a string, got None"),
        (lambda parser: parser.pipe("A cat."), "got one string\nhint: parse_document(text)"),
        (lambda parser: list(parser.pipe(["A cat.", 7])), "text 2 must be a string, got 7"),
        (lambda parser: list(parser.pipe(["A cat."], as_tuples=True)), "item 1 must be a text and its context"),
        (lambda parser: list(parser.pipe([("A cat.", 1)])), "text 1 must be a string, got ('A cat.', 1)"),
        (lambda parser: parser.parse("A cat."), "sentences are lists of words, got a string\nhint: parse_text(text)"),
        (lambda parser: parser.parse(["A cat."]), "sentence 1 is a string.*\nhint: .* or pipe(many_texts)"),
        (lambda parser: parser.parse_text(Lines("A cat.")), "text must be a string, got a Lines\nhint: pipe(texts)"),
        (lambda parser: parser.parse([{"a", "cat"}]), "sentence 1 is a set, not a list of words\nhint: give the words"),
        (lambda parser: parser.parse([{"a": 1}]), "sentence 1 is a dict, not a list of words"),
        (lambda parser: parser.analyze(None), "analyze takes a string or a list of words, got None"),
        (lambda parser: parser.pipe(None), "pipe takes many texts, got None\nhint: give a list of strings"),
        (lambda parser: parser.pipe({"id": "A cat."}), "got a mapping\nhint: give its values"),
        (lambda parser: parser.pipe(Table()), "got a table\nhint: give one column"),
        (lambda parser: list(parser.pipe(["A cat.", None])), "text 2 must be a string, got None\nhint: leave missing"),
        (lambda parser: list(parser.pipe([float("nan")])), "text 1 must be a string, got nan\nhint: leave missing"),
        (lambda parser: list(parser.pipe([(None, 1)], as_tuples=True)), "text 1 must be a string, got None"),
        (lambda parser: parser.iter_parse_text(Path("a.txt")), "the text must come in pieces, got .*Path.*\nhint:"),
        (lambda parser: parser.iter_parse_text(None), "the text must come in pieces, got None"),
        (lambda parser: list(parser.iter_parse_text(["A", b"cat"])), "piece 2 of the text is bytes.*\nhint: open the"),
        (lambda parser: list(parser.iter_parse_text([7])), "piece 1 of the text must be a string, got 7"),
        (lambda parser: parser.parse(None), "sentences are a list of lists of words, got None"),
    ],
)  # fmt: skip
def test_a_call_with_the_wrong_kind_of_input_names_the_right_call(call: Any, message: str, parser: Parser) -> None:
    with pytest.raises(InputError, match=re.escape(message).replace("\\.\\*", ".*")):
        call(parser)


def test_the_number_of_workers_is_checked_at_once(parser: Parser) -> None:
    wrong: Any
    for wrong, problem in ((0, "at least 1"), ("2", "a whole number"), (1.5, "a whole number")):
        with pytest.raises(UsageError, match=f"workers must be {problem}, got {wrong!r}"):
            parser.pipe(["One."], workers=wrong)


def test_numbers_of_trees_and_tokens_are_checked(parser: Parser) -> None:
    wrong: Any
    for wrong, problem in (
        (-1, "at least 0"),
        ("5", "a whole number"),
        (2.0, "a whole number"),
        (10**9, "at most 10,000"),
    ):
        with pytest.raises(UsageError, match=f"k must be {problem}, got"):
            parser.analyze("It works.", k=wrong)
    with pytest.raises(UsageError, match="batch_tokens must be at least 1, got 0"):
        parser.parse([["It", "works"]], batch_tokens=0)


def test_lists_of_trees_documents_and_analyses_draw_themselves(parser: Parser) -> None:
    text = "Is 1 < 2 & <b>3</b>?"
    document = parser.parse_document(text)
    for drawing in (document._repr_html_(), parser.parse_text(text)._repr_html_(), parser.analyze(text)._repr_html_()):
        assert drawing.startswith("<div>")
        assert "<svg" in drawing
        assert "<b>" not in drawing
        assert "&lt;" in drawing
    assert "Is 1 &lt; 2 &amp; &lt;b&gt;3&lt;/b&gt;?" in document._repr_html_()
    assert document.sentences[0]._repr_svg_() == document.trees[0].to_svg()
    assert parser.analyze(text, k=2)._repr_html_().count("<svg") == 2
    assert "%" in parser.analyze(text, k=0)._repr_html_()


def test_a_long_list_draws_its_first_trees(parser: Parser) -> None:
    trees = parser.parse([["It", "works"]] * 23)
    assert trees._repr_html_().count("<svg") == 20
    assert "… and 3 more" in trees._repr_html_()
    assert "more" not in trees[:20]._repr_html_()


def test_what_parse_returns_is_a_list(parser: Parser) -> None:
    trees = parser.parse([["It", "works"], ["Yes"]])
    assert isinstance(trees, list)
    assert trees == [trees[0], trees[1]]
    assert json.loads(json.dumps([str(tree) for tree in trees])) == list(map(str, trees))
    assert type(trees[:1]) is type(trees)


def test_representations_are_short(parser: Parser) -> None:
    document = parser.parse_document("It works. " * 50)
    assert repr(document) == "Document of 50 sentences: 'It works. It works. It works. It works. It works. '"
    assert repr(parser.parse_document("It works.")) == "Document of 1 sentence: 'It works.'"
    expected = "ParsedSentence('It works.', start=0, tree='(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))')"
    assert repr(document.sentences[0]) == expected
