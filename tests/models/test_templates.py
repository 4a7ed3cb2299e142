"""Sentences of our own for the training data: rates, inverted conditions, two objects, and business news."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
from business import business_sentences
from prepare import written_trees
from rare import condition_sentences, two_object_sentences
from rates import rate_sentences
from templates import Grammar, filled, leaves, sentences

from fencepost.trees.functions import without_functions
from fencepost.trees.tree import Tree

Writer = Callable[[random.Random, int], Iterator[Tree]]
WRITERS = (rate_sentences, condition_sentences, two_object_sentences, business_sentences)
GRAMMAR: Grammar = {
    "sentence": ("(S {who} (VP (VBD {did})) (. .))",),
    "who": ("(NP-SBJ (DT the) (NN {animal}))",),
    "animal": ("cat", "dog"),
    "did": lambda choice: choice.choice(("slept", "ran")),
}


def test_slots_are_filled_to_the_last() -> None:
    every = {filled("{who}", GRAMMAR, random.Random(seed)) for seed in range(20)}
    assert every == {"(NP-SBJ (DT the) (NN cat))", "(NP-SBJ (DT the) (NN dog))"}


def test_sentences_differ_and_begin_with_a_capital() -> None:
    found = {str(tree) for tree in sentences(GRAMMAR, random.Random(1), 4)}
    nouns, verbs = ("cat", "dog"), ("slept", "ran")
    assert found == {
        f"(TOP (S (NP-SBJ (DT The) (NN {noun})) (VP (VBD {verb})) (. .)))" for noun in nouns for verb in verbs
    }


def test_leaves_are_written_with_their_tags() -> None:
    assert leaves("DT:a NN:share", "PRP$:her") == ("(DT a) (NN share)", "(PRP$ her)")


@pytest.mark.parametrize("write", WRITERS)
def test_the_same_seed_gives_the_same_sentences(write: Writer) -> None:
    first = list(write(random.Random(1), 100))
    assert list(write(random.Random(1), 100)) == first != list(write(random.Random(2), 100))
    assert len({tuple(tree.words()) for tree in first}) == 100


@pytest.mark.parametrize("write", WRITERS)
def test_every_phrase_has_one_function_at_most_and_no_child_that_repeats_it(write: Writer) -> None:
    for tree in write(random.Random(1), 500):
        labels = [node.label for node in tree.subtrees()]
        assert all(label.count("-") <= 1 for label in labels)
        assert len(list(without_functions(tree).subtrees())) == len(labels)  # a repeated label would be merged


def test_rates_are_noun_phrases_after_their_amounts() -> None:
    texts = [str(tree) for tree in rate_sentences(random.Random(1), 500)]
    rate = sum("(NP-ADV (DT a) (NN share)))" in text for text in texts)
    assert rate > 100
    assert any("(ADVP-TMP (RB twice) (NP-ADV (DT a) (NN " in text for text in texts)
    assert not any("(PP (DT a" in text for text in texts)


def test_inverted_conditions_are_adverbial() -> None:
    for tree in condition_sentences(random.Random(1), 100):
        assert "(SBAR-ADV (SINV (" in str(tree)


def test_verbs_have_two_plain_objects() -> None:
    for tree in two_object_sentences(random.Random(1), 100):
        verbs = (node for node in tree.subtrees() if node.label == "VP")
        assert any(
            [child.label for child in verb.children if isinstance(child, Tree)][:2] == ["NP", "NP"] for verb in verbs
        )


def test_business_news_has_the_functions_that_penn_gives() -> None:
    texts = " ".join(str(tree) for tree in business_sentences(random.Random(1), 800))
    for phrase in (
        "(PP-LOC (IN at) (NP (DT a) (NN bank)))",
        "(NP-CLR (NN effect))",
        "(S-CLR (VP (TO to) (VP (VB yield) ",
        "(PP-PRP (IN because) (IN of) ",
        "(PP (VBG according) (PP (TO to) ",
        "(ADJP (JJ due) (NP-TMP ",
        "(PP-LOC (IN Under) (NP ",
        "(ADVP (RB as) (RB well))",
    ):
        assert phrase in texts, phrase


def test_parts_of_noun_phrases_differ_in_function() -> None:
    found = {
        (next(leaf.word.lower() for leaf in phrase.leaves()), phrase.label)
        for tree in business_sentences(random.Random(1), 800)
        for above in tree.subtrees()
        if above.label.startswith("NP")
        for phrase in above.children
        if isinstance(phrase, Tree) and phrase.label.startswith("PP")
    }
    assert {("in", "PP-LOC"), ("in", "PP-TMP"), ("to", "PP-DIR"), ("for", "PP"), ("on", "PP"), ("of", "PP")} <= found


def test_written_sentences_also_come_in_other_spellings() -> None:
    trees = written_trees(random.Random(1))
    assert any(tree.words()[-1] == "''" for tree in trees)
    assert len(trees) > 1180
