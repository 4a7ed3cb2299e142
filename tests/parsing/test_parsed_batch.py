"""The array form of a batch gives the same text and the same trees as building them one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fencepost
from fencepost.backends.base import Parsed
from fencepost.chart.cky import Decoded, DecodedTrees
from fencepost.config.settings import Config
from fencepost.errors import ModelError
from fencepost.features.vocabularies import Vocabularies
from fencepost.parsing.columns import ParsedColumns
from fencepost.parsing.confidence import without_probabilities
from fencepost.parsing.parsed_batch import UNTAGGED, Notation, ParsedBatch
from fencepost.parsing.workers import Workers
from fencepost.trees.spans import spans_below_root
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence
from tests.samples import TREES
from tests.trees.strategies import trees as any_trees


def under_top(tree: Tree) -> Tree:
    return tree if tree.label == "TOP" else Tree("TOP", [tree])


SOME_TREES = st.lists(any_trees.map(under_top), min_size=1, max_size=6)


def batch_of(trees: Sequence[Tree], given_tags: Sequence[bool] = (), predicts_tags: bool = True) -> ParsedBatch:
    """A batch in which a model has found exactly these trees."""
    vocabularies = replace(Vocabularies.of(trees, Config()), root="TOP")
    spans = [spans_below_root(tree) for tree in trees]
    decoded = [
        Decoded(
            float(number),
            np.array([span.start for span in own], np.int64),
            np.array([span.end for span in own], np.int64),
            np.array([vocabularies.labels.ids[span.label] for span in own], np.int64),
        )
        for number, own in enumerate(spans)
    ]
    tags = np.array([vocabularies.tags.id(tag) for tree in trees for tag in tree.tags()], np.int64)
    has_tags = [*given_tags, *[False] * len(trees)]
    sentences = [
        Sentence(tuple(tree.words()), tuple(tree.tags()) if tagged else None)
        for tree, tagged in zip(trees, has_tags, strict=False)
    ]
    return ParsedBatch(sentences, Parsed(decoded, tags if predicts_tags else None), Notation(vocabularies))


@given(SOME_TREES, st.lists(st.booleans(), max_size=6))
def test_the_text_of_a_batch_is_that_of_its_trees(trees: list[Tree], given_tags: list[bool]) -> None:
    batch = batch_of(trees, given_tags)
    assert batch.brackets == list(map(str, trees))
    assert list(map(str, batch.lazy_trees())) == list(map(str, trees))


@given(SOME_TREES, st.lists(st.booleans(), max_size=6))
def test_the_trees_of_a_batch_are_built_on_demand(trees: list[Tree], given_tags: list[bool]) -> None:
    found = batch_of(trees, given_tags).lazy_trees()
    assert [tree.words() for tree in found] == [tree.words() for tree in trees]
    assert [tree.tags() for tree in found] == [tree.tags() for tree in trees]
    assert found == trees


def test_words_without_tags_are_written_with_a_tag_of_their_own() -> None:
    batch = batch_of(TREES, predicts_tags=False)
    for trees in (batch.lazy_trees(), [Tree.from_string(text) for text in batch.brackets]):
        assert [tree.tags() for tree in trees] == [[UNTAGGED] * len(tree.words()) for tree in TREES]


def test_a_batch_of_no_sentences_has_no_text() -> None:
    vocabularies = Vocabularies.of(TREES, Config())
    assert ParsedBatch([], Parsed([], None), Notation(vocabularies)).brackets == []


def test_a_tag_that_the_vocabulary_lacks_is_an_error_at_once() -> None:
    vocabularies = Vocabularies.of(TREES, Config())
    nothing = [Decoded(0.0, *(np.zeros(0, np.int64) for _ in range(3)))]
    with pytest.raises(ModelError, match="the model predicts number 999"):
        ParsedBatch([Sentence(("a",))], Parsed(nothing, np.array([999])), Notation(vocabularies))


def test_columns_give_back_each_tree() -> None:
    trees = DecodedTrees.of([Decoded(float(size), *np.arange(3 * size).reshape(3, size)) for size in (2, 0, 3)])
    assert DecodedTrees.of(trees) is trees
    assert len(trees) == 3
    assert [(tree.score, tree.starts.tolist(), tree.labels.tolist()) for tree in trees] == [
        (2, [0, 1], [4, 5]),
        (0, [], []),
        (3, [0, 1, 2], [6, 7, 8]),
    ]
    assert [tree.ends.tolist() for tree in trees[1:]] == [[], [3, 4, 5]]
    assert trees[-1].score == 3
    with pytest.raises(IndexError):
        trees[3]


@given(SOME_TREES, st.lists(st.booleans(), max_size=6), st.randoms(use_true_random=False))
def test_columns_say_what_the_trees_say(trees: list[Tree], given_tags: list[bool], random: Random) -> None:
    batch = batch_of(trees, given_tags)
    numbers = random.sample(range(len(batch)), len(batch))
    columns = ParsedColumns.of([(numbers, batch)])
    assert len(columns) == len(trees)
    for number, tree in zip(numbers, trees, strict=True):
        assert columns.brackets[number] == str(tree)
        assert columns.scores[number] == numbers.index(number)
        words = slice(columns.word_bounds[number], columns.word_bounds[number + 1])
        assert [columns.tag_names[tag] for tag in columns.tags[words]] == tree.tags()
        here = slice(columns.bounds[number], columns.bounds[number + 1])
        labels = [columns.label_names[label] for label in columns.labels[here]]
        found = list(zip(labels, columns.starts[here].tolist(), columns.ends[here].tolist(), strict=True))
        assert found == [(part.label, part.start, part.end) for part in without_probabilities(tree, 0).constituents]


def test_a_chunk_of_several_batches_gives_its_columns_in_order() -> None:
    parser = fencepost.load()
    sentences = [["It", "works"], ["The", "cat", "sat", "on", "the", "mat", "."], ["Yes"], ["(", "A", "list", ")"]]
    with Workers(parser, 1) as workers:
        checked = list(parser.checked([*sentences, Sentence(("Go",), ("ODD",))]))
        ((columns,), nothing) = workers.do_chunks(parser.best_columns(batch_tokens=10), [checked, []])
    assert nothing == []
    trees = parser.parse(checked)
    assert columns.brackets == list(map(str, trees))
    tags = [columns.tag_names[tag] for tag in columns.tags]
    assert tags == [tag for tree in trees for tag in tree.tags()]
    assert columns.word_bounds.tolist() == [0, 2, 9, 10, 14, 15]


def test_constituents_that_are_read_from_arrays_are_those_of_the_trees() -> None:
    parser = fencepost.load()
    texts = ["It works .", "The cat that sat on the mat slept .", "Yes", "( A list )", "What did she say he did ?"]
    checked = list(parser.checked([text.split() for text in texts]))
    job = parser.best_with_constituents(batch_tokens=30)
    (found, nothing) = parser.do_chunks(job, [checked, []])
    assert nothing == []
    for analysis, tree in zip(found, parser.parse(checked), strict=True):
        assert analysis.constituents == without_probabilities(tree, 0).constituents
        assert str(analysis.tree) == str(tree)
        assert analysis.tree.tags() == tree.tags()
