"""The hidden layer of spans and its gradients, against the formula taken one span at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from fencepost.model.cuda import available
from fencepost.model.parser_model import TorchBatch
from fencepost.model.scorer import SpanScorer, span_hidden
from tests.model.interpreted import run_interpreted
from tests.model.model_samples import SENTENCES, batch_of

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
ON_EACH_DEVICE = pytest.mark.parametrize("device", DEVICES)
ON_A_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="is about a GPU")
Hidden = Callable[[Tensor, Tensor, Tensor, Tensor, nn.LayerNorm], Tensor]


def sample(size: int, sentences: list[list[str]]) -> tuple[list[Tensor], nn.LayerNorm, Tensor]:
    """The arguments before the norm, a norm that is not fresh, and weights [S, H] that make a number of the layer.

    They are 0 where rounding may decide on which side of relu's kink a unit is, and so its gradient.
    """
    torch.manual_seed(0)
    batch = TorchBatch.of(batch_of(sentences))
    norm = nn.LayerNorm(size)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    fenceposts, bias = torch.randn(len(batch.fencepost_tokens), size), torch.randn(size)
    with torch.no_grad():
        normal = norm(fenceposts[batch.span_ends] - fenceposts[batch.span_starts] + bias)
    weights = torch.randn_like(normal) * (normal.abs() > 1e-4)
    return [fenceposts, batch.span_starts, batch.span_ends, bias], norm, weights


def one_span_at_a_time(fenceposts: Tensor, starts: Tensor, ends: Tensor, bias: Tensor, norm: nn.LayerNorm) -> Tensor:
    rows = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        x = fenceposts[end] - fenceposts[start] + bias
        centred = x - x.mean()
        normal = centred / (centred.square().mean() + norm.eps).sqrt()
        rows.append((normal * norm.weight + norm.bias).clamp(min=0))
    return torch.stack(rows)


def all_at_once(fenceposts: Tensor, starts: Tensor, ends: Tensor, bias: Tensor, norm: nn.LayerNorm) -> Tensor:
    hidden: Tensor = norm(fenceposts[ends] - fenceposts[starts] + bias).relu()
    return hidden


def hidden_and_gradients(
    hidden_of: Hidden, arguments: list[Tensor], norm: nn.LayerNorm, weights: Tensor
) -> dict[str, Tensor]:
    fenceposts, starts, ends, bias = arguments
    fenceposts, bias = fenceposts.clone().requires_grad_(), bias.clone().requires_grad_()
    hidden = hidden_of(fenceposts, starts, ends, bias, norm)
    (hidden * weights).sum().backward()
    gradients = {"fenceposts": fenceposts, "bias": bias, "weight": norm.weight, "beta": norm.bias}
    results = {"hidden": hidden, **{name: tensor.grad for name, tensor in gradients.items()}}
    return {name: tensor.detach().double().cpu() for name, tensor in results.items() if tensor is not None}


def assert_near(expected: Hidden, device: str, size: int, sentences: list[list[str]], tolerance: float) -> None:
    """Within the tolerance of the largest value of each tensor."""
    arguments, norm, weights = sample(size, sentences)
    fenceposts, starts, ends, bias = arguments
    wanted = hidden_and_gradients(
        expected, [fenceposts.double(), starts, ends, bias.double()], copy.deepcopy(norm).double(), weights.double()
    )
    found = hidden_and_gradients(
        span_hidden, [tensor.to(device) for tensor in arguments], norm.to(device), weights.to(device)
    )
    assert found.keys() == wanted.keys()
    for name, tensor in wanted.items():
        assert (found[name] - tensor).abs().max() < tolerance * tensor.abs().max(), name


@ON_EACH_DEVICE
@pytest.mark.parametrize("size", [250, 32, 5])
def test_the_layer_and_its_gradients_are_those_of_the_formula(device: str, size: int) -> None:
    assert_near(one_span_at_a_time, device, size, SENTENCES, tolerance=1e-5)


@ON_A_GPU
def test_more_spans_than_a_launch_has_programs_are_no_trouble() -> None:
    assert_near(all_at_once, "cuda", 250, SENTENCES * 250 + [["the"] * 40] * 50, tolerance=1e-4)


@ON_A_GPU
def test_scores_and_their_gradients_are_the_same_on_a_gpu() -> None:
    def scores_and_gradients(device: str) -> list[Tensor]:
        torch.manual_seed(0)
        scorer = SpanScorer(16, 250, 5)
        y = torch.randn(sum(len(sentence) + 2 for sentence in SENTENCES), 16).to(device).requires_grad_()
        scores = scorer.to(device)(y, TorchBatch.of(batch_of(SENTENCES), device))
        return [scores, *torch.autograd.grad(scores.square().sum(), (y, *scorer.parameters()))]

    for found, expected in zip(scores_and_gradients("cuda"), scores_and_gradients("cpu"), strict=True):
        assert (found.cpu() - expected).abs().max() < 1e-4 * expected.abs().max()


@ON_A_GPU
def test_without_gradients_the_layer_is_the_same() -> None:
    arguments, norm, _ = sample(250, SENTENCES * 3)
    norm = norm.cuda()
    fenceposts, starts, ends, bias = (tensor.cuda() for tensor in arguments)
    trained = span_hidden(fenceposts.requires_grad_(), starts, ends, bias, norm)
    with torch.no_grad():
        parsed = span_hidden(fenceposts, starts, ends, bias, norm)
    assert trained.requires_grad
    torch.testing.assert_close(parsed, trained, atol=0, rtol=0)


@ON_A_GPU
def test_deterministic_training_and_double_precision_go_without_the_kernels() -> None:
    pytest.importorskip("triton")
    fenceposts = torch.zeros(1, 1, device="cuda")
    assert available.spans(fenceposts)
    assert not available.spans(fenceposts.cpu())
    assert not available.spans(fenceposts.double())
    torch.use_deterministic_algorithms(True)
    try:
        assert not available.spans(fenceposts)
    finally:
        torch.use_deterministic_algorithms(False)


INTERPRETED = """
    import torch
    from torch import nn
    from fencepost.model.cuda import span_kernels
    from fencepost.model.cuda.spans import span_hidden_in_one_launch
    from fencepost.model.scorer import span_hidden

    def hidden_and_gradients(function, weights, fenceposts, starts, ends, bias, norm):
        hidden = function(fenceposts, starts, ends, bias, norm)
        assert function(fenceposts.detach(), starts, ends, bias.detach(), norm).equal(hidden)
        return hidden, *torch.autograd.grad((hidden * weights).sum(), (fenceposts, bias, norm.weight, norm.bias))

    def assert_like_torch(size, fenceposts, spans):
        torch.manual_seed(0)
        norm = nn.LayerNorm(size, eps=1e-3)
        nn.init.normal_(norm.weight)
        nn.init.normal_(norm.bias)
        rows, bias = torch.randn(fenceposts, size, requires_grad=True), torch.randn(size, requires_grad=True)
        starts, ends = torch.randint(fenceposts, (2, spans, 3))[..., 0]  # not laid end to end
        arguments = torch.randn(spans, size), rows, starts, ends, bias, norm
        expected = hidden_and_gradients(span_hidden, *arguments)
        found = hidden_and_gradients(span_hidden_in_one_launch, *arguments)
        for tensor, other in zip(found, expected, strict=True):
            torch.testing.assert_close(tensor, other, atol=1e-5, rtol=1e-5)

    for size in (250, 32, 5):
        assert_like_torch(size, 10, 1)
        assert_like_torch(size, 10, 37)
        assert_like_torch(size, 2, 37)  # a fencepost of many spans
    assert_like_torch(32, 10, 0)
    span_kernels.MOST_PROGRAMS = 2  # each with several blocks of rows
    assert_like_torch(250, 10, 37)

    norm = nn.LayerNorm(4)
    rows = torch.zeros(2, 4, requires_grad=True)
    hidden = span_hidden_in_one_launch(rows, torch.tensor([0]), torch.tensor([1]), torch.zeros(4), norm)
    hidden.sum().backward()
    assert not hidden.any() and not norm.bias.grad.any()  # the slope of relu at 0 is 0
    lost = span_hidden_in_one_launch(rows * torch.nan, torch.tensor([0]), torch.tensor([1]), torch.zeros(4), norm)
    assert lost.isnan().all()
"""


def test_kernels_agree_with_torch_when_interpreted() -> None:
    run_interpreted(INTERPRETED)
