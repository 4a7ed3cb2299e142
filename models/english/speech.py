"""Sentences that quote somebody, made from sentences of the treebanks: ``"Where is it?" asked the guard.``

The treebanks that may be trained on have a few dozen quoted questions, but stories are full of them. The trees follow
the Penn Treebank: SINV if the verb comes before its subject, and a question's mark belongs to the question.
"""

from __future__ import annotations

import random
from typing import Final

from nodes import name, renamed

from fencepost.trees.tree import Leaf, Node, Tree

LONGEST: Final = 24  # words of what is said
SAID: Final = frozenset({"S", "SQ", "SBARQ", "SINV", "FRAG", "INTJ"})
TOPIC: Final = frozenset({"S", "SQ", "SBARQ", "SINV"})  # those that the Penn Treebank marks as topics
QUOTES: Final = frozenset({"``", "''"})
OPEN, CLOSE, COMMA, STOP = Leaf("``", "``"), Leaf("''", "''"), Leaf(",", ","), Leaf(".", ".")

PRONOUNS: Final = tuple(f"(NP-SBJ (PRP {word}))" for word in ("he", "she", "they", "I", "we", "he", "she"))
SPEAKERS: Final = (
    "(NP-SBJ (NNP Mary))",
    "(NP-SBJ (NNP Tom))",
    "(NP-SBJ (NNP Anna))",
    "(NP-SBJ (NNP Mr.) (NNP Carter))",
    "(NP-SBJ (NNP Mrs.) (NNP Bell))",
    "(NP-SBJ (NNP Dr.) (NNP Okafor))",
    "(NP-SBJ (NNP Helen) (NNP Marsh))",
    "(NP-SBJ (DT the) (NN guard))",
    "(NP-SBJ (DT the) (JJ old) (NN man))",
    "(NP-SBJ (DT the) (NN boy))",
    "(NP-SBJ (DT the) (NN judge))",
    "(NP-SBJ (DT the) (NN report))",
    "(NP-SBJ (DT the) (NN company))",
    "(NP-SBJ (PRP$ her) (NN mother))",
    "(NP-SBJ (PRP$ his) (JJ younger) (NN sister))",
    "(NP-SBJ (CD one) (NN witness))",
    "(NP-SBJ (DT a) (NN woman))",
    "(NP-SBJ (NNS police))",
    "(NP-SBJ (NNS officials))",
    "(NP-SBJ (NNS experts))",
    "(NP-SBJ (NNS analysts))",
    "(NP-SBJ (DT the) (NNS authorities))",
    "(NP-SBJ (NP (DT a) (NN spokesman)) (PP (IN for) (NP (DT the) (NN hospital))))",
    "(NP-SBJ (NP (DT the) (NN director)) (PP (IN of) (NP (DT the) (NN museum))))",
    "(NP-SBJ (NP (NNP Paul) (NNP Reyes)) (, ,) (NP (NP (DT a) (NN teacher)) (PP-LOC (IN in) (NP (NNP Leeds)))))",
)
TOLD: Final = (
    "(VP (VBD said))",
    "(VP (VBD said))",
    "(VP (VBD said))",
    "(VP (VBZ says))",
    "(VP (VBD replied))",
    "(VP (VBD answered))",
    "(VP (VBD added))",
    "(VP (VBD explained))",
    "(VP (VBD thought))",
)
ASKED: Final = ("(VP (VBD asked))", "(VP (VBD asked))", "(VP (VBZ asks))", "(VP (VBD said))", "(VP (VBD wondered))")
CRIED: Final = (
    "(VP (VBD cried))",
    "(VP (VBD shouted))",
    "(VP (VBD said))",
    "(VP (VBD yelled))",
    "(VP (VBD exclaimed))",
)
VERBS: Final = {".": TOLD, "?": ASKED, "!": CRIED}
MANNERS: Final = tuple(f"(ADVP-MNR (RB {word}))" for word in ("quietly", "softly", "sharply"))


def spoken(tree: Tree, choice: random.Random) -> Tree | None:
    """The sentence as something that somebody says. None if it isn't short and plain enough."""
    if len(tree.children) != 1 or len(tree.leaves()) > LONGEST:
        return None
    clause = tree.children[0]
    if not isinstance(clause, Tree) or name(clause) not in SAID or len(clause.children) < 2:
        return None
    mark = clause.children[-1]
    if not isinstance(mark, Leaf) or mark.word not in VERBS or any(leaf.tag in QUOTES for leaf in tree.leaves()):
        return None
    verb = Tree.from_string(choice.choice(VERBS[mark.word]))
    pronoun = choice.random() < 0.5
    speaker = Tree.from_string(choice.choice(PRONOUNS if pronoun else SPEAKERS))
    if choice.random() < 0.25:
        return Tree(tree.label, [_speaker_first(clause, mark, speaker, verb)])
    bare = mark.word == "." and choice.random() < 0.4  # without quotes: The road is closed, police said.
    if pronoun or choice.random() < 0.4:
        if choice.random() < 0.1:
            verb = Tree(verb.label, [*verb.children, Tree.from_string(choice.choice(MANNERS))])
        return Tree(tree.label, [Tree("S", [*_topic(clause, mark, bare=bare), speaker, verb, STOP])])
    return Tree(tree.label, [Tree("SINV", [*_topic(clause, mark, bare=bare), verb, speaker, STOP])])


def _topic(clause: Tree, mark: Leaf, *, bare: bool) -> list[Node]:
    """What is said, in front: a full stop becomes a comma after it, another mark stays in it."""
    label = renamed(clause, name(clause)) if name(clause) not in TOPIC else f"{name(clause)}-TPC"
    said: list[Node] = [Tree(label, clause.children)]
    if mark.word == ".":
        said = [Tree(label, clause.children[:-1]), COMMA]
    return said if bare else [OPEN, *said, CLOSE]


def _speaker_first(clause: Tree, mark: Leaf, speaker: Tree, verb: Tree) -> Tree:
    said = Tree(name(clause), clause.children[:-1])
    first = speaker.leaves()[0]
    capital = Leaf(first.tag, first.word[0].upper() + first.word[1:])
    subject = _with_first(speaker, capital)
    return Tree("S", [subject, Tree("VP", [*verb.children, COMMA, OPEN, said]), mark, CLOSE])


def _with_first(tree: Tree, leaf: Leaf) -> Tree:
    first, *others = tree.children
    return Tree(tree.label, [_with_first(first, leaf) if isinstance(first, Tree) else leaf, *others])
