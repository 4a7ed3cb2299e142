"""Treebank sentences as running text."""

from __future__ import annotations

from corpora import Item
from raw_text import score_raw_text, sentence_text, text_of

from fencepost.parsing.parser import Parser
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence


def item(tree: str, document: str = "a") -> Item:
    return Item(Tree.from_string(tree), document, "", True)


SAID = "(TOP (S (`` ``) (NP (PRP It)) ('' '') (VP (VBZ is) (ADJP (RB well) (HYPH -) (VBN known))) (. .)))"
HEADING = "(TOP (NP (NN Abstract)))"


def test_hyphens_and_punctuation_stand_close() -> None:
    assert sentence_text(item(SAID).tree.leaves()) == '"It" is well-known.'


def test_a_blank_follows_a_hyphen_that_is_left_hanging() -> None:
    tree = item("(TOP (ADJP (JJ pre) (HYPH -) (, ,) (JJ peri) (HYPH -) (CC and) (JJ postnatal)))").tree
    assert sentence_text(tree.leaves()) == "pre-, peri- and postnatal"


def test_headings_and_documents_are_paragraphs() -> None:
    assert text_of([item(HEADING), item(SAID)]) == 'Abstract\n\n"It" is well-known. '
    assert text_of([item(SAID), item(SAID, "b")]) == '"It" is well-known. \n\n"It" is well-known. '


class FlatParser(Parser):
    """Every sentence is an S over its words."""

    def __init__(self) -> None:
        self.read: list[tuple[str, ...]] = []

    def parse(self, sentences, *, batch_tokens=None, functions=False):  # type: ignore[no-untyped-def]
        given = [sentence for sentence in sentences if isinstance(sentence, Sentence)]
        self.read += [sentence.words for sentence in given]
        return [
            Tree.from_string(f"(TOP (S {' '.join(f'(X {word})' for word in sentence.words)}))") for sentence in given
        ]


def test_the_parser_gets_words_and_sentences_that_were_found_in_the_text() -> None:
    parser = FlatParser()
    score = score_raw_text(parser, [item(SAID), item(SAID)])
    assert parser.read == [("``", "It", "''", "is", "well-known", ".")] * 2
    assert (score.matched, score.gold, score.predicted) == (2, 8, 2)
