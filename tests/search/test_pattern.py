"""The public class: matches, names, spans, threads, pickles, deep trees."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import pytest

from fencepost import Pattern, Tree
from fencepost.errors import PatternError, UsageError
from fencepost.search.index import Index
from fencepost.trees.tree import Leaf
from tests.grammar import toy_trees
from tests.search.test_golden import ANSWERED, answer_of, trees

TREE = Tree.from_string("(S (NP (NP (DT the) (NN cat)) (PP (IN on) (NP (NN mat)))) (VP (VBD sat)) (. .))")


def test_match_has_its_tree_its_names_and_its_words() -> None:
    (match,) = Pattern("NP < (PP=pp < IN=in)").search(TREE)
    assert str(match.tree) == "(NP (NP (DT the) (NN cat)) (PP (IN on) (NP (NN mat))))"
    assert match["pp"] is TREE.children[0].children[1]  # type: ignore[union-attr]
    assert match["in"] == Leaf("IN", "on")
    assert (match.start, match.end) == (0, 4)
    assert match.span("pp") == (2, 4)
    assert list(match.names) == ["pp", "in"]
    assert match.label == "NP"
    assert repr(match) == "Match('(NP (NP (DT the) (NN cat)) (PP (IN on) (NP (NN mat))))')"


def test_name_that_was_not_found_is_a_key_error() -> None:
    (match,) = Pattern("VP ?< NN=noun").search(TREE)
    with pytest.raises(KeyError):
        match["noun"]
    with pytest.raises(KeyError):
        match.span("noun")


def test_words_and_tags_are_nodes_of_their_own() -> None:
    tag, word = (next(Pattern(text).search(TREE)) for text in ("NN", "cat"))
    assert tag.tree is word.tree
    assert (tag.label, word.label) == ("NN", "cat")
    assert (word.start, word.end) == (1, 2)


def test_once_yields_each_node_once() -> None:
    pattern = Pattern("NP << NN")
    assert len(list(pattern.search(TREE))) == 4
    assert len(list(pattern.search(TREE, once=True))) == 3
    assert pattern.count(TREE) == 4
    assert pattern.count([TREE, TREE], once=True) == 6


def test_variables_hold_the_text_of_groups() -> None:
    match = next(Pattern("/^(.)P$/#1%letter < /^N(.)$/#1%other").search(TREE))
    assert match.variables == {"letter": "N", "other": "P"}


def test_brackets_in_words_are_searched_as_treebanks_write_them() -> None:
    tree = Tree("S", [Leaf("-LRB-", "(")])
    assert [match.label for match in Pattern("/-LRB-/").search(tree)] == ["-LRB-", "-LRB-"]


def test_nltk_trees_can_be_searched() -> None:
    nltk = pytest.importorskip("nltk")
    assert Pattern("NP < PP").count(nltk.Tree.fromstring(str(TREE))) == 1


def test_macros_are_replaced_before_the_pattern_is_read() -> None:
    pattern = Pattern("VP < $VERB", macros={"$VERB": "/^VB/"})
    assert pattern.count(TREE) == 1
    assert pickle.loads(pickle.dumps(pattern)) == pattern
    with pytest.raises(PatternError):
        Pattern("VP < $VERB")


def test_pattern_that_is_not_text_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="a pattern is a string"):
        Pattern(5)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="expected a tree"):
        next(Pattern("NP").search("(S (NP (NN a)))"))  # type: ignore[arg-type]


def test_pattern_can_be_pickled_compared_and_shown() -> None:
    pattern = Pattern("NP < /^N/=n")
    again = pickle.loads(pickle.dumps(pattern))
    assert again == pattern
    assert hash(again) == hash(pattern)
    assert again.count(TREE) == pattern.count(TREE)
    assert repr(pattern) == "Pattern('NP < /^N/=n')"
    assert pattern.names == ("n",)


def test_one_pattern_serves_several_threads() -> None:
    pattern = Pattern("NP=x << (/^N/ >> =x)")
    bank = toy_trees(60)
    expected = [pattern.count(tree) for tree in bank]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(pattern.count, bank)) == expected


@pytest.mark.parametrize("answer", ANSWERED, ids=lambda answer: answer["pattern"])
def test_pattern_gives_the_matches_of_tregex(answer: dict[str, Any]) -> None:
    pattern = Pattern(answer["pattern"])
    places = [(number, match.node) for number, tree in enumerate(trees()) for match in pattern.search(tree)]
    assert answer_of(places) | {"pattern": answer["pattern"]} == answer


@pytest.mark.parametrize("answer", ANSWERED, ids=lambda answer: answer["pattern"])
def test_index_gives_the_matches_of_tregex(answer: dict[str, Any]) -> None:
    index = Index.of(trees())
    pattern = Pattern(answer["pattern"])
    places = [(hit.tree, hit.place.node) for hit in index.search(pattern)]
    assert answer_of(places) | {"pattern": answer["pattern"]} == answer
    assert index.count(pattern) == len(places)
    once = [(hit.tree, hit.place.node) for hit in index.search(pattern, once=True)]
    assert once == list(dict.fromkeys(places))
    assert index.count(pattern, once=True) == len(once)


DEEP = Tree.from_string("(X " * 2000 + "(NN a)" + ")" * 2000)


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("X << NN", 2000),
        ("NN >> X", 2000),
        ("X <<: NN", 2000),
        ("X <+(X) NN", 2000),
        ("NN >+(X) X", 2000),
        ("X <<# a", 2000),
        ("a >># X", 2000),
        ("X !<< CC", 2000),
        ("X < X", 1999),
        ("NN , X", 0),
        ("NN ,, X", 0),
        ("X=x < (X=y > =x)", 1999),
        ("X <<, a <<- a", 2000),
    ],
)
def test_tree_of_2000_levels(pattern: str, count: int) -> None:
    assert Pattern(pattern).count(DEEP) == count
    assert Index.of([DEEP]).count(Pattern(pattern)) == count
    first = next(iter(islice(Pattern(pattern).search(DEEP), 1)), None)
    assert (first is None) == (count == 0)


def test_names_come_with_the_hits_of_an_index() -> None:
    (hit,) = Index.of([TREE, DEEP]).search(Pattern("NP < (PP=pp < IN)"))
    assert json.dumps(hit.place.bound) == '{"pp": 7}'
    assert hit.nodes.span(7) == (2, 4)
