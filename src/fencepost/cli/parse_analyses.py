"""The middle of ``fencepost parse``: checks and parses the sentences of the input, chunk by chunk and in order."""

from __future__ import annotations

from argparse import Namespace
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import starmap
from operator import attrgetter
from typing import TypeAlias

from fencepost.cli.parse_input import Item
from fencepost.parsing.chunks import growing_chunks
from fencepost.parsing.confidence import Analysis, without_probabilities
from fencepost.parsing.jobs import Job, Result
from fencepost.parsing.parser import Parser
from fencepost.parsing.workers import Workers
from fencepost.trees.treebank import Sentence

IsWaiting: TypeAlias = Callable[[], bool]


def analyze_items(
    parser: Parser, workers: Workers, items: Iterable[Item], is_waiting: IsWaiting, arguments: Namespace
) -> Iterator[tuple[list[Item], Iterator[Analysis]]]:
    """Chunks of the input, each with the analyses of its parsable items."""
    size = arguments.batch_tokens
    needs_scores = arguments.kbest or arguments.probabilities or arguments.decoding != "best"
    if arguments.functions and not needs_scores:
        for chunk, found in _do(parser.best_with_functions(size), parser, workers, items, is_waiting):
            yield chunk, iter(found)
        return
    if not needs_scores:
        for chunk, pairs in _do(parser.best_trees(size), parser, workers, items, is_waiting):
            yield chunk, starmap(without_probabilities, pairs)
        return
    job = parser.analyses(
        arguments.kbest or 0, decoding=arguments.decoding, batch_tokens=size, functions=arguments.functions
    )
    for chunk, analyses in _do(job, parser, workers, items, is_waiting):
        yield chunk, iter(analyses) if arguments.probabilities else map(_hide_probabilities, analyses)


def _do(
    job: Job[Result], parser: Parser, workers: Workers, items: Iterable[Item], is_waiting: IsWaiting
) -> Iterator[tuple[list[Item], list[Result]]]:
    """Chunks of the input, each with the results of its parsable items."""
    unfinished: deque[list[Item]] = deque()  # chunks that were read but whose results aren't written yet

    def sentences() -> Iterator[list[Sentence]]:
        number = 1
        for chunk in growing_chunks(items, attrgetter("length"), job.budget, workers.largest_chunk, is_waiting):
            unfinished.append(chunk)
            parsable = (item.text_sentence.sentence() for item in chunk if item.parsable)
            checked = list(parser.checked(parsable, number))
            number += len(checked)
            yield checked

    for results in workers.do_chunks(job, sentences(), is_waiting):
        yield unfinished.popleft(), results


def _hide_probabilities(analysis: Analysis) -> Analysis:
    """Drops the probabilities that were computed only to rank k trees."""
    return replace(analysis, constituents=tuple(replace(part, probability=None) for part in analysis.constituents))
