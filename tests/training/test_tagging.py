"""Predicted tags: trees keep their shape and order, and no tagger has seen what it tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import fencepost.training.tagging
from fencepost.cli.main import main
from fencepost.config.settings import Config
from fencepost.config.toml import config_to_toml
from fencepost.errors import UsageError
from fencepost.parsing.parser import Parser
from fencepost.training.tagging import jackknife, predict_tags, retag, tag_accuracy, tag_unseen, train_tagger
from fencepost.training.train import train
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Treebank
from tests.grammar import toy_trees
from tests.samples import TREES, tiny_config

BANK = Treebank(toy_trees(24))


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def test_retagging_changes_tags_alone() -> None:
    tree = Tree.from_string("(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .)))")
    assert str(retag(tree, ["A", "B", "C", "D"])) == "(TOP (S (NP (A The) (B cat)) (VP (C sat)) (D .)))"


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_a_tree_with_its_own_tags_is_itself(tree: Tree) -> None:
    assert retag(tree, tree.tags()) == tree


def test_too_many_tags_are_an_error() -> None:
    with pytest.raises(UsageError, match="more tags than words"):
        retag(TREES[0], [*TREES[0].tags(), "X"])


def test_accuracy_counts_words() -> None:
    gold = [Tree.from_string("(TOP (NN a) (NN b))"), Tree.from_string("(TOP (NN c) (NN d))")]
    assert tag_accuracy(gold, [gold[0], retag(gold[1], ["NN", "JJ"])]) == 75.0


def test_a_trained_tagger_is_right_more_often_than_not(tmp_path: Path) -> None:
    parser = train(tiny_config(max_epochs=30), BANK, BANK, tmp_path)
    tagged = predict_tags(parser, BANK)
    assert [tree.words() for tree in tagged] == [tree.words() for tree in BANK]
    assert tag_accuracy(BANK, tagged) > 60


def test_a_model_without_a_tag_head_can_not_tag(tmp_path: Path) -> None:
    config = tiny_config(max_epochs=1)
    parser = train(replace(config, scorer=replace(config.scorer, predict_tags=False)), BANK, BANK, tmp_path)
    with pytest.raises(UsageError, match="predicts no tags"):
        predict_tags(parser, BANK)


def watched_taggers(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The words of the trees that each tagger is trained on, in the order of training."""
    seen: list[set[str]] = []

    def watched(config: Config, trees: Sequence[Tree], folder: Path, device: str = "cpu") -> Parser:
        seen.append({" ".join(tree.words()) for tree in trees})
        return train_tagger(config, trees, folder, device)

    monkeypatch.setattr(fencepost.training.tagging, "train_tagger", watched)
    return seen


def test_jackknifing_keeps_order_and_each_tree_is_unseen_by_one_tagger_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watched_taggers(monkeypatch)
    tagged = jackknife(tiny_config(max_epochs=1), BANK, 3, tmp_path)
    assert [tree.words() for tree in tagged] == [tree.words() for tree in BANK]
    assert [len(words) for words in seen] == [16, 16, 16]
    assert all(sum(" ".join(tree.words()) in words for words in seen) == 2 for tree in BANK)


def test_folds_that_are_done_are_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tiny_config(max_epochs=1)
    tagged = jackknife(config, BANK, 3, tmp_path)
    seen = watched_taggers(monkeypatch)
    next(tmp_path.glob("*/fold-2.txt")).unlink()
    assert jackknife(config, BANK, 3, tmp_path) == tagged
    assert len(seen) == 1


def test_another_seed_deals_other_folds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watched_taggers(monkeypatch)
    for seed in (1, 2):
        jackknife(tiny_config(max_epochs=1, seed=seed), BANK, 2, tmp_path)
    assert seen[:2] != seen[2:]


