"""Triton's attention within sequences laid end to end, against a softmax taken one sequence at a time."""

from __future__ import annotations

import math
from itertools import product
from unittest import mock

import pytest
import torch
from torch import Tensor

from fencepost.model.cuda.available import LARGEST, OLDEST, has_triton
from fencepost.model.cuda.packed_attention import attend_packed
from fencepost.model.heads import HeadSizes
from fencepost.model.plan import EVERYWHERE, AttentionPlan, Reach
from tests.model.cuda.test_packed_attention import encoder, inputs, run
from tests.model.interpreted import run_interpreted

LENGTHS = 1, 3, 33, 0, 70, 2, 0  # sequences of several tiles, with part of a tile, and empty ones
SHORT = 1, 3, 17, 0, 34, 2, 0
HEADS = 2
REACHES = Reach(), *(Reach(window, relaxed) for window in (0, 1, 7, 40) for relaxed in (False, True))
HAS_KERNELS = has_triton() and torch.cuda.is_available() and torch.cuda.get_device_capability() >= OLDEST
ON_A_GPU = pytest.mark.skipif(not HAS_KERNELS, reason="is about a GPU")


def starts_of(lengths: tuple[int, ...]) -> Tensor:
    return torch.tensor([0, *lengths]).cumsum(0).int()


def rows_of(
    lengths: tuple[int, ...], d_k: int, d_v: int, dtype: torch.dtype = torch.float32, device: str = "cpu"
) -> list[Tensor]:
    """Queries, keys and values that learn; queries and keys are halves of one tensor, as in the model."""
    torch.manual_seed(0)
    both = torch.randn(sum(lengths), 2 * HEADS, d_k)
    rows = *both.chunk(2, 1), torch.randn(sum(lengths), d_v, HEADS).transpose(1, 2)
    return [tensor.to(device, dtype).requires_grad_() for tensor in rows]


def attended(
    rows: list[Tensor],
    starts: Tensor,
    dropout: float,
    reach: Reach,
    divisor: int | None = None,
    blocks: int = 1,
    joined: int = 1,
    distances: Tensor | None = None,
) -> Tensor:
    """By the kernels: a head's numbers in so many blocks; so many of queries, keys and values in the first tensor."""
    laid = [tensor.unflatten(-1, (blocks, -1)).permute(2, 0, 1, 3).flatten(-2) for tensor in rows]
    parts = [torch.cat(laid[:joined], -1), *laid[joined:]]
    sizes = HeadSizes(HEADS, rows[0].shape[2], rows[2].shape[2], divisor)
    average = attend_packed(parts, sizes, starts, dropout, reach, distances)
    by_rows: Tensor = average.unflatten(-1, (HEADS, -1)).permute(1, 2, 0, 3)
    return by_rows.flatten(-2)


def one_by_one(
    rows: list[Tensor],
    lengths: tuple[int, ...],
    reach: Reach = EVERYWHERE,
    kept: list[Tensor] | None = None,
    divisor: int | None = None,
    distances: Tensor | None = None,
) -> Tensor:
    """The formula. ``kept``: what remains of each p(i -> j) of each sequence after dropout, [heads, n, n]."""
    plan, averages = AttentionPlan(*reach), []
    for number, sequence in enumerate(zip(*(tensor.split(list(lengths)) for tensor in rows), strict=True)):
        query, key, value = (tensor.transpose(0, 1) for tensor in sequence)  # [heads, n, d]
        n = query.shape[1]
        allowed = plan.mask(torch.tensor([n], device=query.device), n)[0, 0]
        logits = query @ key.transpose(1, 2) / math.sqrt(divisor or query.shape[2])
        if distances is not None:
            farthest, place = distances.shape[1] // 2, torch.arange(n, device=query.device)
            apart = (place - place[:, None]).clamp(-farthest, farthest)
            logits = logits + distances[:, farthest + apart]
        p = logits.masked_fill(~allowed, -math.inf).softmax(-1)
        averages.append(((p if kept is None else p * kept[number]) @ value).transpose(0, 1))
    return torch.cat(averages)


def with_gradients(average: Tensor, rows: list[Tensor]) -> list[Tensor]:
    weights = torch.linspace(-1, 1, average.numel()).bfloat16()  # which is the same number in each type
    return [average, *torch.autograd.grad(average, rows, weights.view(average.shape).to(average))]


def assert_near(found: list[Tensor], expected: list[Tensor], tolerance: float) -> None:
    """Within the tolerance of the largest value of each tensor, or of 1."""
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        assert one.shape == other.shape
        assert (one.double() - other.double()).abs().max() <= tolerance * (1 + other.abs().max()), number


def assert_like_the_formula(
    d_k: int,
    d_v: int,
    dtype: torch.dtype,
    tolerance: float,
    reach: Reach = EVERYWHERE,
    device: str = "cpu",
    lengths: tuple[int, ...] = LENGTHS,
    divisor: int | None = None,
    farthest: int | None = None,
    **laid: int,
) -> None:
    rows = rows_of(lengths, d_k, d_v, dtype, device)
    apart = None if farthest is None else torch.randn(HEADS, 2 * farthest + 1, device=device)
    average = attended(rows, starts_of(lengths).to(device), 0.0, reach, divisor, distances=apart, **laid)
    exact = [tensor.detach().double().requires_grad_() for tensor in rows]
    expected = one_by_one(exact, lengths, reach, divisor=divisor, distances=apart)
    assert_near(with_gradients(average, rows), with_gradients(expected, exact), tolerance)


