"""Counts the errors that users meet, for one model or several side by side. Prints a table in Markdown.

    python models/english/errors.py MODEL … --data DATA [--first N] [--out ERRORS.json]

For each phenomenon and test set: how often the gold trees have it, how often the model's trees do, and how often both
have it in the same place. The gold trees are those that prepare.py wrote. Punctuation doesn't count in places, as in
evalb: treebanks differ in where they attach it. In k-best lists, those of the five best trees count that come after the
best and have an NX or NAC although the gold tree has neither.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from corpora import TESTS

import fencepost
from fencepost.features.possible_tags import PossibleTags, is_sign
from fencepost.parsing.parser import Parser
from fencepost.trees.functions import without_functions
from fencepost.trees.tree import Leaf, Node, Tree
from fencepost.trees.treebank import Treebank

CLAUSES: Final = frozenset({"S", "SINV", "SQ", "SBARQ", "SBAR", "FRAG"})  # (SBAR (IN in) (NN order) (S …)) is right
QUESTIONS: Final = frozenset({"SQ", "SBARQ"})
NOMINAL: Final = frozenset({"NN", "NNS", "NNP", "NNPS", "PRP"})
SILENT: Final = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-"})
RARE_NOUNS: Final = frozenset({"NX", "NAC"})
K: Final = 5
K_BEST_SENTENCES: Final = 300  # of each test set: k-best lists take longer than trees
K_BEST_LONGEST: Final = 30  # words

Place = tuple[object, ...]  # where a tree has a phenomenon


class Phrase(NamedTuple):
    """A phrase with its children, and where both start and end, counted in words that are not punctuation."""

    node: Tree
    start: int
    end: int
    children: list[tuple[Node, int, int]]


def phrases(tree: Tree) -> list[Phrase]:
    """All phrases below the root symbol, inner before outer."""
    found: list[Phrase] = []

    def visit(node: Node, start: int) -> int:
        if isinstance(node, Leaf):
            return start + (node.tag not in SILENT)
        children, end = [], start
        for child in node.children:
            begin, end = end, visit(child, end)
            children.append((child, begin, end))
        found.append(Phrase(node, start, end, children))
        return end

    visit(tree, 0)
    return found[:-1] if len(found) > 1 else found


def labelled(label: str, tree: Tree) -> set[Place]:
    return {(each.start, each.end) for each in phrases(tree) if each.node.label == label}


def questions(tree: Tree) -> set[Place]:
    """A question with its speaker after it, in a clause around both: “Why not?” she asked."""
    return {
        (each.node.label, each.start, each.end, _name(said), end)
        for each in phrases(tree)
        for said, _, end in _said(each)
        if _name(said) in QUESTIONS
    }


def reports(tree: Tree) -> set[Place]:
    """A clause with its speaker after it, subject first: The road is closed, police said."""
    return {
        (each.start, each.end, end)
        for each in phrases(tree)
        for said, _, end in _said(each)
        if each.node.label == _name(said) == "S" and _spoken(each)[1:2] == ["NP"]
    }


def _said(phrase: Phrase) -> list[tuple[Node, int, int]]:
    """What is said, if the phrase has a short verb phrase and its subject after it, in either order."""
    parts = [part for part in phrase.children if _name(part[0]) not in SILENT]
    if phrase.node.label not in CLAUSES or _spoken(phrase)[1:] not in (["NP", "VP"], ["VP", "NP"]):
        return []
    verb = next(node for node, _, _ in parts if _name(node) == "VP")
    is_short = isinstance(verb, Tree) and isinstance(verb.children[0], Leaf) and len(verb.leaves()) <= 3
    return parts[:1] if is_short and _name(parts[0][0]) in CLAUSES - {"SBAR"} else []


def _spoken(phrase: Phrase) -> list[str]:
    """The labels and tags of the children that are not punctuation."""
    return [name for name in (_name(child) for child, _, _ in phrase.children) if name not in SILENT]


def bare_words(labels: Set[str], tags: Set[str], tree: Tree) -> set[Place]:
    """Words with these tags directly below phrases with these labels, without a noun phrase of their own."""
    return {
        (start,)
        for each in phrases(tree)
        if each.node.label in labels
        for child, start, _ in each.children
        if isinstance(child, Leaf) and child.tag in tags
    }


def chains(tree: Tree) -> set[Place]:
    """Three or more clauses of one kind that are coordinated side by side."""
    return {(each.start, each.end) for each in phrases(tree) if len(_conjuncts(each)) > 2}


def nested_chains(tree: Tree) -> set[Place]:
    """Coordinated clauses whose first or last conjunct is again made of coordinated clauses."""
    by_place = {(each.start, each.end, each.node.label): each for each in phrases(tree)}
    found: set[Place] = set()
    for each in phrases(tree):
        conjuncts = _conjuncts(each)
        for child, start, end in (conjuncts[:1] + conjuncts[-1:]) if len(conjuncts) > 1 else []:
            if len(_conjuncts(by_place[start, end, _name(child)])) > 1:
                found.add((each.start, each.end))
    return found


def _conjuncts(phrase: Phrase) -> list[tuple[Node, int, int]]:
    """The clauses that a clause consists of, if it has no subject and verb of its own."""
    names = [_name(child) for child, _, _ in phrase.children]
    is_joined = any(name in ("CC", ":", ",") for name in names) and not {"NP", "VP"} & set(names)
    same = [part for part in phrase.children if isinstance(part[0], Tree) and _name(part[0]) == phrase.node.label]
    return same if is_joined and phrase.node.label in CLAUSES and len(same) > 1 else []


def won_as_modal(tree: Tree) -> set[Place]:
    leaves = enumerate(tree.leaves())
    return {(place,) for place, leaf in leaves if leaf.word.lower() == "won" and leaf.tag == "MD"}


def impossible_tags(possible: PossibleTags, tree: Tree) -> set[Place]:
    return {
        (place, leaf.tag)
        for place, leaf in enumerate(tree.leaves())
        if leaf.tag
        not in (possible.signs.get(leaf.word, possible.rare_signs) if is_sign(leaf.word) else possible.words)
    }


def _name(node: Node) -> str:
    return node.tag if isinstance(node, Leaf) else node.label


@dataclass
class Counts:
    gold: int = 0
    found: int = 0
    right: int = 0

    def add(self, gold: set[Place], found: set[Place]) -> None:
        self.gold += len(gold)
        self.found += len(found)
        self.right += len(gold & found)


def finders(possible: PossibleTags) -> Mapping[str, Callable[[Tree], set[Place]]]:
    return {
        "inversion (`SINV`)": partial(labelled, "SINV"),
        "question before its speaker": questions,
        "report before its speaker (“…, police said”)": reports,
        "noun or pronoun directly below a clause": partial(bare_words, CLAUSES - {"SBAR"}, NOMINAL),
        "noun, number or article directly below a `PP`": partial(bare_words, {"PP"}, NOMINAL | {"CD", "DT", "PRP$"}),
        "three or more clauses side by side": chains,
        "coordinated clauses nested at an edge": nested_chains,
        "fragment (`FRAG`)": partial(labelled, "FRAG"),
        "“won” as a modal": won_as_modal,
        "impossible tag": partial(impossible_tags, possible),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("models", nargs="+")
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--first", type=int, help="only the first N sentences of each set, for a quick look")
    options.add_argument("--out", type=Path, help="also write the counts to this file, as JSON")
    arguments = options.parse_args()
    gold = {
        corpus: [without_functions(tree) for tree in Treebank.load(arguments.data / f"test.{corpus}.txt")]
        for corpus in TESTS
    }
    gold = {corpus: trees[: arguments.first] for corpus, trees in gold.items()}
    train = Treebank.load(arguments.data / "train.txt")
    possible = PossibleTags.of(leaf for tree in train for leaf in tree.leaves())
    counts = {model: dict(counted(fencepost.load(model), gold, possible)) for model in arguments.models}
    print("\n".join(table(counts)))
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(as_json(counts), indent=1, ensure_ascii=False) + "\n", "utf-8")


def counted(
    parser: Parser, gold: Mapping[str, Sequence[Tree]], possible: PossibleTags
) -> Iterator[tuple[tuple[str, str], Counts]]:
    """The counts of each phenomenon and test set."""
    for corpus, trees in gold.items():
        predicted = parser.parse([tree.words() for tree in trees])
        for name, find in finders(possible).items():
            counts = Counts()
            for right, found in zip(trees, predicted, strict=True):
                counts.add(find(right), find(found))
            yield (name, corpus), counts
        yield ("`NX` or `NAC` in k-best lists", corpus), rare_nouns(parser, trees)


def rare_nouns(parser: Parser, trees: Sequence[Tree]) -> Counts:
    """``gold`` counts gold trees with NX or NAC, ``found`` the trees after the best that have one against the gold."""
    short = [tree for tree in trees if len(tree.leaves()) <= K_BEST_LONGEST][:K_BEST_SENTENCES]
    counts = Counts()
    for gold, analysis in zip(short, parser.iter_analyze([tree.words() for tree in short], K), strict=True):
        has = _has_rare_nouns(gold)
        counts.gold += has
        counts.found += 0 if has else sum(_has_rare_nouns(scored.tree) for scored in analysis.trees[1:])
    return counts


def _has_rare_nouns(tree: Tree) -> bool:
    return any(each.label in RARE_NOUNS for each in tree.subtrees())


def table(counts: Mapping[str, Mapping[tuple[str, str], Counts]]) -> Iterator[str]:
    """One row per phenomenon and test set that has it; for each model what it finds, and what of it is right."""
    models = list(counts)
    yield row(["phenomenon", "test set", "gold", *(f"{Path(model).name}: found, right" for model in models)])
    yield row(["---"] * (3 + len(models)))
    for (name, corpus), first in counts[models[0]].items():
        each = [counts[model][name, corpus] for model in models]
        if first.gold or any(one.found for one in each):
            yield row([name, corpus, str(first.gold), *(f"{one.found}, {one.right}" for one in each)])


def as_json(counts: Mapping[str, Mapping[tuple[str, str], Counts]]) -> dict[str, list[dict[str, object]]]:
    return {
        model: [{"phenomenon": name, "test set": corpus, **vars(each)} for (name, corpus), each in found.items()]
        for model, found in counts.items()
    }


def row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
