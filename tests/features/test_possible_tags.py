from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import ModelError
from fencepost.features import possible_tags
from fencepost.features.possible_tags import MARKS, OFTEN, PossibleTags, TagCorrector, is_sign
from fencepost.features.vocab import Vocab
from fencepost.features.vocabularies import TOKEN_MARKS, Vocabularies
from fencepost.trees.tree import Leaf
from tests.samples import TREES, tiny_config

WORDS = ("cat", "sat", "x", "42", "½", "don't", ",", ".", "...", "--", "'", "?!", "☎", "猫", "。")
TAGS = ("NN", "VBD", ",", ".", ":", "POS", "SYM")
LEAVES = st.lists(st.builds(Leaf, st.sampled_from(TAGS), st.sampled_from(WORDS)), max_size=60)


def leaves(counts: dict[tuple[str, str], int]) -> list[Leaf]:
    return [Leaf(tag, word) for (tag, word), count in counts.items() for _ in range(count)]


def corrected(possible: PossibleTags, words: list[str], tags: list[str]) -> list[str]:
    vocab = Vocab.of(TAGS, TOKEN_MARKS)
    numbers = np.array([vocab.id(tag) for tag in tags], np.int64)
    return [vocab.symbol(number) for number in TagCorrector(possible, vocab).correct(words, numbers).tolist()]


@given(LEAVES, st.lists(st.tuples(st.sampled_from((*WORDS, "dog", "§")), st.sampled_from(TAGS))))
def test_a_corrected_tag_is_possible_and_a_possible_tag_is_not_corrected(
    seen: list[Leaf], given: list[tuple[str, str]]
) -> None:
    possible = PossibleTags.of(seen)
    words, tags = [word for word, _ in given], [tag for _, tag in given]
    for word, before, after in zip(words, tags, corrected(possible, words, tags), strict=True):
        rare = [tag for tag in possible.rare_signs if tag not in MARKS or set(MARKS[tag]) & set(word)]
        allowed = possible.signs.get(word, rare or possible.rare_signs) if is_sign(word) else possible.words
        assert after in (allowed or TAGS)
        assert after == before or before not in allowed


@given(LEAVES)
def test_a_tag_seen_with_words_is_possible_for_all_words_and_no_other_is(seen: list[Leaf]) -> None:
    assert set(PossibleTags.of(seen).words) == {leaf.tag for leaf in seen if not is_sign(leaf.word)}


def test_an_impossible_tag_is_replaced_by_the_most_frequent_tag_of_the_sign() -> None:
    possible = PossibleTags.of(leaves({(":", "..."): 30, (".", "..."): 10, (",", ","): 20, ("NN", "cat"): 3}))
    tags = corrected(possible, ["cat", ",", "...", "...", "..."], [",", ".", "NN", ".", ":"])
    assert tags == ["NN", ",", ":", ".", ":"]


def test_tags_of_fewer_than_one_in_a_hundred_are_slips() -> None:
    possible = PossibleTags.of(leaves({(",", ","): 980, (".", ","): 9, (":", ","): 10}))
    assert possible.signs == {",": (",", ":")}


def test_a_rare_sign_may_have_the_tag_of_every_sign() -> None:
    seen = {(",", ","): OFTEN, ("SYM", "☎"): OFTEN - 1, ("POS", "'"): 1, ("NN", "cat"): 1}
    possible = PossibleTags.of(leaves(seen))
    assert list(possible.signs) == [","]
    assert possible.rare_signs == (",", "SYM", "POS")
    assert corrected(possible, ["☎", "§", "§"], ["POS", "SYM", "NN"]) == ["POS", "SYM", "SYM"]


@pytest.mark.parametrize(
    ("sign", "tag", "expected"),
    [("😱", ".", "SYM"), ("|", ",", "SYM"), ("?!!", ".", "."), (",,", ",", ","), ("^_^", ":", ":"), ("!!!", ",", ".")],
)
def test_a_rare_sign_has_a_tag_of_punctuation_only_if_it_has_the_mark(sign: str, tag: str, expected: str) -> None:
    possible = PossibleTags.of(leaves({(".", "."): 50, (",", ","): 40, ("SYM", "+"): 30, (":", ":"): 20}))
    assert corrected(possible, [sign], [tag]) == [expected]


