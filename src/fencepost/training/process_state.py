"""What training changes for the whole process: random numbers, deterministic algorithms, the current device."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Final

import numpy as np
import torch

from fencepost.config.settings import Config

SWITCH_INTERVAL: Final = 0.0002  # seconds; Python's own, 5 ms, is half a training step on a fast GPU


@contextmanager
def restored_process(device: torch.device) -> Iterator[None]:
    """Restores the process at the end of the ``with`` block."""
    deterministic = torch.are_deterministic_algorithms_enabled()
    warns = torch.is_deterministic_algorithms_warn_only_enabled()
    benchmark = torch.backends.cudnn.benchmark
    on_cuda = device.type == "cuda"
    # CUDA graphs and Triton's kernels run on the current device, even if their tensors are on another.
    current = torch.cuda.device(device) if on_cuda else nullcontext()
    interval = sys.getswitchinterval()
    with current, torch.random.fork_rng(devices=[device] if on_cuda else []):
        try:
            if on_cuda:  # the thread that receives batches must not wait for the one that launches kernels
                sys.setswitchinterval(SWITCH_INTERVAL)
            yield
        finally:
            sys.setswitchinterval(interval)
            torch.use_deterministic_algorithms(deterministic, warn_only=warns)
            torch.backends.cudnn.benchmark = benchmark
            gc.unfreeze()


def seed_run(config: Config) -> None:
    """Seeds the first weights, and switches deterministic algorithms on or off."""
    torch.manual_seed(config.train.seed)
    if config.train.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS requires it
    torch.use_deterministic_algorithms(config.train.deterministic)
    torch.backends.cudnn.benchmark = False


def seed_step(seed: int, step: int, rank: int, device: torch.device) -> None:
    """Seeds dropout from the step and the process alone, so that the step number is enough to resume a run exactly."""
    state = int(np.random.SeedSequence([seed, step, rank]).generate_state(1, np.uint64)[0])
    torch.default_generator.manual_seed(state)  # torch.manual_seed would spend time looking for other devices
    if device.type == "cuda":
        number = torch.cuda.current_device() if device.index is None else device.index
        torch.cuda.default_generators[number].manual_seed(state)
