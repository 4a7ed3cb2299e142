"""The finite clauses of English trees: main, dependent and relative, each with its verb.

A clause is an S, SINV or SQ with a finite verb of its own: a modal, a present or past form, or the base form of an
imperative. Infinitives and participles don't make a clause here. If an SBAR or SBARQ stands right above, the clause
begins there, so that it includes ``because``, ``that`` or ``who``.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from fencepost.trees.brackets import ROOT_SYMBOLS
from fencepost.trees.head_tables import ENGLISH
from fencepost.trees.heads import PENN_PUNCTUATION
from fencepost.trees.layout import Layout
from fencepost.trees.tree import Tree

ClauseKind = Literal["main", "dependent", "relative"]

FINITE: Final = frozenset({"MD", "VBZ", "VBP", "VBD"})
_CLAUSES: Final = frozenset({"S", "SINV", "SQ"})
_NOT_FINITE: Final = frozenset({"VB", "VBG", "VBN", "TO"})
_NOUN_PHRASES: Final = frozenset({"NP", "NML", "NX"})
_BEGIN_RELATIVE: Final = frozenset({"WHNP", "WHPP", "WHADVP", "WHADJP", "S"})
_TRANSPARENT: Final = frozenset({"SBARQ", "FRAG", "UCP", "X"})  # a clause in them is what it would be without them


class Clause(NamedTuple):
    """A finite clause of a sentence. Tokens count from 0; ``words()[start:end]`` are its own."""

    kind: ClauseKind
    label: str
    start: int
    end: int
    text: str
    verb: str
    verb_tag: str
    verb_index: int
    head: str
    head_tag: str
    head_index: int
    start_char: int | None  # in the text, if it is known; see ``Tree.placed``
    end_char: int | None
    tree: Tree


class Found(NamedTuple):
    """A clause, by the numbers of its phrases and of its verb in a ``Layout``."""

    kind: ClauseKind
    phrase: int  # with the SBAR or SBARQ that introduces it
    core: int  # the S, SINV or SQ
    verb: int


def clauses(tree: Tree) -> list[Clause]:
    """See ``Tree.clauses``."""
    layout = Layout(tree)
    heads = ENGLISH.head_words(tree)
    rows: list[Clause] = []
    for kind, phrase, _, verb in find_clauses(layout):
        node, start, end = layout.phrases[phrase], layout.starts[phrase], layout.ends[phrase]
        word, head = layout.leaves[verb], layout.leaves[heads[phrase]]
        start_char, end_char = layout.characters(start, end)
        row = Clause(
            kind=kind,
            label=node.label,
            start=start,
            end=end,
            text=layout.text(start, end),
            verb=word.word,
            verb_tag=word.tag,
            verb_index=verb,
            head=head.word,
            head_tag=head.tag,
            head_index=heads[phrase],
            start_char=start_char,
            end_char=end_char,
            tree=node,
        )
        rows.append(row)
    return rows


def find_clauses(layout: Layout) -> list[Found]:
    """The finite clauses, outer before inner."""
    found: list[Found] = []
    below: list[ClauseKind] = []  # for each phrase, the kind of a clause right below it
    for index, name in enumerate(layout.names):
        parent = layout.parents[index]
        kind: ClauseKind = below[parent] if parent >= 0 else "main"
        below.append(_kind_below(layout, index, kind))
        may_command = kind == "main" or (parent >= 0 and layout.names[parent] in _CLAUSES)  # "Stop!" he shouted
        verb = _verb(layout, index, may_command) if name in _CLAUSES else None
        if verb is not None:
            found.append(Found(kind, parent if _introduces(layout, parent) else index, index, verb))
    return found


def _introduces(layout: Layout, index: int) -> bool:
    """True for an SBAR or SBARQ with one clause."""
    if index < 0 or layout.names[index] not in {"SBAR", "SBARQ"}:
        return False
    return sum(child.name in _CLAUSES for child in layout.children[index]) == 1


def _kind_below(layout: Layout, index: int, kind: ClauseKind) -> ClauseKind:
    """The kind of a clause right below a phrase; ``kind`` is that of a clause in its place."""
    name = layout.names[index]
    if name in ROOT_SYMBOLS or name == "PRN":
        return "main"  # "It is, he said, late": both are main clauses
    if name in _TRANSPARENT or (name in _CLAUSES and not _has_predicate(layout, index)):
        return kind
    return "relative" if name == "SBAR" and _is_relative(layout, index, kind) else "dependent"


def _has_predicate(layout: Layout, index: int) -> bool:
    return any(child.name == "VP" or child.name in FINITE for child in layout.children[index])


def _is_relative(layout: Layout, index: int, kind: ClauseKind) -> bool:
    """True for an SBAR after a noun that begins with a relative word or without any."""
    first = layout.children[index][0]
    while first.name == "SBAR" and not first.is_word:  # several relative clauses: "who came and who saw"
        first = layout.children[first.number][0]
    if first.name not in _BEGIN_RELATIVE:
        return False
    parent = layout.parents[index]
    if parent >= 0 and layout.names[parent] == "SBAR":
        return kind == "relative"
    if parent < 0 or layout.names[parent] not in _NOUN_PHRASES:
        return False
    words = next(child for child in layout.children[parent] if child.name not in PENN_PUNCTUATION)
    return words.is_word or words.number != index


def _verb(layout: Layout, index: int, may_command: bool) -> int | None:
    """The finite verb of an S, SINV or SQ; None if it hasn't one of its own."""
    while True:
        verb_phrase = None
        for child in layout.children[index]:
            if child.is_word and (child.name in FINITE or (child.name == "VB" and may_command)):
                return child.number
            if child.is_word and child.name in _NOT_FINITE:
                return None
            if child.name == "VP" and not child.is_word and verb_phrase is None:
                verb_phrase = child.number
            if child.name in _NOUN_PHRASES and verb_phrase is None:
                may_command = False  # it is the subject
        if verb_phrase is None:
            return None
        index = verb_phrase