@pytest.mark.parametrize(("sign", "expected"), [("£", "$"), ("₹", "$"), ("☎", "SYM"), ("$?", "SYM")])
def test_a_rare_currency_sign_has_the_tag_of_the_dollar_if_there_is_one(sign: str, expected: str) -> None:
    seen = leaves({("SYM", "+"): 30, ("$", "$"): 20})
    vocab = Vocab.of(("$", "SYM"), TOKEN_MARKS)
    found = TagCorrector(PossibleTags.of(seen), vocab).correct([sign], np.array([vocab.id("SYM")], np.int64))
    assert vocab.symbol(int(found[0])) == expected
    assert corrected(PossibleTags.of(leaves({("SYM", "+"): 30})), [sign], ["NN"]) == ["SYM"]


def test_words_keep_rare_tags() -> None:
    possible = PossibleTags.of(leaves({("NN", "cat"): 5000, ("SYM", "x"): 1, ("SYM", "+"): 5000}))
    assert possible.words == ("NN", "SYM")


def test_trees_without_signs_restrict_no_sign() -> None:
    possible = PossibleTags.of(leaves({("NN", "cat"): 5}))
    assert corrected(possible, ["!", "cat"], ["VBD", "VBD"]) == ["VBD", "NN"]


def test_further_trees_add_tags_and_take_none_away() -> None:
    one = PossibleTags.of(leaves({(",", ","): OFTEN, (":", "-"): 1, ("NN", "cat"): 1}))
    other = PossibleTags.of(leaves({(".", ","): OFTEN, ("SYM", "%"): OFTEN, ("VBD", "sat"): 1}))
    assert one.extended(other) == PossibleTags(
        signs={"%": (",", ":", "SYM"), ",": (",", ".")}, rare_signs=(",", ":", ".", "SYM"), words=("NN", "VBD")
    )


def test_a_model_without_the_table_gets_none_from_further_trees() -> None:
    trained = Vocabularies.of(TREES, tiny_config())
    assert Vocabularies.of(TREES, tiny_config(), trained).possible_tags == trained.possible_tags
    assert Vocabularies.of(TREES, tiny_config(), replace(trained, possible_tags=None)).possible_tags is None


def test_a_model_that_predicts_no_tags_has_no_table() -> None:
    config = tiny_config()
    without = replace(config, scorer=replace(config.scorer, predict_tags=False))
    assert Vocabularies.of(TREES, without).possible_tags is None


def test_a_file_without_the_table_is_read_as_before() -> None:
    vocabularies = Vocabularies.of(TREES, tiny_config())
    table = json.loads(vocabularies.to_json())
    del table["possible_tags"]
    assert Vocabularies.from_json(json.dumps(table)) == replace(vocabularies, possible_tags=None)


@pytest.mark.parametrize(
    "damage",
    [
        {"signs": {",": ["NEW"]}},
        {"signs": {",": ","}},
        {"signs": [","]},
        {"words": "NN"},
        {"words": [["NN"]]},
        {"rare_signs": 3},
    ],
)
def test_a_damaged_table_is_a_model_error(damage: dict[str, object]) -> None:
    table = json.loads(Vocabularies.of(TREES, tiny_config()).to_json())
    table["possible_tags"] |= damage
    with pytest.raises(ModelError, match=r"vocab\.json is damaged"):
        Vocabularies.from_json(json.dumps(table))


def test_a_number_beyond_the_vocabulary_is_left_to_be_reported() -> None:
    corrector = TagCorrector(PossibleTags.of(leaves({("NN", "cat"): 1})), Vocab.of(TAGS, TOKEN_MARKS))
    beyond = np.array([TOKEN_MARKS + len(TAGS) + 5], np.int64)
    assert corrector.correct(["!"], beyond).tolist() == beyond.tolist()


def test_the_cache_stays_small_and_forgets_no_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(possible_tags, "WORDS_KEPT", 3)
    possible = PossibleTags.of(leaves({(",", ","): OFTEN, ("NN", "cat"): 1, (".", "."): OFTEN}))
    words = [",", "a", "b", "c", ",", "d" * 1000, ".", ","]
    vocab = Vocab.of(TAGS, TOKEN_MARKS)
    corrector = TagCorrector(possible, vocab)
    tags = corrector.correct(words, np.full(len(words), vocab.id("VBD")))
    assert [vocab.symbol(tag) for tag in tags.tolist()] == [",", "NN", "NN", "NN", ",", "NN", ".", ","]
    assert len(corrector._row_of) <= 3
    assert all(len(word) < 1000 for word in corrector._row_of)
