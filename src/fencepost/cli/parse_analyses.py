"""The middle of ``fencepost parse``: checks and parses the sentences of the input, chunk by chunk and in order."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from itertools import starmap
from typing import TypeAlias

from fencepost.cli.parse_input import Item
from fencepost.parsing.confidence import Analysis, hide_probabilities, without_probabilities
from fencepost.parsing.parser import Parser
from fencepost.parsing.workers import Workers
from fencepost.trees.tree import Tree

IsWaiting: TypeAlias = Callable[[], bool]


def analyze_items(
    parser: Parser, workers: Workers, items: Iterable[Item], is_waiting: IsWaiting, arguments: Namespace
) -> Iterator[tuple[list[Item], Iterator[Analysis]]]:
    """Chunks of the input, each with the analyses of its parsable items."""
    size = arguments.batch_tokens
    needs_scores = arguments.kbest or arguments.probabilities or arguments.decoding != "best"
    if arguments.functions and not needs_scores:
        for chunk, found in workers.do_items(parser.best_with_functions(size), items, is_waiting):
            yield chunk, iter(found)
        return
    if not needs_scores:
        for chunk, pairs in workers.do_items(parser.best_trees(size), items, is_waiting):
            yield chunk, starmap(_tree_alone if arguments.format == "brackets" else without_probabilities, pairs)
        return
    job = parser.analyses(
        arguments.kbest or 0, decoding=arguments.decoding, batch_tokens=size, functions=arguments.functions
    )
    for chunk, analyses in workers.do_items(job, items, is_waiting):
        yield chunk, iter(analyses) if arguments.probabilities else map(hide_probabilities, analyses)


def _tree_alone(tree: Tree, score: float) -> Analysis:
    """The analysis for an output without constituents. To list them, the tree would have to be built."""
    return Analysis(tree, score, ())
