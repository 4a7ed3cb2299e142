from __future__ import annotations

import gc
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fencepost.errors import InputError, MismatchError
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence, Treebank, iter_trees
from tests.trees.strategies import trees

CAT = Tree.from_string("(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat))))")
DOG = Tree.from_string("(TOP (S (NP (DT A) (NN dog)) (VP (VBD ran))))")
TREEBANKS = [
    "en/craft",
    "en/gum",
    "en/wsj-sample",
    "en/masc",
    "is/icepahc",
    "fo/farpahc",
    "id/icon",
    "id/idn-treebank",
    "es/cess-esp",
    "pt/floresta",
    "nl/alpino",
    "zh/sinica-sample",
    "fr/sequoia",
    "he/htb",
    "de/pcc",
    "sv/talbanken-excerpts",
    "ja/keyaki",
    "fro/mcvf-ppchf",
]


def test_files_folders_globs_and_gzip_load_in_order(tmp_path: Path) -> None:
    (tmp_path / "a.mrg").write_text(f"{CAT}\n")
    (tmp_path / "b.mrg.gz").write_bytes(gzip.compress(f"{DOG}\n{CAT}\n".encode()))
    expected = Treebank([CAT, DOG, CAT])
    assert Treebank.load(tmp_path) == expected
    assert Treebank.load(str(tmp_path / "*.mrg*")) == expected
    assert Treebank.load(tmp_path / "a.mrg", tmp_path / "b.mrg.gz") == expected


@given(st.lists(trees, min_size=1, max_size=5), st.sampled_from(["bank.txt", "bank.txt.gz"]))
@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_saving_and_loading_is_identity(tmp_path: Path, originals: list[Tree], name: str) -> None:
    Treebank(originals).save(tmp_path / name)
    assert list(Treebank.load(tmp_path / name)) == originals


def test_a_treebank_is_a_sequence_with_a_value() -> None:
    bank = Treebank([CAT, DOG])
    assert (len(bank), bank[1], bank[-1]) == (2, DOG, DOG)
    assert bank[:1] == Treebank([CAT])
    assert hash(Treebank(iter([CAT, DOG]))) == hash(bank)
    assert bank != [CAT, DOG]
    assert repr(bank) == "Treebank of 2 trees"


def test_sentences_carry_words_tags_and_tree() -> None:
    (sentence,) = Treebank([CAT]).sentences()
    assert sentence == Sentence(("The", "cat", "sat"), ("DT", "NN", "VBD"), CAT)
    assert len(sentence) == 3


def test_a_sentence_whose_parts_disagree_is_refused() -> None:
    with pytest.raises(MismatchError, match="2 words but 1 tags"):
        Sentence(("a", "b"), ("DT",))
    with pytest.raises(MismatchError, match="leaves of the tree"):
        Sentence(("a", "b"), None, CAT)


@pytest.mark.parametrize(
    ("words", "tags", "message"),
    [
        ("Cats", None, "the words of a sentence are a list, not 'Cats'"),
        (("a",), "N", "the tags of a sentence"),
        (5, None, "not 5"),
    ],
)
def test_a_string_is_not_taken_for_a_list(words: Any, tags: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Sentence(words, tags)


def test_words_may_come_in_any_list() -> None:
    assert Sentence(iter("ab"), ["A", "B"]) == Sentence(("a", "b"), ("A", "B"))  # type: ignore[arg-type]


def test_a_treebank_without_trees_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("# nothing\n")
    with pytest.raises(InputError, match=r"empty\.txt: there are no trees"):
        Treebank.load(tmp_path / "empty.txt")


def test_the_garbage_collector_rests_while_trees_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[bool] = []

    def trees(*_: object) -> Iterator[Tree]:
        states.append(gc.isenabled())
        yield CAT

    monkeypatch.setattr("fencepost.trees.treebank.iter_trees", trees)
    Treebank.load("cat.txt")
    assert states == [False]


@pytest.mark.parametrize("enabled", [True, False])
def test_loading_leaves_the_garbage_collector_as_it_was_even_after_an_error(tmp_path: Path, enabled: bool) -> None:
    (tmp_path / "bad.txt").write_text("(")
    try:
        if not enabled:
            gc.disable()
        with pytest.raises(InputError):
            Treebank.load(tmp_path / "bad.txt")
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


@pytest.mark.parametrize("name", TREEBANKS)
@pytest.mark.parametrize("part", ["dev", "test"])
def test_every_treebank_prints_back_to_the_same_lines(shared: Path, name: str, part: str) -> None:
    path = shared / "treebanks" / name / f"{part}.txt"
    printed = (f"{tree}\n" for tree in iter_trees(path))
    with open(path, encoding="utf-8", newline="\n") as file:
        assert all(mine == theirs for mine, theirs in zip(printed, file, strict=True))


def test_a_large_gzipped_treebank_prints_back_to_the_same_lines(shared: Path) -> None:
    path = shared / "treebanks" / "en/craft/train.commercial.txt.gz"
    printed = (f"{tree}\n" for tree in iter_trees(path))
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        assert all(mine == theirs for mine, theirs in zip(printed, file, strict=True))
