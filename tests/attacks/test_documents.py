"""Documents as JSON from a stranger."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from fencepost.errors import InputError
from fencepost.parsing.documents import Document
from fencepost.parsing.load import load

PARSER = load()
DATA = PARSER.parse_document("Dogs bark. Cats don't.").to_dict()
WRONG: dict[str, Callable[[dict[str, Any], dict[str, Any]], object]] = {
    "a text that is a list": lambda document, _: document.update(text=["Dogs bark."], sentences=[]),
    "a text that is bytes": lambda document, _: document.update(text=b"Dogs bark.", sentences=[]),
    "no text": lambda document, _: document.pop("text"),
    "sentences that are a number": lambda document, _: document.update(sentences=5),
    "a sentence that is a string": lambda document, _: document.update(sentences=["Dogs bark."]),
    "a sentence elsewhere": lambda _, sentence: sentence.update(start=5),
    "a sentence before the text": lambda _, sentence: sentence.update(start=-22, end=-12),
    "a place that is a string": lambda _, sentence: sentence.update(start="0"),
    "a place beyond 64 bits": lambda _, sentence: sentence.update(start=10**30),
    "a score that is a string": lambda _, sentence: sentence.update(score="high"),
    "a score that is true": lambda _, sentence: sentence.update(score=True),
    "tokens of another sentence": lambda _, sentence: sentence["tokens"].pop(),
    "a token with code": lambda _, sentence: sentence["tokens"][0].update(code="import os"),
    "a token elsewhere": lambda _, sentence: sentence["tokens"][0].update(end=10**9),
    "a tag that is a number": lambda _, sentence: sentence["tokens"][0].update(tag=5),
    "a tree that is a number": lambda _, sentence: sentence.update(tree=5),
    "a tree of other words": lambda _, sentence: sentence.update(tree="(TOP (NN x))"),
    "a tree without an end": lambda _, sentence: sentence.update(tree="(" * 100_000),
    "a deep tree of one word": lambda _, sentence: sentence.update(tree="(A " * 50_000 + "(B c)" + ")" * 50_000),
    "constituents that are a number": lambda _, sentence: sentence.update(constituents=5),
    "a label that is a number": lambda _, sentence: sentence["constituents"][0].update(label=5),
    "a probability that is a string": lambda _, sentence: sentence["constituents"][0].update(probability="1"),
    "sentences in another order": lambda document, _: document["sentences"].reverse(),
    "a sentence twice": lambda document, sentence: document["sentences"].insert(0, sentence),
    "a missing first sentence": lambda document, _: document["sentences"].pop(0),
    "a missing last sentence": lambda document, _: document["sentences"].pop(),
    "tokens in another order": lambda _, sentence: sentence.update(
        tokens=sentence["tokens"][::-1], tree="(TOP (NP (. x) (VBP x) (NNS x)))"
    ),
    "tokens of the next sentence": lambda document, sentence: sentence.update(
        tokens=document["sentences"][1]["tokens"], tree=document["sentences"][1]["tree"]
    ),
    "a score without end": lambda _, sentence: sentence.update(score=float("inf")),
    "a score that is not a number": lambda _, sentence: sentence.update(score=float("nan")),
    "a constituent with code": lambda _, sentence: sentence["constituents"][0].update(code="import os"),
}


@pytest.mark.parametrize("name", WRONG)
def test_data_that_is_no_document_is_an_error(name: str) -> None:
    data = copy.deepcopy(DATA)
    WRONG[name](data, data["sentences"][0])
    with pytest.raises(InputError):
        Document.from_dict(data)


SURE: dict[str, Callable[[list[dict[str, Any]]], object]] = {
    "a constituent elsewhere": lambda constituents: constituents[0].update(end=99),
    "a constituent too many": lambda constituents: constituents.append(constituents[-1]),
    "a constituent too few": lambda constituents: constituents.pop(),
    "another label": lambda constituents: constituents[0].update(label="S-X"),
    "a probability above 1": lambda constituents: constituents[0].update(probability=1.5),
    "a probability that is not a number": lambda constituents: constituents[0].update(probability=float("nan")),
}


@pytest.mark.parametrize("name", SURE)
def test_probabilities_of_other_constituents_than_the_tree_has_are_an_error(name: str) -> None:
    data = PARSER.parse_document("Dogs bark. Cats don't.", probabilities=True).to_dict()
    assert Document.from_dict(data).to_dict() == data
    SURE[name](data["sentences"][0]["constituents"])
    with pytest.raises(InputError):
        Document.from_dict(data)


def test_a_document_with_a_deep_tree_can_be_read_and_written() -> None:
    data = copy.deepcopy(DATA)
    (sentence, _) = data["sentences"]
    sentence["tree"] = "(A " * 20_000 + sentence["tree"] + ")" * 20_000
    document = Document.from_dict(data)
    assert document.sentences[0].tree.words() == ["Dogs", "bark", "."]
    assert Document.from_dict(document.to_dict()) == document
