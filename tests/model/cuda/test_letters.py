"""The last states of an LSTM and their gradients, against torch's LSTM run over each sequence alone."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from fencepost.model.lexical import last_states
from fencepost.model.sequences import Layout
from tests.model.interpreted import run_interpreted

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
ON_EACH_DEVICE = pytest.mark.parametrize("device", DEVICES)
LENGTHS = [3, 1, 12, 7, 1, 2] * 3 + [5]  # more than a block of a kernel, and no multiple of it
INPUTS = 6


def sample(size: int) -> tuple[nn.LSTM, Tensor, Tensor]:
    """An LSTM with strong recurrence, its inputs, and weights [B, 2H] that make a number of the states."""
    torch.manual_seed(0)
    lstm = nn.LSTM(INPUTS, size, bidirectional=True)
    for parameter in lstm.parameters():
        parameter.data.mul_(3)
    return lstm, torch.randn(sum(LENGTHS), INPUTS), torch.randn(len(LENGTHS), 2 * size)


def states_alone(lstm: nn.LSTM, rows: Tensor) -> Tensor:
    states = [lstm(sequence)[0] for sequence in rows.split(LENGTHS)]
    size = lstm.hidden_size
    return torch.stack([torch.cat([state[-1, :size], state[0, size:]]) for state in states])


def states_and_gradients(
    states_of: Callable[[nn.LSTM, Tensor], Tensor], lstm: nn.LSTM, rows: Tensor, weights: Tensor
) -> dict[str, Tensor]:
    rows = rows.clone().requires_grad_()
    states = states_of(lstm, rows)
    (states.to(weights.dtype) * weights).sum().backward()
    results = {"states": states, "rows": rows.grad, **{name: p.grad for name, p in lstm.named_parameters()}}
    return {name: tensor.detach().double().cpu() for name, tensor in results.items() if tensor is not None}


def assert_like_torch(size: int, device: str, tolerance: float, half: bool = False) -> None:
    """Within the tolerance of the largest value of each tensor."""
    lstm, rows, weights = sample(size)
    expected = states_and_gradients(states_alone, copy.deepcopy(lstm).double(), rows.double(), weights.double())
    layout = Layout.of(np.array(LENGTHS), torch.device(device))

    def states_of(lstm: nn.LSTM, rows: Tensor) -> Tensor:
        with torch.autocast(device, torch.bfloat16, enabled=half):
            return last_states(lstm, rows, layout)

    found = states_and_gradients(states_of, lstm.to(device), rows.to(device), weights.to(device))
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        assert (found[name] - tensor).abs().max() < tolerance * tensor.abs().max(), name


@ON_EACH_DEVICE
@pytest.mark.parametrize("size", [16, 32, 48, 256])
def test_states_and_gradients_are_those_of_torch(device: str, size: int) -> None:
    assert_like_torch(size, device, tolerance=1e-5)


@ON_EACH_DEVICE
def test_a_size_that_tensor_cores_do_not_take_is_no_trouble(device: str) -> None:
    assert_like_torch(10, device, tolerance=1e-5 if device == "cpu" else 1e-2)  # torch's own LSTM may round to tf32


@ON_EACH_DEVICE
@pytest.mark.parametrize("size", [16, 256])
def test_in_bf16_states_and_gradients_are_near_those_of_torch(device: str, size: int) -> None:
    assert_like_torch(size, device, tolerance=0.05, half=True)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")  # so torch says
@pytest.mark.skipif(not torch.cuda.is_available(), reason="is about a GPU")
def test_the_host_never_waits_for_the_device() -> None:
    lstm, rows, _ = sample(32)
    lstm, rows = lstm.cuda(), rows.cuda()
    layout = Layout.of(np.array(LENGTHS), torch.device("cuda"))
    last_states(lstm, rows, layout).sum().backward()  # compiles the kernels
    torch.cuda.set_sync_debug_mode("error")
    try:
        last_states(lstm, rows, layout).sum().backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")


INTERPRETED = """
    import numpy as np
    import torch
    from torch import nn
    from fencepost.model.sequences import Layout
    from fencepost.model.cuda.letters import last_states_in_one_launch
    from fencepost.model.lexical import last_states

    def states_and_gradients(function, lstm, rows, layout):
        states = function(lstm, rows, layout)
        return states, *torch.autograd.grad(states.float().square().sum(), (rows, *lstm.parameters()))

    def assert_like_torch(size, lengths, dtype, tolerance):
        torch.manual_seed(0)
        lstm = nn.LSTM(6, size, bidirectional=True)
        rows = torch.randn(sum(lengths), 6, requires_grad=True)
        layout = Layout.of(np.array(lengths), torch.device("cpu"))
        expected = states_and_gradients(last_states, lstm, rows, layout)
        with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
            found = states_and_gradients(last_states_in_one_launch, lstm, rows, layout)
        for tensor, other in zip(found, expected, strict=True):
            assert (tensor - other).abs().max() < tolerance * other.abs().max(), (size, dtype)

    assert_like_torch(16, [3, 1, 6, 2, 1] * 3 + [4, 5], torch.float32, 1e-5)
    assert_like_torch(32, [1, 4, 2], torch.float32, 1e-5)
    assert_like_torch(48, [1, 2], torch.float32, 1e-5)
    assert_like_torch(32, [2, 5, 1], torch.float16, 1e-2)  # the interpreter can't multiply in bf16
"""


def test_kernels_agree_with_torch_when_interpreted() -> None:
    run_interpreted(INTERPRETED)
