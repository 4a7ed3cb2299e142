from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.config.settings import Config, WordsConfig
from fencepost.errors import ModelError
from fencepost.features.vocab import UNKNOWN, Labels, Vocab
from fencepost.features.vocabularies import FORMAT_VERSION, Vocabularies
from fencepost.trees.tree import Tree
from tests.samples import TREES, tiny_config


@given(st.lists(st.text(max_size=3)), st.integers(0, 6))
def test_every_symbol_has_a_number_of_its_own_and_gets_it_back(symbols: list[str], reserved: int) -> None:
    vocab = Vocab.of(symbols, reserved)
    numbers = [vocab.id(symbol) for symbol in set(symbols)]
    assert sorted(numbers) == list(range(reserved, len(vocab)))
    assert all(vocab.symbol(vocab.id(symbol)) == symbol for symbol in symbols)


def test_counts_stand_beside_symbols_most_frequent_first() -> None:
    vocab = Vocab.of(["b", "a", "b", "c"], 1)
    assert (vocab.symbols, vocab.counts) == (("b", "a", "c"), (2, 1, 1))


def test_rare_and_new_symbols_are_unknown() -> None:
    vocab = Vocab.of(["b", "a", "b"], 1, min_count=2)
    assert [vocab.id("a"), vocab.id("z")] == [UNKNOWN, UNKNOWN]


def test_reserved_numbers_stand_for_no_symbol() -> None:
    with pytest.raises(ModelError, match="predicts number 2"):
        Vocab.of(["a"], 3).symbol(2)


def test_a_vocabulary_with_a_symbol_twice_is_refused() -> None:
    with pytest.raises(ModelError):
        Vocab(("a", "a"), (1, 1), 0)


def test_labels_are_a_bijection_over_unary_chains_with_the_empty_one_at_0() -> None:
    labels = Labels.of([*TREES, Tree.from_string("(TOP (S (VP (VB Go))))")])
    assert labels.chains[0] == ()
    assert ("S", "VP") in labels.ids
    assert [labels.ids[chain] for chain in labels.chains] == list(range(len(labels)))


def test_labels_are_numbered_by_frequency_and_then_by_name() -> None:
    trees = ["(TOP (A (Z (X x) (X x)) (Z (X x)) (Z (X x))))", "(TOP (C (B (X x)) (M (X x)) (M (X x))))"]
    chains = Labels.of(map(Tree.from_string, trees)).chains
    assert chains == ((), ("Z",), ("M",), ("A",), ("B",), ("C",))


def test_labels_must_begin_with_the_empty_one() -> None:
    with pytest.raises(ModelError):
        Labels((("NP",), ()))


def test_the_root_symbol_is_no_label() -> None:
    assert all("TOP" not in chain for chain in Labels.of(TREES).chains)


def test_vocabularies_survive_their_file() -> None:
    vocabularies = Vocabularies.of(TREES, tiny_config())
    assert Vocabularies.from_json(vocabularies.to_json()) == vocabularies


def test_a_newer_format_is_refused_with_advice() -> None:
    text = Vocabularies.of(TREES, tiny_config()).to_json().replace(f'"format":{FORMAT_VERSION}', '"format":999')
    with pytest.raises(ModelError, match="format 999") as caught:
        Vocabularies.from_json(text)
    assert "upgrade" in (caught.value.hint or "")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', '{"format": 1, "labels": [["S"]]}'])
def test_a_damaged_vocabulary_file_is_a_model_error(text: str) -> None:
    with pytest.raises(ModelError):
        Vocabularies.from_json(text)


@pytest.mark.parametrize(
    ("trees", "root"),
    [
        (["(S (NN a) (NN b))", "(ROOT (NN a))"], "ROOT"),
        (["(S (NN a) (NN b))", "(NP (NN a))"], "TOP"),
        (["(TOP (NN a))", "(S1 (NN a))", "(S1 (NN b))"], "S1"),
    ],
)
def test_a_root_that_is_a_phrase_is_a_label_and_not_the_root_symbol(trees: list[str], root: str) -> None:
    vocabularies = Vocabularies.of([Tree.from_string(tree) for tree in trees], tiny_config())
    assert vocabularies.root == root
    assert (("S",) in vocabularies.labels.chains) == trees[0].startswith("(S ")


def test_rare_words_have_no_number_of_their_own_where_the_configuration_says_so() -> None:
    config = Config(lexical=("words",), words=WordsConfig(min_count=2))
    trees = [Tree.from_string("(TOP (NN twice) (NN once))"), Tree.from_string("(TOP (NN twice))")]
    assert Vocabularies.of(trees, config).words.symbols == ("twice",)
