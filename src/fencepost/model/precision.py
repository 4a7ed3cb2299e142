"""Training and parsing in bf16: the matrices of encoders are bf16, everything else stays fp32.

Training keeps fp32 masters of those matrices for the optimizer, because its steps are far smaller than bf16 can
resolve.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fencepost.model.linear import BlockDiagonal, Linear


def lower(model: nn.Module) -> dict[str, Tensor]:
    """Converts the matrices of encoders to bf16; returns their fp32 values by their names in the model."""
    before: dict[str, Tensor] = {}
    for prefix, module in model.named_modules():
        if isinstance(module, (BlockDiagonal, Linear)):
            for name, parameter in module.named_parameters(recurse=False):
                before[f"{prefix}.{name}"] = parameter.detach().clone()
                parameter.data = parameter.data.to(torch.bfloat16)
    return before


class Masters:
    """fp32 masters of a model's lowered parameters; a model that was not lowered has none."""

    def __init__(self, model: nn.Module, lowered: dict[str, Tensor]) -> None:
        self._model = model
        named = dict(model.named_parameters())
        self._masters = {name: nn.Parameter(tensor, named[name].requires_grad) for name, tensor in lowered.items()}
        self._lowered = [named[name] for name in lowered]
        self.parameters = [self._masters.get(name, parameter) for name, parameter in named.items()]
        # Made once, because making lists of a hundred tensors in every step takes a while.
        pairs = list(zip(self._lowered, self._masters.values(), strict=True))
        self._trained = [pair for pair in pairs if pair[1].requires_grad]  # not those of a frozen encoder
        self._gradients: list[Tensor] = []  # of the masters
        self._values = [low.data for low, _ in pairs], [master.data for _, master in pairs]

    @torch.no_grad()
    def take_gradients(self) -> None:
        """Moves the gradients of lowered parameters to their masters."""
        if not self._trained:
            return
        if not self._gradients:
            self._gradients = [torch.empty_like(master) for _, master in self._trained]
        theirs: list[Tensor] = []
        for (low, master), gradient in zip(self._trained, self._gradients, strict=True):
            theirs.append(torch.zeros_like(low) if low.grad is None else low.grad)
            master.grad, low.grad = gradient, None
        torch._foreach_copy_(self._gradients, theirs)

    @torch.no_grad()
    def give_values(self) -> None:
        """Copies the masters, after a step, to the parameters that the model multiplies with."""
        if self._lowered:
            torch._foreach_copy_(*self._values)

    def state_dict(self) -> dict[str, Tensor]:
        """The model's weights, in fp32."""
        return self._model.state_dict() | {name: master.data for name, master in self._masters.items()}

    @torch.no_grad()
    def load_state_dict(self, weights: dict[str, Tensor]) -> None:
        self._model.load_state_dict(weights)
        for name, master in self._masters.items():
            master.copy_(weights[name])
