"""Search patterns that once ended in a traceback, took minutes, or filled the memory."""

from __future__ import annotations

import sys
import warnings
from itertools import islice

import pytest
from benchmarks.attacks.patterns import large_tree

from fencepost import Pattern, Tree
from fencepost.errors import InputError, PatternError
from fencepost.search.index import Index

DEEP = Tree.from_string("(TOP " + "(NP (DT a) " * 500 + "(NN b)" + ")" * 501)


@pytest.fixture(scope="module")
def trees() -> list[Tree]:
    return [Tree.from_string(large_tree()), DEEP]


@pytest.mark.parametrize(
    "text",
    [
        "__ << (__ << (__ << (__ << (__ << (__ << NOWHERE)))))",  # 437 seconds
        "__=a << (__ << (__ << (__ << (__ << (__ << NOWHERE)))))",
        "__" + " >> __" * 3,
        "@NP" + " ,+(/./) __=a |" * 99 + " ,+(/./) __=a",
        "!NN .+(__) @NP | .+(__) @NP | .+(__) @NP",
        "__ : /./ : /./ : /./",
    ],
)
def test_slow_patterns_end(text: str, trees: list[Tree]) -> None:
    pattern = Pattern(text)
    found = sum(pattern.count(tree, once=True) for tree in trees)
    assert Index.of(trees).count(pattern, once=True) == found
    for tree in trees:
        assert len(list(islice(pattern.search(tree), 10))) == min(10, pattern.count(tree))


@pytest.mark.parametrize(
    "text",
    [
        "__=a .+(__) =a & .+(__) =a & .+(__) =a",
        "__=a << (__ << (__ << (__ << (__ .. (__ == =a)))))",
        "__" + " : __" * 60,
    ],
)
def test_patterns_with_too_much_to_do_are_an_error(text: str, trees: list[Tree]) -> None:
    with pytest.raises(InputError, match=r"more than 1,000,000 steps|more often than can be counted") as error:
        [Pattern(text).count(tree) for tree in trees]
    assert error.value.hint is not None


def test_more_ways_than_a_float_can_hold_are_still_one_node() -> None:
    pattern = Pattern("TOP" + " << __" * 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Index.of([DEEP]).count(pattern, once=True) == 1
    small = Tree.from_string("(TOP " + "(NN a)" * 12 + ")")
    assert Pattern("TOP" + " << __" * 30).count(small) > sys.maxsize
    assert len(list(islice(Pattern("TOP" + " << __" * 30).search(small), 5))) == 5


def test_the_number_of_relations_is_limited() -> None:
    assert Pattern("NP" + " < NN" * 120).count(DEEP) == 1
    with pytest.raises(PatternError, match="more than 120 relations") as error:
        Pattern("NP" + " < NN" * 121)
    assert error.value.column == 3 + 120 * 5 + 1
    with pytest.raises(PatternError, match="more than 120 relations"):
        Pattern("NP <... {" + " NN ;" * 130 + " NN }")
