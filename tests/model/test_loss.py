from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.backends.charts import decode, inside, marginals
from fencepost.chart import packing
from fencepost.chart.inside import log_partition
from fencepost.chart.scores import SpanScores
from fencepost.model import loss as model_loss
from fencepost.model.loss import Beliefs, function_loss

margin_loss, crf_loss = partial(model_loss.margin_loss, decode=decode), partial(model_loss.crf_loss, inside=inside)
soft_crf_loss = partial(model_loss.soft_crf_loss, inside=inside)
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
ON_EACH_DEVICE = pytest.mark.parametrize("device", DEVICES)
ROOT = pytest.mark.parametrize("force_root", [False, True])
BOTH = pytest.mark.parametrize("loss", [margin_loss, crf_loss])

Span = tuple[int, int]
Loss = Callable[..., torch.Tensor]


def binary_trees(start: int, end: int) -> Iterator[list[Span]]:
    if end - start == 1:
        yield [(start, end)]
    for split in range(start + 1, end):
        for left in binary_trees(start, split):
            for right in binary_trees(split, end):
                yield [(start, end), *left, *right]


def place(length: int, span: Span) -> int:
    return int(packing.cell_index(np.int64(length), np.int64(span[0]), np.int64(span[1])))


def example(lengths: list[int], labels: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Random scores [S, labels + 1], and a random gold tree with a labelled root for each sentence."""
    random = np.random.default_rng(seed)
    gold: list[int] = []
    for length in lengths:
        trees = list(binary_trees(0, length))
        cells = [0] * (length * (length + 1) // 2)
        for span in trees[random.integers(len(trees))]:
            cells[place(length, span)] = int(random.integers(labels + 1))
        cells[-1] = 1
        gold += cells
    scores = random.normal(0, 1.5, (len(gold), labels + 1))
    scores[:, 0] = 0
    return torch.tensor(scores), torch.tensor(gold)


def worst_excess(scores: torch.Tensor, gold: torch.Tensor, length: int, force_root: bool) -> float:
    """max over trees of s(T) + Δ(T, T*), less s(T*), by trying every tree."""
    augmented = scores + 1
    augmented[torch.arange(len(gold)), gold] -= 1
    if force_root:
        augmented[-1, 0] = -torch.inf
    cells = augmented.max(dim=1).values
    best = max(sum(float(cells[place(length, span)]) for span in tree) for tree in binary_trees(0, length))
    return best - float(scores[torch.arange(len(gold)), gold].sum())


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 6])
@ROOT
def test_the_margin_is_violated_most_by_the_tree_found(length: int, force_root: bool) -> None:
    for seed in range(5):
        scores, gold = example([length], labels=3, seed=seed)
        loss = margin_loss(scores, gold, torch.tensor([length]), force_root)
        expected = max(0.0, worst_excess(scores, gold, length, force_root))
        assert loss.item() == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(0, 1000), st.floats(0, 12), st.booleans())
@settings(deadline=None, max_examples=50)
def test_the_margin_loss_is_zero_exactly_where_the_margin_holds(
    lengths: list[int], seed: int, favour: float, force_root: bool
) -> None:
    scores, gold = example(lengths, labels=2, seed=seed)
    scores += favour * torch.nn.functional.one_hot(gold, 3)
    scores[gold == 0, 1:] -= favour
    scores[:, 0] = 0
    losses = margin_loss(scores, gold, torch.tensor(lengths), force_root)
    counts = [length * (length + 1) // 2 for length in lengths]
    for loss, length, own, golden in zip(losses, lengths, scores.split(counts), gold.split(counts), strict=True):
        holds = worst_excess(own, golden, length, force_root) <= 1e-9
        assert (loss == 0) if holds else (loss > 0)


def test_a_constituent_taken_for_none_costs_one() -> None:
    scores = torch.tensor([[0.0, 0.25]])
    assert margin_loss(scores, torch.tensor([1]), torch.tensor([1])).tolist() == [0.75]


def test_a_constituent_where_none_is_costs_one() -> None:
    scores = torch.tensor([[0.0, 0.25]])
    assert margin_loss(scores, torch.tensor([0]), torch.tensor([1])).tolist() == [1.25]


@ON_EACH_DEVICE
def test_the_likelihood_counts_each_tree_once(device: str) -> None:
    lengths = [4, 1, 3]
    scores, gold = example(lengths, labels=2, seed=0)
    every = log_partition(SpanScores.from_packed(scores.float().numpy(), np.array(lengths)))
    right = torch.stack([part.sum() for part in scores.gather(1, gold[:, None]).split([10, 1, 6])])
    loss = crf_loss(scores.float().to(device), gold.to(device), torch.tensor(lengths, device=device))
    assert loss.cpu().numpy() == pytest.approx(every - right.numpy(), abs=1e-4)


def test_probabilities_of_all_trees_add_to_one() -> None:
    scores, _ = example([2], labels=1, seed=1)
    every = [torch.tensor(labels) for labels in np.ndindex(2, 2, 2)]
    losses = torch.cat([crf_loss(scores, gold, torch.tensor([2])) for gold in every])
    assert losses.neg().exp().sum().item() == pytest.approx(1)


@BOTH
@ROOT
def test_gradients_are_slopes(loss: Loss, force_root: bool) -> None:
    lengths = torch.tensor([4, 1, 3])
    scores, gold = example([4, 1, 3], labels=2, seed=4)
    free = scores[:, 1:].clone().requires_grad_()

    def with_empty_label(values: torch.Tensor) -> torch.Tensor:
        return loss(torch.nn.functional.pad(values, (1, 0)), gold, lengths, force_root)

    assert (with_empty_label(free) > 0).all()
    assert torch.autograd.gradcheck(with_empty_label, free)


@BOTH
@ON_EACH_DEVICE
def test_scores_of_half_precision_are_added_in_single(loss: Loss, device: str) -> None:
    lengths = torch.tensor([6, 5], device=device)
    scores, gold = example([6, 5], labels=3, seed=5)
    half = scores.to(device, torch.bfloat16).requires_grad_()
    losses = loss(half, gold.to(device), lengths)
    assert losses.dtype == torch.float32
    assert losses.tolist() == pytest.approx(loss(half.double(), gold.to(device), lengths).tolist(), rel=1e-4)
    losses.sum().backward()
    assert half.grad is not None
    assert half.grad.dtype == torch.bfloat16


@BOTH
def test_a_sentence_has_the_same_loss_in_any_company(loss: Loss) -> None:
    lengths = [3, 6, 1, 5]
    scores, gold = example(lengths, labels=2, seed=6)
    together = loss(scores, gold, torch.tensor(lengths))
    counts = [length * (length + 1) // 2 for length in lengths]
    for number, (own, golden) in enumerate(zip(scores.split(counts), gold.split(counts), strict=True)):
        alone = loss(own, golden, torch.tensor(lengths[number : number + 1]))
        assert alone.item() == pytest.approx(together[number].item())


@BOTH
def test_scores_that_are_not_numbers_have_a_loss_that_is_not_a_number(loss: Loss) -> None:
    scores, gold = example([5, 3], labels=2, seed=9)
    scores[2, 1], scores[6, 2] = torch.nan, torch.inf
    found = loss(scores.float(), gold, torch.tensor([5, 3]))
    assert found[0].isnan()
    assert found[1].isfinite()


def test_the_margin_loss_leaves_its_scores_alone() -> None:
    scores, gold = example([5], labels=2, seed=7)
    before = scores.clone()
    margin_loss(scores, gold, torch.tensor([5]), force_root=True)
    assert torch.equal(scores, before)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")  # so torch says
@pytest.mark.skipif(not torch.cuda.is_available(), reason="is about a GPU")
@BOTH
@ROOT
def test_the_host_never_waits_for_the_device(loss: Loss, force_root: bool) -> None:
    scores, gold = example([6, 5], labels=3, seed=8)
    scores, gold, lengths = scores.float().cuda().requires_grad_(), gold.cuda(), torch.tensor([6, 5]).cuda()
    loss(scores, gold, lengths, force_root).sum().backward()  # compiles the kernels
    torch.cuda.set_sync_debug_mode("error")
    try:
        loss(scores, gold, lengths, force_root).sum().backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_the_margin_loss_is_not_negative_where_the_gold_tree_is_not_allowed() -> None:
    scores, bare_word = torch.tensor([[0.0, -5.0]]), torch.tensor([0])
    assert margin_loss(scores, bare_word, torch.tensor([1]), force_root=True).tolist() == [0.0]


def certain(gold: torch.Tensor) -> Beliefs:
    (cells,) = gold.nonzero(as_tuple=True)
    return Beliefs(cells, gold[cells], torch.ones(len(cells), dtype=torch.float64))


def beliefs_of(scores: torch.Tensor, lengths: torch.Tensor, force_root: bool) -> Beliefs:
    probable, _ = marginals(scores, lengths, force_root)
    cells, labels = (probable > 0).nonzero(as_tuple=True)
    return Beliefs(cells, labels, probable[cells, labels])


@ROOT
def test_a_certain_teacher_teaches_as_the_gold_tree_does(force_root: bool) -> None:
    lengths = torch.tensor([4, 1, 3])
    scores, gold = example([4, 1, 3], labels=2, seed=6)
    expected = crf_loss(scores, gold, lengths, force_root)
    assert soft_crf_loss(scores, certain(gold), lengths, force_root).tolist() == pytest.approx(expected.tolist())


@ROOT
def test_the_soft_loss_is_the_mean_over_the_trees_that_a_teacher_would_draw(force_root: bool) -> None:
    length = torch.tensor([3])
    student, _ = example([3], labels=2, seed=7)
    teacher, _ = example([3], labels=2, seed=8)
    # Cells 3 and 4 are the words 1-2 and 2-3, which cross.
    every = [torch.tensor(tree) for tree in np.ndindex(*[3] * 6) if not (tree[3] and tree[4])]
    if force_root:
        every = [tree for tree in every if tree[5]]
    drawn = torch.cat([crf_loss(teacher, tree, length, force_root) for tree in every]).neg().exp()
    assert drawn.sum().item() == pytest.approx(1)
    losses = torch.cat([crf_loss(student, tree, length, force_root) for tree in every])
    found = soft_crf_loss(student, beliefs_of(teacher, length, force_root), length, force_root)
    assert found.tolist() == pytest.approx([float((drawn * losses).sum())])


def test_the_soft_loss_of_each_sentence_is_its_own() -> None:
    lengths = torch.tensor([4, 2])
    scores, _ = example([4, 2], labels=2, seed=9)
    beliefs = beliefs_of(example([4, 2], labels=2, seed=10)[0], lengths, False)
    together = soft_crf_loss(scores, beliefs, lengths)
    second = Beliefs(*(part[beliefs.cells >= 10] for part in beliefs))
    alone = soft_crf_loss(scores[10:], second._replace(cells=second.cells - 10), lengths[1:])
    assert together[1].item() == pytest.approx(alone.item())
    assert together[0].item() != pytest.approx(alone.item())


@ROOT
def test_a_student_that_agrees_has_nothing_to_learn(force_root: bool) -> None:
    lengths = torch.tensor([5, 2])
    scores, _ = example([5, 2], labels=3, seed=11)
    beliefs = beliefs_of(scores, lengths, force_root)
    free = scores[:, 1:].clone().requires_grad_()
    soft_crf_loss(torch.nn.functional.pad(free, (1, 0)), beliefs, lengths, force_root).sum().backward()
    assert free.grad is not None
    assert free.grad.abs().max() < 1e-9


@ROOT
def test_gradients_of_the_soft_loss_are_slopes(force_root: bool) -> None:
    lengths = torch.tensor([4, 1, 3])
    scores, _ = example([4, 1, 3], labels=2, seed=12)
    beliefs = beliefs_of(example([4, 1, 3], labels=2, seed=13)[0], lengths, force_root)

    def loss(values: torch.Tensor) -> torch.Tensor:
        return soft_crf_loss(torch.nn.functional.pad(values, (1, 0)), beliefs, lengths, force_root)

    assert torch.autograd.gradcheck(loss, scores[:, 1:].clone().requires_grad_())


def test_the_loss_of_one_allowed_function_is_cross_entropy() -> None:
    scores, gold = torch.randn(6, 4, dtype=torch.float64), torch.tensor([0, 1, 2, 3, 3, 0])
    allowed = torch.nn.functional.one_hot(gold, 4).bool()
    expected = torch.nn.functional.cross_entropy(scores, gold, reduction="none")
    torch.testing.assert_close(function_loss(scores, allowed), expected)


def test_any_of_several_allowed_functions_will_do() -> None:
    scores = torch.tensor([[0.0, 30.0, 0.0], [0.0, 0.0, 30.0], [30.0, 0.0, 0.0]])
    allowed = torch.tensor([[False, True, True]]).expand(3, 3)
    first, second, third = function_loss(scores, allowed).tolist()
    assert first < 1e-6
    assert second < 1e-6
    assert third > 20
    assert function_loss(scores, torch.ones(3, 3, dtype=torch.bool)).tolist() == [0, 0, 0]


def test_gradients_of_the_function_loss_are_slopes() -> None:
    scores = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    allowed = torch.tensor([[1, 0, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1], [1, 0, 0, 1]]).bool()
    assert torch.autograd.gradcheck(lambda values: function_loss(values, allowed), scores)
