"""What must hold of every model, whatever its variant."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from fencepost.model.parser_model import ParserModel
from fencepost.model.plan import AttentionPlan
from tests.model.model_samples import (
    ATTENTION_VARIANTS,
    LEXICALS,
    SENTENCES,
    VARIANTS,
    WORDS,
    small_config,
    small_model,
    torch_batch,
)

PLANS = {
    "full": AttentionPlan(),
    "strict": AttentionPlan(window=1),
    "relaxed": AttentionPlan(window=1, relaxed=True),
    "no content": AttentionPlan(content=()),
    "position in layer 2": AttentionPlan(position=(2,)),
}
FACTORED = small_model()
sentences = st.lists(st.sampled_from(WORDS[3:]), min_size=1, max_size=9)


def scores_of_each(
    model: ParserModel, sentences: Sequence[Sequence[str]], plan: AttentionPlan | None = None
) -> list[Tensor]:
    """[n(n+1)/2, labels] of each sentence, parsed in one batch."""
    with torch.no_grad():
        scores = model(torch_batch(sentences), plan).span_scores
    return list(scores.split([len(sentence) * (len(sentence) + 1) // 2 for sentence in sentences]))


def assert_company_does_not_matter(model: ParserModel, plan: AttentionPlan | None = None) -> None:
    together = scores_of_each(model, SENTENCES, plan)
    for sentence, scores in zip(SENTENCES, together, strict=True):
        torch.testing.assert_close(scores, scores_of_each(model, [sentence], plan)[0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", VARIANTS)
def test_scores_dont_depend_on_the_company_in_the_batch(name: str) -> None:
    assert_company_does_not_matter(small_model(small_config(**VARIANTS[name])))


@pytest.mark.parametrize("lexical", LEXICALS)
def test_word_vectors_dont_depend_on_the_company_in_the_batch(lexical: tuple[str, ...]) -> None:
    assert_company_does_not_matter(small_model(small_config(lexical)))


@pytest.mark.parametrize("name", PLANS)
def test_plans_dont_depend_on_the_company_in_the_batch(name: str) -> None:
    assert_company_does_not_matter(FACTORED, PLANS[name])


@settings(max_examples=25, deadline=None)
@given(st.lists(sentences, min_size=1, max_size=5), st.randoms())
def test_scores_dont_depend_on_the_order_of_the_batch(batch: list[list[str]], random: object) -> None:
    order = list(range(len(batch)))
    random.shuffle(order)  # type: ignore[attr-defined]
    straight, shuffled = scores_of_each(FACTORED, batch), scores_of_each(FACTORED, [batch[k] for k in order])
    for place, k in enumerate(order):
        torch.testing.assert_close(shuffled[place], straight[k], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("name", ATTENTION_VARIANTS)
def test_window_wider_than_the_sentence_changes_nothing(name: str, relaxed: bool) -> None:
    model = small_model(small_config(**ATTENTION_VARIANTS[name]))
    widest = max(map(len, SENTENCES)) + 1
    wide = scores_of_each(model, SENTENCES, AttentionPlan(window=widest, relaxed=relaxed))
    for scores, expected in zip(wide, scores_of_each(model, SENTENCES), strict=True):
        torch.testing.assert_close(scores, expected, atol=1e-5, rtol=1e-5)


def test_a_narrow_window_changes_scores() -> None:
    narrow = scores_of_each(FACTORED, SENTENCES, AttentionPlan(window=1))
    assert not torch.allclose(narrow[0], scores_of_each(FACTORED, SENTENCES)[0], atol=1e-3)


def test_naming_all_layers_is_the_same_as_naming_none() -> None:
    named = scores_of_each(FACTORED, SENTENCES, AttentionPlan(content=(1, 2), position=(1, 2)))
    for scores, expected in zip(named, scores_of_each(FACTORED, SENTENCES), strict=True):
        assert torch.equal(scores, expected)


def test_the_same_seed_builds_the_same_model() -> None:
    assert torch.equal(
        scores_of_each(small_model(seed=5), SENTENCES)[0], scores_of_each(small_model(seed=5), SENTENCES)[0]
    )


def test_weights_saved_and_loaded_give_the_same_scores() -> None:
    other = small_model(seed=5)
    other.load_state_dict(FACTORED.state_dict())
    assert torch.equal(scores_of_each(other, SENTENCES)[0], scores_of_each(FACTORED, SENTENCES)[0])
