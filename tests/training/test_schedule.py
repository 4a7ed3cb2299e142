from __future__ import annotations

import pytest

from fencepost.config.settings import TrainConfig
from fencepost.training.schedule import Schedule

CONFIG = TrainConfig(learning_rate=0.8, warmup_batches=4, patience_epochs=2.0, max_halvings=2)


def test_the_rate_rises_linearly_and_then_stays() -> None:
    schedule = Schedule()
    assert [schedule.rate(step, CONFIG) for step in (1, 2, 4, 5, 500)] == pytest.approx([0.2, 0.4, 0.8, 0.8, 0.8])


def test_the_rate_is_halved_after_the_patience_in_epochs_without_gain() -> None:
    schedule = Schedule()
    assert schedule.record(50.0, 1.0, CONFIG)
    for epoch in (1.5, 2.0, 2.5, 3.0):
        schedule.record(50.0, epoch, CONFIG)  # equal is no gain
    assert schedule.rate(10, CONFIG) == pytest.approx(0.8)
    schedule.record(49.0, 3.5, CONFIG)
    assert schedule.rate(10, CONFIG) == pytest.approx(0.4)


def test_a_gain_starts_the_patience_afresh_but_keeps_the_lower_rate() -> None:
    schedule = Schedule(best_f1=50.0, waiting_since=1.0, halvings=1, halvings_without_gain=1)
    assert schedule.record(51.0, 9.0, CONFIG)
    assert schedule == Schedule(best_f1=51.0, waiting_since=9.0, halvings=1)


def test_checks_during_warm_up_do_not_use_up_patience() -> None:
    schedule = Schedule(best_f1=50.0)
    for epoch in range(1, 20):
        schedule.record(1.0, epoch, CONFIG, warming=True)
    assert schedule.halvings == 0


def test_training_is_exhausted_when_more_halvings_in_a_row_than_allowed_did_not_help() -> None:
    schedule = Schedule(best_f1=50.0)
    epoch = 0.0
    while not schedule.exhausted(CONFIG):
        epoch += 0.25
        schedule.record(1.0, epoch, CONFIG)
    assert schedule.halvings == 3
    assert epoch == pytest.approx(3 * 2.25)


def test_a_rate_that_was_halved_stays_halved_after_a_gain() -> None:
    config, schedule = TrainConfig(learning_rate=1.0, warmup_batches=0, patience_epochs=1.0), Schedule()
    for f1, epoch in ((50.0, 1.0), (40.0, 3.0), (60.0, 4.0)):
        schedule.record(f1, epoch, config)
    assert schedule.halvings_without_gain == 0
    assert schedule.rate(100, config) == 0.5
