"""Part-of-speech tags predicted by a parser's tag head, for models that read tags (§5).

A tagger is too accurate on the trees it was trained on. So training trees are jackknifed: cut into folds, and each fold
tagged by a tagger trained on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from fencepost.config.settings import Config
from fencepost.config.toml import config_to_toml, without_later
from fencepost.errors import UsageError
from fencepost.features.lexical_kinds import reads
from fencepost.storage.fingerprint import fingerprint
from fencepost.storage.text_reader import read_lines
from fencepost.storage.text_writer import write_atomically
from fencepost.training.train import train
from fencepost.trees.normalize import TRACE
from fencepost.trees.tree import Leaf, Node, Tree, unchecked_leaf, unchecked_tree
from fencepost.trees.treebank import Treebank

if TYPE_CHECKING:
    from fencepost.parsing.parser import Parser

CHECKED_SHARE: Final = 20  # 1 in 20 of a tagger's trees are held out, to choose its best check


def retag(tree: Tree, tags: Sequence[str]) -> Tree:
    """The tree with other tags over its words."""
    waiting = iter(tags)
    done: list[Node] = []  # the children so far of the innermost open phrase
    above: list[list[Node]] = []
    stack: list[Node | str] = [tree]  # a label closes a phrase
    while stack:
        node = stack.pop()
        if type(node) is Leaf:
            done.append(unchecked_leaf(next(waiting), node.word))
        elif type(node) is Tree:
            above.append(done)
            done = []
            stack.append(node.label)
            stack.extend(reversed(node.children))
        else:
            assert isinstance(node, str)
            phrase = unchecked_tree(node, tuple(done))
            done = above.pop()
            done.append(phrase)
    (new,) = done
    assert isinstance(new, Tree)
    if next(waiting, None) is not None:
        raise UsageError(f"more tags than words: {' '.join(tree.words())}")
    return new


def predict_tags(parser: Parser, trees: Sequence[Tree]) -> Treebank:
    """The trees with the tags that a model predicts. Traces stay traces."""
    return Treebank(iter_predict_tags(parser, trees))


def iter_predict_tags(parser: Parser, trees: Sequence[Tree]) -> Iterator[Tree]:
    """``predict_tags``, tree by tree."""
    if not parser.config.scorer.predict_tags:
        raise UsageError("this model predicts no tags", hint="train it with --set scorer.predict_tags=true")
    if reads(parser.config, "tags"):
        raise UsageError("this model reads tags, so it can't predict them")
    parsed = parser.iter_parse([tree.words() for tree in trees])
    return (_retag_words(tree, predicted.tags()) for tree, predicted in zip(trees, parsed, strict=True))


def _retag_words(tree: Tree, tags: Sequence[str]) -> Tree:
    """The tree with new tags, except on traces, which nothing would recognise under another tag."""
    return retag(tree, [old if old == TRACE else new for old, new in zip(tree.tags(), tags, strict=True)])


def tag_accuracy(gold: Sequence[Tree], tagged: Sequence[Tree]) -> float:
    """The share of words with the right tag, in percent."""
    pairs = [
        pair for one, other in zip(gold, tagged, strict=True) for pair in zip(one.tags(), other.tags(), strict=True)
    ]
    return 100 * sum(right == predicted for right, predicted in pairs) / len(pairs)


def train_tagger(config: Config, trees: Sequence[Tree], folder: Path, device: str = "cpu") -> Parser:
    """A tagger trained on most of the trees; the others choose its best check. Resumes where it was interrupted."""
    order = np.random.default_rng(config.train.seed).permutation(len(trees)).tolist()
    kept = set(order[: max(1, len(trees) // CHECKED_SHARE)])
    seen = [tree for number, tree in enumerate(trees) if number not in kept]
    checked = [tree for number, tree in enumerate(trees) if number in kept]
    config = replace(config, scorer=replace(config.scorer, predict_tags=True))
    return train(config, seen, checked, folder, resume=True, device=device)


def jackknife(config: Config, trees: Treebank, folds: int, work: Path, device: str = "cpu") -> Treebank:
    """The trees, in their order, each with tags from a tagger that was trained on the other folds.

    Finished folds and unfinished taggers are kept in ``work``, so that a run can continue after an interruption.
    """
    if not 2 <= folds <= len(trees):
        raise UsageError(
            f"can't make {folds} folds from {len(trees)} trees", hint="use at least 2 folds, and at most one per tree"
        )
    least = len(trees) - -(-len(trees) // folds)  # number of trees outside a fold
    if least < 2:
        raise UsageError(
            f"{len(trees)} trees in {folds} folds are too few: a tagger needs a tree to learn from and another to be "
            f"checked on, but only {least} may be outside a fold",
            hint="give at least 4 trees",
        )
    tagged = list(trees)
    for fold in range(folds):
        for index, tree in tag_fold(config, trees, folds, fold, work, device).items():
            tagged[index] = tree
    return Treebank(tagged)


def tag_fold(
    config: Config, trees: Treebank, folds: int, fold: int, work: Path, device: str = "cpu"
) -> dict[int, Tree]:
    """The trees of one fold, by index, with tags from a tagger that was trained on the other folds."""
    path = fold_files(config, trees, folds, work)[fold]
    fold_of = _deal(len(trees), folds, config.train.seed)
    indices = [index for index in range(len(trees)) if fold_of[index] == fold]
    others = [tree for index, tree in enumerate(trees) if fold_of[index] != fold]
    held_out = [trees[index] for index in indices]
    tagger = partial(train_tagger, config, others, path.parent / f"tagger-{fold + 1}", device)
    return dict(zip(indices, _tagged(held_out, path, tagger), strict=True))


def fold_files(config: Config, trees: Treebank, folds: int, work: Path) -> list[Path]:
    """Where ``tag_fold`` keeps the tags of each fold."""
    folder = work / fingerprint([without_later(config_to_toml(config)), str(folds), *map(str, trees)])
    return [folder / f"fold-{fold + 1}.txt" for fold in range(folds)]


def tag_unseen(config: Config, seen: Treebank, unseen: Treebank, work: Path, device: str = "cpu") -> Treebank:
    """The trees of ``unseen`` with tags from a tagger trained on all of ``seen``. It can be resumed, too."""
    path = unseen_file(config, seen, unseen, work)
    return Treebank(_tagged(unseen, path, partial(train_tagger, config, seen, path.parent / "tagger", device)))


def unseen_file(config: Config, seen: Treebank, unseen: Treebank, work: Path) -> Path:
    """Where ``tag_unseen`` keeps the tags."""
    return (
        work
        / fingerprint([without_later(config_to_toml(config)), *map(str, seen)])
        / f"{fingerprint(map(str, unseen))}.txt"
    )


def _tagged(trees: Sequence[Tree], path: Path, tagger: Callable[[], Parser]) -> list[Tree]:
    """The trees with the tags in a file. If the file is missing, the tagger is trained and writes it first."""
    if not path.is_file():
        parser = tagger()
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            file.writelines(" ".join(tree.tags()) + "\n" for tree in predict_tags(parser, trees))
    lines = (line.text.split() for line in read_lines(path))
    return [retag(tree, tags) for tree, tags in zip(trees, lines, strict=True)]


def _deal(count: int, folds: int, seed: int) -> list[int]:
    """The fold of each tree, at random; sizes differ by at most one."""
    return [int(number) % folds for number in np.random.default_rng(seed).permutation(count)]
