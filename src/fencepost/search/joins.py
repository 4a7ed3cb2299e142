"""The relations of ``definitions`` over whole columns: for each node A, in how many ways related nodes B match.

Trees lie one after the other and nodes before their children, so most relations ask for the nodes B in a range: below A
are the nodes from A + 1 to its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from fencepost.search.bag import Bag, by_key, running_sums
from fencepost.search.columns import Columns
from fencepost.search.syntax import Relation

if TYPE_CHECKING:
    import numpy.typing as npt

    from fencepost.search.bag import Array, Sums

Join: TypeAlias = "Callable[[Columns, Array, Bag], Sums]"


def children(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.below(nodes)


def parent(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.of(columns.parent[nodes])


def descendants(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.between(nodes + 1, columns.end[nodes])


def ancestors(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.above(nodes)


def nth_child(columns: Columns, nodes: Array, bag: Bag, number: int) -> Sums:
    if number > 0:
        return bag.of(columns.nth_child(nodes, number))
    if number == -1:
        return bag.below(nodes, columns.is_last(bag.nodes))
    return bag.below(nodes, columns.places_from_last[bag.nodes] == -number)


def parent_of_nth(columns: Columns, nodes: Array, bag: Bag, number: int) -> Sums:
    above = columns.parent[nodes]
    if number > 0:
        chosen = (above >= 0) & (columns.nth_child(np.maximum(above, 0), number) == nodes)
    elif number == -1:
        chosen = columns.is_last(nodes)
    else:
        chosen = columns.places_from_last[nodes] == -number
    return np.where(chosen, bag.of(above), 0)


def only_child(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.below(nodes, columns.is_first(bag.nodes) & columns.is_last(bag.nodes))


def parent_of_only(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return np.where(columns.is_first(nodes) & columns.is_last(nodes), parent(columns, nodes, bag), 0)


def unary_descendants(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    # The only child of a node is the next node, so a chain is a run of nodes up to the first one that branches.
    stops = columns.branching[np.searchsorted(columns.branching, nodes)]
    return bag.between(nodes + 1, stops + 1)


def unary_ancestors(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.between(_after_last(columns.branching, nodes), nodes)


def leftmost_descendants(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    # The leftmost descendants of a node are the nodes up to the next word.
    first_words = columns.words[np.searchsorted(columns.words, nodes)]
    return bag.between(nodes + 1, first_words + 1)


def ancestors_of_leftmost(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.between(_after_last(columns.words, nodes), nodes)


def _after_last(stops: Array, nodes: Array) -> Array:
    """The node after the last stop before each node."""
    found = np.searchsorted(stops, nodes)
    return np.where(found > 0, stops[np.maximum(found - 1, 0)] + 1, 0)


def rightmost_descendants(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.in_group(columns.end, nodes, after=True)


def ancestors_of_rightmost(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.in_group(columns.end, nodes, after=False)


def words(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    chosen = columns.is_word(bag.nodes)
    return descendants(columns, nodes, Bag(columns, bag.nodes[chosen], bag.ways[chosen])) * ~columns.is_word(nodes)


def nth_word(columns: Columns, nodes: Array, bag: Bag, number: int) -> Sums:
    first, last = columns.words_before[nodes], columns.words_before[columns.end[nodes]]
    word = first + number - 1 if number > 0 else last + number
    inside = (word >= first) & (word < last) & ~columns.is_word(nodes)
    return np.where(inside, bag.of(columns.words[np.where(inside, word, 0)]), 0)


def sisters(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    above = columns.parent[nodes]
    return np.where(above >= 0, bag.below(above) - bag.of(nodes), 0)


def right_sisters(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return np.where(columns.parent[nodes] >= 0, bag.in_group(columns.parent, nodes, after=True), 0)


def left_sisters(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return np.where(columns.parent[nodes] >= 0, bag.in_group(columns.parent, nodes, after=False), 0)


def next_sister(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.of(columns.next_sister(nodes))


def previous_sister(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    following = columns.next_sister(bag.nodes)
    kept = following >= 0
    return by_key(following[kept], bag.ways[kept], nodes, len(columns))


def following(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.between(columns.end[nodes], columns.roots[columns.tree_of(nodes) + 1])


def preceding(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    # The last word of the tree before ends where this tree begins, and doesn't count.
    earlier = bag.ended_by(columns.roots[columns.tree_of(nodes)])
    return bag.ended_by(nodes) - earlier


def next_nodes(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    after = columns.end[nodes]
    first_words = columns.words_before[bag.nodes]
    return np.where(
        _is_inside(columns, after), by_key(first_words, bag.ways, columns.words_before[after], columns.tokens), 0
    )


def previous_nodes(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    words_after = columns.words_before[columns.end[bag.nodes]]
    start = columns.words_before[nodes]
    at_start = start == columns.words_before[columns.roots[columns.tree_of(nodes)]]
    return np.where(at_start, 0, by_key(words_after, bag.ways, start, columns.tokens))


def _is_inside(columns: Columns, ends: Array) -> npt.NDArray[np.bool_]:
    """True where the end of a node isn't the end of its tree."""
    return (ends < len(columns)) & (columns.parent[np.minimum(ends, len(columns) - 1)] >= 0)


