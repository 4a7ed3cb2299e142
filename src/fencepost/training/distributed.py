"""Several processes under ``torchrun``: each takes a share of every batch, and gradients are summed (DDP)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class Team:
    """The processes of one training run, seen from one of them."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """True if this process writes files and messages."""
        return self.rank == 0

    def share(self, indices: list[int]) -> list[int]:
        """The sentences of a batch that this process reads."""
        return indices[self.rank :: self.size]

    def agreed(self, value: float) -> float:
        """The leader's value, in every process."""
        if self.size == 1:
            return value
        box = torch.tensor(value, dtype=torch.float64)
        dist.broadcast(box, src=0)
        return box.item()

    def wait(self) -> None:
        """Waits until every process has called this."""
        if self.size > 1:
            dist.all_reduce(torch.zeros(()))

    def sum_gradients(self, parameters: list[torch.nn.Parameter], loss: torch.Tensor) -> torch.Tensor:
        """Adds up the gradients and the loss over the team, in one message. Returns the sum of the losses."""
        if self.size == 1:
            return loss
        gradients = [p.grad if p.grad is not None else torch.zeros_like(p) for p in parameters]
        flat = torch.cat([loss.reshape(1), *(gradient.reshape(-1) for gradient in gradients)])
        dist.all_reduce(flat)
        total, *sums = torch.split(flat, [1, *(gradient.numel() for gradient in gradients)])
        for parameter, gradient in zip(parameters, sums, strict=True):
            parameter.grad = gradient.view_as(parameter)
        return total[0]


def own_device(device: torch.device) -> torch.device:
    """The GPU of this process under ``torchrun``, by number, because each thread has its own current GPU."""
    rank = os.environ.get("LOCAL_RANK")
    return device if device.type != "cuda" or rank is None else torch.device("cuda", int(rank))


@contextmanager
def team(device: torch.device) -> Iterator[Team]:
    """The team that ``torchrun`` started, or this process alone."""
    if "RANK" not in os.environ or int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Team()
        return
    if device.index is not None:
        torch.cuda.set_device(device)
    # Processes agree on numbers in host memory, so that they don't have to wait for the device.
    dist.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo")
    try:
        yield Team(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
