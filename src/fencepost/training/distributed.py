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
        """Whether this process writes files and speaks to the user."""
        return self.rank == 0

    def share(self, places: list[int]) -> list[int]:
        return places[self.rank :: self.size]

    def agreed(self, value: float) -> float:
        """The leader's value, in every process."""
        if self.size == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box, src=0)
        return box[0]

    def wait(self) -> None:
        """Until every process has come here."""
        if self.size > 1:
            dist.barrier()

    def total(self, value: torch.Tensor) -> torch.Tensor:
        """The sum over all processes."""
        if self.size > 1:
            dist.all_reduce(value)
        return value

    def sum_gradients(self, parameters: list[torch.nn.Parameter]) -> None:
        """Adds up gradients over the team in one message."""
        if self.size == 1:
            return
        gradients = [p.grad if p.grad is not None else torch.zeros_like(p) for p in parameters]
        flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
        dist.all_reduce(flat)
        sizes = [gradient.numel() for gradient in gradients]
        for parameter, gradient in zip(parameters, torch.split(flat, sizes), strict=True):
            parameter.grad = gradient.view_as(parameter)


@contextmanager
def team(device: torch.device) -> Iterator[Team]:
    """The team that ``torchrun`` started, or this process alone."""
    if "RANK" not in os.environ or int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Team()
        return
    if device.type == "cuda":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Team(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
