"""The report as a page: whatever the texts in it, they stay text."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from fencepost.analysis.attention import SentenceAttention
from fencepost.analysis.heads import average
from fencepost.analysis.report import Findings, head_pictures, to_html
from fencepost.analysis.tokens import START, STOP
from fencepost.evaluation.breakdown import BY, breakdown
from fencepost.evaluation.params import load_params
from fencepost.evaluation.score import Score, compare
from fencepost.trees.tree import Leaf, Tree
from fencepost.trees.treebank import Treebank

ATTACK = """<script>alert("&'1")</script>"""
SYMBOL = ATTACK.replace("(", "").replace(")", "")  # labels and tags have no brackets


def attention_on(words: list[str]) -> SentenceAttention:
    size = len(words) + 2
    even = np.full((1, 2, size, size), 1 / size, np.float32)
    logits = np.broadcast_to(np.arange(size, dtype=np.float32), even.shape)
    return SentenceAttention((START, *words, STOP), np.ones((size, size), bool), even, logits, logits)


def findings_on(tree: Tree, model: str = "model", trees: str = "gold.txt") -> Findings:
    bank, params = Treebank([tree]), load_params("collins")
    comparisons = compare(bank, bank, params)
    example = attention_on(tree.words())
    errors = {kind: breakdown(comparisons, kind) for kind in BY}
    return Findings(model, trees, Score.over(comparisons, params.cutoff), errors, average([example]), example)


def read_page(page: str) -> ElementTree.Element:
    """The page as XML: every element is closed, and nothing is left unescaped."""
    return ElementTree.fromstring(page.removeprefix("<!doctype html>\n").encode("utf-8"))


def test_no_text_becomes_markup() -> None:
    tree = Tree("TOP", [Tree(SYMBOL, [Leaf(SYMBOL, ATTACK), Leaf("NN", "cat")])])
    root = read_page(to_html(findings_on(tree, model=ATTACK, trees=f"{ATTACK}.txt")))
    assert not list(root.iter("script"))
    texts = [text for element in root.iter() if (text := element.text)]
    assert f"fencepost: {ATTACK}" in texts  # the model
    assert f"{ATTACK}.txt" in texts  # the file
    assert SYMBOL in texts  # the label, beside its bar
    assert f"{ATTACK} cat" in texts  # the sentence
    assert texts.count(ATTACK) == 6  # the word: for each of two heads, in the arcs and twice in the heat map
    assert any(text.startswith(f"{ATTACK} → cat") for text in texts)  # a tooltip


@pytest.mark.parametrize("character", ["\x07", "\ufffe", "\uffff"])
def test_characters_that_xml_cannot_hold_leave_the_pictures_well_formed(character: str) -> None:
    tree = Tree("TOP", [Tree("NP", [Leaf("NN", f"a{character}b"), Leaf("NN", "cat")])])
    findings = findings_on(tree)
    read_page(to_html(findings))
    assert findings.example is not None
    for picture in head_pictures(findings.example, [(1, 1)]).values():
        assert "a\ufffdb" in "".join(ElementTree.fromstring(picture).itertext())


def test_a_file_name_that_is_not_utf_8_can_be_reported() -> None:
    tree = Tree("TOP", [Tree("NP", [Leaf("NN", "cat"), Leaf("NN", "food")])])
    page = to_html(findings_on(tree, trees=b"gold\xff.txt".decode("utf-8", "surrogateescape")))
    assert "gold\ufffd.txt" in page
    page.encode("utf-8")


@pytest.mark.parametrize(("words", "direction"), [(["שלום", "לך"], "rtl"), (["hello", "שלום"], "ltr")])
def test_the_sentence_is_written_in_its_direction(words: list[str], direction: str) -> None:
    tree = Tree("TOP", [Tree("NP", [Leaf("NN", word) for word in words])])
    quote = read_page(to_html(findings_on(tree))).find(".//q")
    assert quote is not None
    assert quote.get("dir") == direction