def assert_dropout_is_the_same_in_both_directions(
    device: str = "cpu", reach: Reach = EVERYWHERE, blocks: int = 1
) -> None:
    """Where values are rows of the identity, the average is what was left of the probabilities."""
    lengths, p = (3, 40, 0, 25), 0.25
    size = max(lengths)
    starts = starts_of(lengths).to(device)
    query, key, value = rows_of(lengths, 16, size, device=device)
    place = torch.cat([torch.arange(n) for n in lengths])
    identity = torch.eye(size)[place][:, None].expand(-1, HEADS, -1).to(device)

    def drawn(rows: list[Tensor]) -> Tensor:
        torch.manual_seed(7)
        return attended(rows, starts, p, reach, blocks=blocks)

    left = drawn([query, key, identity])
    kept = [(part[:, :, : len(part)] != 0).transpose(0, 1) / (1 - p) for part in left.split(list(lengths))]
    if reach == EVERYWHERE:
        there = kept[1].bool()
        assert abs(there.double().mean().item() - (1 - p)) < 0.03
        for both in (there[:, 1:] & there[:, :-1], there[:, :, 1:] & there[:, :, :-1], there[0] & there[1]):
            assert abs(both.double().mean().item() - (1 - p) ** 2) < 0.05  # rows, columns and heads are on their own
    rows = [query, key, value]
    assert_near(with_gradients(drawn(rows), rows), with_gradients(one_by_one(rows, lengths, reach, kept), rows), 1e-5)


def assert_dropout_is_fair(draws: int, device: str = "cpu") -> None:
    lengths = (5, 20)
    starts, rows = starts_of(lengths).to(device), rows_of(lengths, 16, 16, device=device)
    torch.manual_seed(0)
    mean = sum(attended(rows, starts, 0.25, EVERYWHERE) for _ in range(draws)) / draws
    expected = one_by_one(rows, lengths)
    # One probability that is kept or not, at worst all there is, deviates by sqrt(p / (1 - p)).
    most = 5 * math.sqrt(0.25 / 0.75 / draws) * rows[2].abs().max()
    assert (mean - expected).abs().max() < most
    assert (mean - expected).abs().mean() < most / 10


def assert_the_seed_decides(device: str = "cpu") -> None:
    starts, rows = starts_of(SHORT).to(device), rows_of(SHORT, 16, 16, device=device)

    def drawn(seed: int) -> list[Tensor]:
        torch.manual_seed(seed)
        return with_gradients(attended(rows, starts, 0.25, Reach(7, True)), rows)

    first, second, other = drawn(1), drawn(1), drawn(2)
    assert all(map(torch.equal, first, second))
    assert not any(map(torch.equal, first, other))


def assert_encoders_like_masked_ones() -> None:
    """Whole encoders, with every gradient."""
    plans = AttentionPlan(), AttentionPlan(window=2), AttentionPlan(content=(1,))
    relaxed = AttentionPlan(window=2, relaxed=True)
    for kind, plan in [("dense", relaxed), ("position", relaxed), *product(["block"], plans)]:
        model, (content, layout) = encoder(kind), inputs(3, 12, 2)
        expected = run(model, content, layout, plan)
        with mock.patch("fencepost.model.cuda.available.attention", return_value=True):
            found = run(model, content, layout, plan)
        assert_near(found, expected, 1e-4)
        assert not torch.equal(found[0], expected[0])  # it was not computed in the same way


INTERPRETED = """
    import torch
    from fencepost.model.plan import Reach
    from tests.model.cuda.test_attention_kernels import (
        REACHES,
        SHORT,
        assert_dropout_is_fair,
        assert_dropout_is_the_same_in_both_directions,
        assert_encoders_like_masked_ones,
        assert_like_the_formula,
        assert_the_seed_decides,
    )

    for reach in REACHES:
        assert_like_the_formula(16, 16, torch.float32, 1e-5, reach, lengths=SHORT)
    for reach in REACHES[::3]:
        assert_like_the_formula(16, 16, torch.float16, 2e-3, reach)
    for d_k, d_v in ((5, 5), (64, 64), (16, 5), (24, 64), (1, 1), (128, 16)):
        assert_like_the_formula(d_k, d_v, torch.float32, 1e-5, lengths=SHORT)
    assert_like_the_formula(64, 32, torch.float16, 2e-3, blocks=2, joined=3)
    assert_like_the_formula(16, 16, torch.float32, 1e-5, lengths=SHORT, divisor=2)
    for farthest in (1, 20, 100):
        assert_like_the_formula(16, 16, torch.float32, 1e-5, lengths=SHORT, farthest=farthest)
    for blocks, joined in ((2, 1), (2, 3), (1, 2)):
        assert_like_the_formula(10, 4, torch.float32, 1e-5, lengths=SHORT, blocks=blocks, joined=joined)
    assert_dropout_is_the_same_in_both_directions()
    assert_dropout_is_the_same_in_both_directions(reach=Reach(7), blocks=2)
    assert_dropout_is_the_same_in_both_directions(reach=Reach(7, True))
    assert_dropout_is_fair(draws=20)
    assert_the_seed_decides()
    assert_encoders_like_masked_ones()
"""


