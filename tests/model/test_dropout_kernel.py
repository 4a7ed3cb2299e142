from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

INTERPRETED = """
    import torch
    from fencepost.model.dropout_kernel import apply_mask

    sequence = torch.tensor([0, 0, 0, 1, 1, 2, 2])
    ones = torch.ones(2, 7, 40)
    dropped = apply_mask(ones, sequence, 0.3, seed=5)
    assert torch.equal(dropped, apply_mask(ones, sequence, 0.3, seed=5)), "a gradient must see the same mask"
    assert not torch.equal(dropped, apply_mask(ones, sequence, 0.3, seed=6))
    assert torch.equal(dropped[:, 0], dropped[:, 2]), "rows of a sequence share their mask"
    assert not torch.equal(dropped[:, 2], dropped[:, 3])
    assert not torch.equal(dropped[0], dropped[1])
    assert set(dropped.unique().tolist()) == {0.0, torch.tensor(1 / 0.7).item()}
    many = apply_mask(torch.ones(1, 200, 1500), torch.arange(200), 0.4, seed=9)
    assert abs(many.mean().item() - 1) < 0.01
"""


def test_the_kernel_shares_masks_and_repeats_them_when_interpreted() -> None:
    pytest.importorskip("triton")
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    command = [sys.executable, "-c", textwrap.dedent(INTERPRETED)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
