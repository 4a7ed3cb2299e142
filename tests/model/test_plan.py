"""Attention plans: masks and switched-off terms."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fencepost.config.settings import PlanConfig
from fencepost.errors import ConfigError
from fencepost.model.plan import AttentionPlan, Terms
from fencepost.model.sequences import Layout

STRICT_1 = """
    xx....
    xxx...
    .xxx..
    ..xxx.
    ...xxx
    ....xx
"""
RELAXED_1 = """
    xxxxxxxx
    xxxxxxxx
    xxxx..xx
    xxxxx.xx
    xx.xxxxx
    xx..xxxx
    xxxxxxxx
    xxxxxxxx
"""


def drawn(mask: torch.Tensor) -> list[str]:
    return ["".join("x" if allowed else "." for allowed in row) for row in mask.tolist()]


def test_strict_window_allows_pairs_within_the_distance() -> None:
    mask = AttentionPlan(window=1).mask(torch.tensor([6]), width=6)
    assert drawn(mask[0, 0]) == STRICT_1.split()


def test_relaxed_window_of_six_tokens_frees_all_but_the_two_in_the_middle() -> None:
    mask = AttentionPlan(window=0, relaxed=True).mask(torch.tensor([6]), width=6)
    assert drawn(mask[0, 0]) == ["xxxxxx", "xxxxxx", "xxx.xx", "xx.xxx", "xxxxxx", "xxxxxx"]


def test_relaxed_window_frees_start_first_word_last_word_and_stop() -> None:
    mask = AttentionPlan(window=1, relaxed=True).mask(torch.tensor([8]), width=8)
    assert drawn(mask[0, 0]) == RELAXED_1.split()


def test_windows_end_with_the_shorter_sentence() -> None:
    plan = AttentionPlan(window=1, relaxed=True)
    mask = plan.mask(torch.tensor([8, 6]), width=8)
    assert torch.equal(mask[1, 0, :6, :6], plan.mask(torch.tensor([6]), width=6)[0, 0])


@pytest.mark.parametrize(
    "plan", [AttentionPlan(), AttentionPlan(window=1), AttentionPlan(window=1, relaxed=True), AttentionPlan(longest=4)]
)
def test_nothing_attends_to_padding(plan: AttentionPlan) -> None:
    mask = plan.mask(torch.tensor([3, 5]), width=5).expand(2, 1, 5, 5)
    assert not mask[0, 0, :, 3:].any()


@pytest.mark.parametrize("plan", [AttentionPlan(), AttentionPlan(window=0), AttentionPlan(window=0, relaxed=True)])
def test_every_row_attends_to_something_even_in_padding(plan: AttentionPlan) -> None:
    assert plan.mask(torch.tensor([3, 8]), width=8).any(-1).all()


def test_without_a_window_the_mask_has_a_single_row() -> None:
    mask = AttentionPlan().mask(torch.tensor([2, 3]), width=4)
    assert mask.shape == (2, 1, 1, 4)
    assert drawn(mask[:, 0, 0]) == ["xx..", "xxx."]


def test_all_layers_use_both_terms_unless_told_otherwise() -> None:
    assert AttentionPlan().terms(1) == Terms(content=True, position=True)


def test_terms_are_switched_by_layer() -> None:
    plan = AttentionPlan(content=(2,), position=())
    assert plan.terms(1) == Terms(content=False, position=False)
    assert plan.terms(2) == Terms(content=True, position=False)


def test_terms_cant_be_switched_in_a_model_that_mixes_them() -> None:
    with pytest.raises(ConfigError, match="factored"):
        AttentionPlan(content=()).require_factored(False)


def test_a_window_needs_no_factored_model() -> None:
    AttentionPlan(window=3, relaxed=True).require_factored(False)


def test_a_plan_says_what_its_configuration_says() -> None:
    config = PlanConfig(window=5, relaxed=True, content=(1,), position=(2, 3))
    assert AttentionPlan.of(config) == AttentionPlan(window=5, relaxed=True, content=(1,), position=(2, 3))


def test_in_a_long_sentence_tokens_attend_to_a_third_of_the_longest_length() -> None:
    mask = AttentionPlan(longest=5).mask(torch.tensor([6]), width=6)
    assert drawn(mask[0, 0]) == STRICT_1.split()


def test_in_a_long_sentence_positions_start_again() -> None:
    layout = Layout.of(np.array([5, 7]), torch.device("cpu"))
    assert AttentionPlan(longest=5).row_positions(layout).tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]


def test_a_long_sentence_changes_nothing_for_the_short_one_beside_it() -> None:
    mask = AttentionPlan(longest=5).mask(torch.tensor([9, 5]), width=9)
    assert mask[1, 0, :, :5].all()


def test_padding_in_a_long_batch_attends_to_something() -> None:
    assert AttentionPlan(longest=3).mask(torch.tensor([12, 4]), width=12)[:, 0].any(dim=-1).all()


def test_a_plan_without_long_sentences_costs_no_square_mask() -> None:
    assert AttentionPlan(longest=8).mask(torch.tensor([8, 3]), width=8).shape == (2, 1, 1, 8)


def test_what_a_relaxed_window_exempts_is_exempt_in_a_long_sentence_too() -> None:
    long = AttentionPlan(window=1, relaxed=True, longest=5).mask(torch.tensor([8]), width=8)
    assert drawn(long[0, 0]) == RELAXED_1.split()
    strict = AttentionPlan(window=1, longest=5).mask(torch.tensor([6]), width=6)
    assert drawn(strict[0, 0]) == STRICT_1.split()