def test_unseen_trees_are_tagged_by_a_tagger_of_all_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watched_taggers(monkeypatch)
    tag_unseen(tiny_config(max_epochs=1), BANK[:20], BANK[20:], tmp_path)
    assert seen == [{" ".join(tree.words()) for tree in BANK[:20]}]


def test_more_folds_than_trees_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't make 25 folds from 24 trees"):
        jackknife(tiny_config(), BANK, 25, tmp_path)


@pytest.mark.parametrize(("trees", "folds"), [(2, 2), (3, 2)])
def test_too_few_trees_for_a_tagger_and_its_check_are_an_error_before_any_training(
    trees: int, folds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watched_taggers(monkeypatch)
    with pytest.raises(UsageError, match=f"{trees} trees in {folds} folds are too few") as caught:
        jackknife(tiny_config(max_epochs=1), BANK[:trees], folds, tmp_path)
    assert "at least 4 trees" in (caught.value.hint or "")
    assert seen == []


@pytest.mark.parametrize(("trees", "folds"), [(3, 3), (4, 2)])
def test_the_fewest_trees_that_can_be_jackknifed(trees: int, folds: int, tmp_path: Path) -> None:
    assert len(jackknife(tiny_config(max_epochs=1), BANK[:trees], folds, tmp_path)) == trees


def test_the_command_tags_and_reports_accuracy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    BANK.save(tmp_path / "trees.txt")
    (tmp_path / "tiny.toml").write_text(config_to_toml(tiny_config(max_epochs=1)))
    common = [str(tmp_path / "trees.txt"), "--output", str(tmp_path / "tagged.txt")]
    assert main(["tag", "--jackknife", "2", "--config", str(tmp_path / "tiny.toml"), *common]) == 0
    tagged = Treebank.load(tmp_path / "tagged.txt")
    assert f"{tag_accuracy(BANK, tagged):.2f}% of the tags" in capsys.readouterr().err
    model = next((tmp_path / "tagged.txt.folds").glob("*/tagger-1"))
    assert main(["tag", str(model), *common]) == 0
    assert [tree.words() for tree in Treebank.load(tmp_path / "tagged.txt")] == [tree.words() for tree in BANK]


def test_traces_stay_traces_and_are_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "raw.mrg").write_text("(TOP (S (NP (-NONE- *)) (VP (X go) (NP (-NONE- *T*-1)))))\n")
    assert main(["tag", "en", str(tmp_path / "raw.mrg"), "--output", str(tmp_path / "tagged.txt")]) == 0
    (tree,) = Treebank.load(tmp_path / "tagged.txt")
    assert tree.tags() == ["-NONE-", "VB", "-NONE-"]
    assert "warning: 2 words are traces (-NONE-)\nhint: " in capsys.readouterr().err


def test_an_interruption_keeps_the_trees_that_are_tagged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> Iterator[Tree]:
        yield from BANK[:7]
        raise KeyboardInterrupt

    monkeypatch.setattr(Parser, "iter_parse", interrupted)
    BANK.save(tmp_path / "trees.txt")
    assert main(["tag", "en", str(tmp_path / "trees.txt"), "--output", str(tmp_path / "tagged.txt")]) == 130
    assert not (tmp_path / "tagged.txt").exists()
    assert Treebank.load(tmp_path / "tagged.txt.partial") == BANK[:7]


def test_a_model_alone_is_nothing_to_tag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tag", "model", "--output", str(tmp_path / "tagged.txt")]) == 2
    assert "no trees to tag" in capsys.readouterr().err


@pytest.mark.parametrize("option", [("--set", "train.seed=2"), ("--config", "tagger")])
def test_a_model_that_is_trained_takes_no_configuration(
    tmp_path: Path, option: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trees.txt").write_text("(TOP (X a))\n")
    assert main(["tag", "model", str(tmp_path / "trees.txt"), "--output", str(tmp_path / "tagged.txt"), *option]) == 2
    assert "--config and --set need --jackknife" in capsys.readouterr().err
