"""Small trees written by hand, and a small model, for tests that need some."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.config.settings import Config
from fencepost.config.toml import config_from_table
from fencepost.trees.spans import Span, nest
from fencepost.trees.tree import Leaf, Tree

TREES = tuple(
    map(
        Tree.from_string,
        (
            "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))",
            "(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))",
            "(TOP (NP (NN Abstract)))",
            "(TOP (NN Results))",
            "(TOP (S (NP (NNP Ada)) (VP (VBD wrote) (NP (NP (NNS notes)) (PP (IN about) (NP (NNS engines)))))))",
            "(TOP (SBARQ (WHNP (WP Who)) (SQ (VP (VBZ reads) (NP (NN proof)))) (. ?)))",
            "(TOP (NP (NP (DT a) (NN list)) (-LRB- -LRB-) (NP (CD 3)) (-RRB- -RRB-)))",
            "(TOP (S (VP (VB Run))) (. !))",
            "(TOP (S (NP (JJ Old) (NNS dogs)) (VP (MD can) (VP (VB learn) (NP (JJ new) (NNS tricks)))) (. .)))",
            "(TOP (FRAG (ADVP (RB Not)) (NP (NN today)) (. .)))",
        ),
    )
)


def nested(leaves: Sequence[Leaf], spans: Sequence[Span], root: str | None = None) -> Tree:
    """``nest`` for spans that are not in columns."""
    starts, ends, labels = zip(*spans, strict=True) if spans else ((), (), ())
    return nest(leaves, starts, ends, labels, root)


def tiny_config(**train: object) -> Config:
    """A model small enough for a test; keyword arguments go to its ``train`` section."""
    return config_from_table(
        {
            "lexical": ["char_lstm"],
            "char_lstm": {"size": 8},
            "encoder": {"layers": 2, "d_model": 32, "heads": 2, "d_k": 8, "d_v": 8, "d_ff": 32},
            "scorer": {"hidden": 16, "predict_tags": True, "tag_hidden": 16},
            "train": {"batch_size": 4, "warmup_batches": 5, "checks_per_epoch": 1, "learning_rate": 0.01, **train},
        }
    )


def marked(tree: Tree, treebank: str) -> Tree:
    """The tree as a model of several treebanks reads it: its labels and tags end in the treebank's name."""
    return Tree(tree.label, [_marked(child, treebank) for child in tree.children])


def _marked(node: Tree | Leaf, treebank: str) -> Tree | Leaf:
    if isinstance(node, Leaf):
        return Leaf(f"{node.tag}:{treebank}", node.word)
    return Tree(f"{node.label}:{treebank}", [_marked(child, treebank) for child in node.children])