def test_kernels_agree_with_the_formula_when_interpreted() -> None:
    run_interpreted(INTERPRETED)


@ON_A_GPU
@pytest.mark.parametrize("reach", REACHES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 3e-3), (torch.bfloat16, 2e-2)])
def test_kernels_agree_with_the_formula_on_a_gpu(dtype: torch.dtype, tolerance: float, reach: Reach) -> None:
    assert_like_the_formula(64, 64, dtype, tolerance, reach, "cuda")
    assert_like_the_formula(64, 64, dtype, tolerance, reach, "cuda", lengths=(600, 5, 32, 64) * 20)


@ON_A_GPU
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
@pytest.mark.parametrize(("d_k", "d_v"), [(5, 5), (16, 5), (24, 64), (1, 1), (128, 16), (96, 128)])
def test_heads_of_any_size_are_served_on_a_gpu(dtype: torch.dtype, tolerance: float, d_k: int, d_v: int) -> None:
    assert_like_the_formula(d_k, d_v, dtype, tolerance, Reach(7, True), "cuda")
    assert_like_the_formula(d_k, d_v, dtype, tolerance, device="cuda", divisor=1024)


@ON_A_GPU
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
@pytest.mark.parametrize("farthest", [1, 20, 128])
def test_distances_are_added_on_a_gpu(dtype: torch.dtype, tolerance: float, farthest: int) -> None:
    assert_like_the_formula(64, 64, dtype, tolerance, device="cuda", farthest=farthest)
    assert_like_the_formula(64, 64, dtype, tolerance, device="cuda", lengths=(300, 5, 64) * 20, farthest=farthest)


@ON_A_GPU
def test_the_largest_heads_are_served_on_a_gpu() -> None:
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.bfloat16, 2e-2)):
        size = LARGEST // dtype.itemsize
        assert_like_the_formula(size, size, dtype, tolerance, device="cuda")


@ON_A_GPU
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
@pytest.mark.parametrize(("blocks", "joined"), [(2, 3), (2, 1), (1, 2), (1, 3)])
@pytest.mark.parametrize(("d_k", "d_v"), [(10, 4), (64, 64)])
def test_heads_are_read_where_they_are_on_a_gpu(
    dtype: torch.dtype, tolerance: float, blocks: int, joined: int, d_k: int, d_v: int
) -> None:
    assert_like_the_formula(d_k, d_v, dtype, tolerance, device="cuda", blocks=blocks, joined=joined)


@pytest.mark.parametrize(("dtype", "precision"), [(torch.float32, "tf32"), (torch.bfloat16, "tf32")])
def test_backward_multiplies_as_forward_did(dtype: torch.dtype, precision: str) -> None:
    kernels = pytest.importorskip("fencepost.model.cuda.attention_kernels", exc_type=ImportError)
    part = torch.zeros(1, 4, 48, dtype=dtype, requires_grad=True)
    answer = torch.zeros(1, 4, 16, dtype=dtype), torch.zeros(2, 4)
    before = torch.get_float32_matmul_precision()
    with (
        mock.patch.object(kernels, "forward", return_value=answer) as forward,
        mock.patch.object(kernels, "backward") as back,
    ):
        torch.set_float32_matmul_precision("high")
        try:
            average = attend_packed([part], HeadSizes(2, 8, 8), starts_of((4,)), 0.0, EVERYWHERE)
        finally:
            torch.set_float32_matmul_precision(before)
        average.sum().backward()
    assert forward.call_args.args[-1] == back.call_args.args[-1] == precision


@ON_A_GPU
def test_long_sequences_are_attended_on_a_gpu() -> None:
    assert_like_the_formula(64, 64, torch.bfloat16, 2e-2, Reach(200, True), "cuda", lengths=(5_000, 3))


@ON_A_GPU
def test_dropout_on_a_gpu_is_fair_and_follows_the_seed() -> None:
    assert_dropout_is_the_same_in_both_directions("cuda")
    assert_dropout_is_the_same_in_both_directions("cuda", Reach(7), blocks=2)
    assert_dropout_is_the_same_in_both_directions("cuda", Reach(7, True))
    assert_dropout_is_fair(draws=1_000, device="cuda")
    assert_the_seed_decides("cuda")


@ON_A_GPU
def test_gradients_do_not_differ_from_run_to_run() -> None:
    lengths = (30, 7, 100, 64) * 50
    starts, rows = starts_of(lengths).cuda(), rows_of(lengths, 64, 64, torch.bfloat16, "cuda")
    first, second = (with_gradients(attended(rows, starts, 0.0, EVERYWHERE), rows) for _ in range(2))
    assert all(map(torch.equal, first, second))
