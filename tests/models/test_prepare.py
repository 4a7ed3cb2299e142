"""Which sentences the English model is trained on."""

from __future__ import annotations

import random
from pathlib import Path

import prepare
import pytest
from corpora import Item, letters, load
from prepare import development_trees, quoted, training_trees, versions, without_repeats

from fencepost.trees.tree import Tree

TREE = Tree.from_string("(TOP (S (NP (PRP It)) (VP (VBZ is) (ADJP (RB well) (HYPH -) (VBN known))) (. .)))")
OTHER = Tree.from_string("(TOP (NP (NN x)))")


def test_sentences_compare_by_their_letters() -> None:
    joined = Tree.from_string("(TOP (S (NP (PRP IT)) (VP (VBZ is) (ADJP (JJ well-known)))))")
    assert letters(joined) == letters(TREE) == "itiswellknown"


def test_no_tree_comes_more_than_twice() -> None:
    assert list(without_repeats([TREE, OTHER, TREE, TREE])) == [TREE, OTHER, TREE]


def test_tested_and_restricted_sentences_are_not_trained_on() -> None:
    items = [Item(TREE, "a", "", True), Item(OTHER, "a", "", True), Item(OTHER, "b", "", False)]
    trees = training_trees(items, "gum", {letters(TREE)}, random.Random(1))
    assert {tuple(tree.words()) for tree in trees} == {("x",)}


def test_restricted_sentences_are_not_developed_on() -> None:
    items = [Item(TREE, "a", "", False), Item(OTHER, "a", "", True)]
    assert development_trees(items, "gum", random.Random(1)) == [OTHER]


def test_hyphens_are_joined_in_about_half_of_the_sentences() -> None:
    choice = random.Random(1)
    joined = sum("well-known" in next(versions(TREE, choice)).words() for _ in range(400))
    assert 160 < joined < 240


def test_about_one_sentence_in_ten_comes_again_without_its_stop() -> None:
    choice = random.Random(1)
    ends = [tree.words()[-1] for _ in range(1000) for tree in versions(TREE, choice)]
    shorter = sum(end not in (".", "''", '"', "”") for end in ends)  # a quote ends a sentence that somebody says
    assert 70 < shorter < 130


def test_sentences_are_repaired_and_some_are_also_said_by_somebody() -> None:
    tree = Tree.from_string("(TOP (S (NNP Mary) (VP (VBD slept)) (. .)))")
    found = [version for seed in range(200) for version in versions(tree, random.Random(seed))]
    assert str(found[0]) == "(TOP (S (NP (NNP Mary)) (VP (VBD slept)) (. .)))"
    assert any(version.words()[:3] == ("Mary", "slept", ",") and version.words()[-1] == "." for version in found)


def test_quotes_are_penns_for_most_sentences() -> None:
    tree = Tree.from_string("(TOP (`` ``))")
    assert [quoted(tree, draw).words()[0] for draw in (0.05, 0.15, 0.25)] == ['"', "“", "``"]


@pytest.fixture
def treebanks(tmp_path: Path) -> Path:
    """All four treebanks in small: every sentence is a word of its own, but for one that is tested and trained on."""
    shared = "(TOP (NP (NN a) (NN b) (NN c) (NN d) (NN e) (NN f)))"
    for corpus in ("gum", "masc", "craft", "wsj-sample"):
        folder = tmp_path / "en" / corpus
        folder.mkdir(parents=True)
        for split in ("train", "dev", "test"):
            trees = [f"(TOP (NP (NN {corpus}-{split})))", shared]
            (folder / f"{split}.txt").write_text("\n".join(trees) + "\n", encoding="utf-8")
            meta = 'line\tdoc\tgenre\tcommercial\n1\tx\tnews\tyes\n2\tx\tsome "talk\tyes\n'
            (folder / f"{split}.meta.tsv").write_text(meta, encoding="utf-8")
    return tmp_path


def prepare_into(out: Path, treebanks: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setattr("sys.argv", ["prepare.py", "--treebanks", str(treebanks), "--out", str(out)])
    prepare.main()
    return {path.name: path.read_text(encoding="utf-8") for path in out.iterdir()}


def test_the_wsj_is_tested_on_and_never_trained_on(treebanks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = prepare_into(treebanks / "out", treebanks, monkeypatch)
    assert "wsj" not in files["train.txt"] + files["dev.txt"]
    assert files["test.wsj.txt"].count("wsj-sample") == 3


def test_no_longer_test_sentence_is_in_the_training_file(treebanks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = prepare_into(treebanks / "out", treebanks, monkeypatch)
    assert "(NN a)" not in files["train.txt"]


def test_the_same_seed_gives_the_same_files(treebanks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = prepare_into(treebanks / "one", treebanks, monkeypatch)
    assert prepare_into(treebanks / "two", treebanks, monkeypatch) == first


@pytest.mark.parametrize(("corpus", "free"), [("masc", True), ("gum", False), ("wsj", False)])
def test_where_nothing_is_said_of_commercial_use_only_masc_is_free(treebanks: Path, corpus: str, free: bool) -> None:
    for table in treebanks.glob("en/*/test.meta.tsv"):
        table.write_text("line\tdoc\n1\tx\n2\tx\n", encoding="utf-8")
    assert {item.free for item in load(treebanks, corpus, ["test"])} == {free}


def test_tables_are_read_without_minding_quotes(treebanks: Path) -> None:
    assert [item.genre for item in load(treebanks, "gum", ["test"])] == ["news", 'some "talk']