def head(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.below(nodes, columns.is_head(bag.nodes))


def phrase_of_head(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return np.where(columns.is_head(nodes), parent(columns, nodes, bag), 0)


def heads(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.in_group(columns.head_word, nodes, after=True)


def phrases_of_head(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.in_group(columns.head_word, nodes, after=False)


def itself(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.of(nodes)


def itself_or_children(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    return bag.of(nodes) + bag.below(nodes)


def anywhere(columns: Columns, nodes: Array, bag: Bag) -> Sums:
    trees = columns.tree_of(nodes)
    return bag.between(columns.roots[trees], columns.roots[trees + 1])


# Chains. ``links`` tells for each node whether it may be passed.


def chain_down(columns: Columns, nodes: Array, bag: Bag, links: npt.NDArray[np.bool_]) -> Sums:
    """A <+(C) B: every B adds its ways to its parent, and to further ancestors as long as it passes nodes C."""
    sums = np.zeros(len(columns))
    above, ways = columns.parent[bag.nodes], bag.ways
    while len(above):
        inside = above >= 0
        above, ways = above[inside], ways[inside]
        np.add.at(sums, above, ways)
        passed = links[above]
        above, ways = columns.parent[above[passed]], ways[passed]
    return sums[nodes]


def chain_up(columns: Columns, nodes: Array, bag: Bag, links: npt.NDArray[np.bool_]) -> Sums:
    """A >+(C) B: the ancestors of A up to the first that isn't C."""
    top = columns.parent[nodes]
    while True:
        passed = (top >= 0) & links[top]
        if not passed.any():
            break
        top = np.where(passed, columns.parent[top], top)
    beyond = np.where(top >= 0, bag.above(np.maximum(top, 0)), 0)
    return bag.above(nodes) - beyond


def chain_left(columns: Columns, nodes: Array, bag: Bag, links: npt.NDArray[np.bool_]) -> Sums:
    """A ,+(C) B: from phrase to phrase, each ending right before the last, as long as one of its first nodes is C."""
    running = running_sums(links.astype(np.float64))
    every = np.arange(len(columns))
    stops = columns.words[np.searchsorted(columns.words, every)] + 1
    # One entry more than there are nodes, so that -1 leads to an entry without ways.
    sums = np.append(bag.between(every, stops), 0)
    further = np.append(np.where(running[stops] > running[every], _phrase_before(columns, every), -1), -1)
    while (further >= 0).any():  # each step doubles how many phrases a sum covers
        sums, further = sums + sums[further], further[further]
    return np.asarray(sums[_phrase_before(columns, nodes)])


def _phrase_before(columns: Columns, nodes: Array) -> Array:
    """The largest phrase that ends right before each node, or -1."""
    return columns.previous_sisters[_after_last(columns.words, nodes)]


def chain_right(columns: Columns, nodes: Array, bag: Bag, links: npt.NDArray[np.bool_]) -> Sums:
    """A .+(C) B: the nodes B that begin at a word to which nodes C lead, one after the other, from the end of A."""
    begin_at = np.bincount(columns.words_before[bag.nodes], weights=bag.ways, minlength=columns.tokens + 1)
    ends = columns.end[nodes]
    inside = _is_inside(columns, ends)
    start = columns.words_before[ends]
    sums = np.where(inside, begin_at[start], 0)
    linking = np.flatnonzero(links)
    steps: dict[int, set[int]] = {}
    stops = columns.end[linking]
    kept = _is_inside(columns, stops)
    froms, tos = columns.words_before[linking[kept]], columns.words_before[stops[kept]]
    for one, other in zip(froms.tolist(), tos.tolist(), strict=True):
        steps.setdefault(one, set()).add(other)
    reached_ways: dict[int, float] = {}
    for index in np.flatnonzero(inside).tolist():
        word = int(start[index])
        if word in steps:
            if word not in reached_ways:
                reached_ways[word] = float(begin_at[sorted(_reached(word, steps))].sum())
            sums[index] = reached_ways[word]
    return sums


def _reached(word: int, steps: dict[int, set[int]]) -> set[int]:
    reached = {word}
    waiting = [word]
    while waiting:
        new = steps.get(waiting.pop(), set()) - reached
        reached |= new
        waiting.extend(new)
    return reached


SIMPLE: Final[dict[str, Join]] = {
    "<": children,
    ">": parent,
    "<<": descendants,
    ">>": ancestors,
    "<:": only_child,
    ">:": parent_of_only,
    "<<:": unary_descendants,
    ">>:": unary_ancestors,
    "<<,": leftmost_descendants,
    "<<-": rightmost_descendants,
    ">>,": ancestors_of_leftmost,
    ">>-": ancestors_of_rightmost,
    "<<<": words,
    "$": sisters,
    "$++": right_sisters,
    "$--": left_sisters,
    "$+": next_sister,
    "$-": previous_sister,
    "..": following,
    ",,": preceding,
    ".": next_nodes,
    ",": previous_nodes,
    "<#": head,
    ">#": phrase_of_head,
    "<<#": heads,
    ">>#": phrases_of_head,
    "==": itself,
    "<=": itself_or_children,
    ":": anywhere,
}
NUMBERED: Final = {"<i": nth_child, ">i": parent_of_nth, "<<<i": nth_word}
CHAINS: Final = {"<+": chain_down, ">+": chain_up, ".+": chain_right, ",+": chain_left}


def join(relation: Relation, columns: Columns, nodes: Array, bag: Bag, links: npt.NDArray[np.bool_] | None) -> Sums:
    """In how many ways the nodes that each node has a relation to match."""
    if relation.symbol in SIMPLE:
        return SIMPLE[relation.symbol](columns, nodes, bag)
    if relation.symbol in NUMBERED:
        return NUMBERED[relation.symbol](columns, nodes, bag, relation.number)
    assert links is not None
    return CHAINS[relation.symbol](columns, nodes, bag, links)
