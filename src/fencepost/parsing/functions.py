"""Adds grammatical functions to analyses: to the labels of trees (``NP-SBJ``), and to their constituents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fencepost.backends.base import FunctionReader
from fencepost.features.constituents import Constituents
from fencepost.features.vocabularies import Vocabularies
from fencepost.parsing.confidence import Analysis, Constituent
from fencepost.trees.functions import with_functions
from fencepost.trees.spans import spans_below_root
from fencepost.trees.tree import Tree

Function = tuple[str | None, float]  # None if the phrase has no function; and its probability


class FunctionWriter:
    """Writes the most probable function of each constituent into analyses."""

    def __init__(self, vocabularies: Vocabularies) -> None:
        assert vocabularies.functions is not None
        self._labels = vocabularies.labels
        self._names = (None, *vocabularies.functions.symbols)

    def write(self, analyses: Sequence[Analysis], read: FunctionReader) -> list[Analysis]:
        """The analyses of all sentences of a batch, in its order, with functions."""
        trees = [(row, tree) for row, each in enumerate(analyses) for tree in _trees(each)]
        functions = iter(self._functions(trees, read))
        return [self._written(analysis, [next(functions) for _ in _trees(analysis)]) for analysis in analyses]

    def _functions(self, trees: Sequence[tuple[int, Tree]], read: FunctionReader) -> list[list[Function]]:
        """The function of each phrase of each tree. A tree comes with the number of its sentence."""
        spans = [spans_below_root(tree) for _, tree in trees]
        constituents = Constituents.of(spans, self._labels)
        rows = np.array([row for row, _ in trees], np.int64)
        probabilities = read(replace(constituents, sentences=rows[constituents.sentences]))
        best = [self._names[number] for number in probabilities.argmax(axis=1).tolist()]
        found = iter(zip(best, probabilities.max(axis=1).tolist(), strict=True))
        return [[next(found) for span in own for _ in span.label] for own in spans]

    def _written(self, analysis: Analysis, functions: Sequence[Sequence[Function]]) -> Analysis:
        own, *others = functions
        return replace(
            analysis,
            tree=_labelled(analysis.tree, own),
            constituents=_parts(analysis.constituents, own),
            trees=tuple(
                replace(one, tree=_labelled(one.tree, its), constituents=_parts(one.constituents, its))
                for one, its in zip(analysis.trees, others, strict=True)
            ),
        )


def _trees(analysis: Analysis) -> list[Tree]:
    return [analysis.tree, *(one.tree for one in analysis.trees)]


def _parts(constituents: Sequence[Constituent], functions: Sequence[Function]) -> tuple[Constituent, ...]:
    if not constituents:  # only the best tree of a sentence that is too long for probabilities
        return ()
    return tuple(
        replace(part, function=function, function_probability=probability)
        for part, (function, probability) in zip(constituents, functions, strict=True)
    )


def _labelled(tree: Tree, functions: Sequence[Function]) -> Tree:
    return with_functions(tree, [function for function, _ in functions])
