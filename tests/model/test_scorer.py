"""Scores of spans, tags and functions, against the paper's formula one span at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from fencepost.features.constituents import Constituents
from fencepost.model.parser_model import TorchConstituents
from fencepost.model.scorer import FunctionScorer, SpanScorer, TagScorer
from tests.model.model_samples import SENTENCES, torch_batch

D_MODEL, LABELS = 8, 4
BATCH = torch_batch(SENTENCES)


def vectors() -> Tensor:
    torch.manual_seed(2)
    return torch.randn(sum(len(sentence) + 2 for sentence in SENTENCES), D_MODEL)


def scorer() -> SpanScorer:
    torch.manual_seed(3)
    scorer = SpanScorer(D_MODEL, 6, LABELS)
    nn.init.normal_(scorer.norm.weight)
    nn.init.normal_(scorer.norm.bias)
    return scorer


def naive_score(scorer: SpanScorer, y: Tensor, i: int, j: int) -> Tensor:
    """s(i, j, ·) without the empty label. y: [n + 2, d_model], the start token first."""
    forward, backward = y[:, 0::2], y[:, 1::2]
    v = torch.cat([forward[j] - forward[i], backward[j + 1] - backward[i + 1]])
    score: Tensor = scorer.output(torch.relu(scorer.norm(scorer.hidden(v))))
    return score


def test_each_span_scores_as_in_the_papers_formula_and_stands_where_documented() -> None:
    y, first_token, first_span = vectors(), 0, 0
    scores = scorer()(y, BATCH)
    for n in map(len, SENTENCES):
        sentence = y[first_token : first_token + n + 2]
        for i in range(n):
            for j in range(i + 1, n + 1):
                w = j - i
                place = first_span + (w - 1) * (n + 1) - w * (w - 1) // 2 + i
                torch.testing.assert_close(
                    scores[place, 1:], naive_score(scorer(), sentence, i, j), atol=1e-5, rtol=1e-5
                )
        first_token += n + 2
        first_span += n * (n + 1) // 2
    assert len(scores) == first_span


def test_a_chart_scored_a_piece_at_a_time_is_the_same_chart() -> None:
    module = scorer()
    fenceposts = module.project(vectors(), BATCH)
    pieces = zip(BATCH.span_starts.split(7), BATCH.span_ends.split(7), strict=True)
    scores = torch.cat([module.score(fenceposts, starts, ends) for starts, ends in pieces])
    torch.testing.assert_close(scores, module(vectors(), BATCH))


def test_the_empty_label_scores_exactly_zero() -> None:
    scores = scorer()(vectors(), BATCH)
    assert scores.shape[1] == LABELS
    assert (scores[:, 0] == 0).all()


def test_the_scorer_computes_in_full_precision_under_autocast() -> None:
    expected = scorer()(vectors(), BATCH)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(scorer()(vectors(), BATCH), expected)


def test_tags_are_scored_for_words_and_not_for_start_and_stop() -> None:
    tagger, y = TagScorer(D_MODEL, 6, 3), vectors()
    words = torch.cat([y[1:7], y[9:10], y[12:16], y[18:20]])
    torch.testing.assert_close(tagger(y, BATCH), tagger.layers(words))


@pytest.mark.parametrize("size", [0, 5])
def test_each_constituent_scores_by_its_ends_its_label_its_parent_and_its_words(size: int) -> None:
    torch.manual_seed(4)
    y, functions = vectors(), FunctionScorer(D_MODEL, 6, labels=5, functions=3, words=size)
    words = torch.randn(len(y), size) if size else None
    nn.init.normal_(functions.norm.weight)
    nn.init.normal_(functions.norm.bias)
    sentences, starts, ends = np.array([0, 0, 2, 3]), np.array([0, 2, 1, 0]), np.array([6, 5, 4, 1])
    labels, parents = np.array([1, 2, 4, 3]), np.array([0, 1, 1, 0])
    lengths = np.array([len(sentence) for sentence in SENTENCES])
    constituents = Constituents(sentences, starts, ends, labels, parents)
    scores = functions(y, BATCH, TorchConstituents.of(constituents, lengths), words)
    assert scores.shape == (4, 3)
    for number, sentence in enumerate(sentences.tolist()):
        first = int((lengths[:sentence] + 2).sum())
        own = y[first : first + lengths[sentence] + 2]
        forward, backward = own[:, 0::2], own[:, 1::2]
        i, j = int(starts[number]), int(ends[number])
        both = torch.cat([forward[i], backward[i + 1], forward[j], backward[j + 1]])
        context = functions.label.weight[labels[number]] + functions.parent.weight[parents[number]]
        if functions.words is not None and words is not None:
            context = context + functions.words(torch.cat([words[first + i + 1], words[first + j]]))
        expected = functions.output(torch.relu(functions.norm(functions.hidden(both) + context)))
        torch.testing.assert_close(scores[number], expected, atol=1e-5, rtol=1e-5)
