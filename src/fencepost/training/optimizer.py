"""Adam, with one learning rate for the parser and, if configured, another for its pre-trained encoder."""

from __future__ import annotations

import torch
from torch import nn

from fencepost.config.settings import Config
from fencepost.model.precision import Masters
from fencepost.model.pretrained import pretrained_encoders


def adam(model: nn.Module, masters: Masters, config: Config) -> torch.optim.Adam:
    """Adam with the parameters in groups; the rate of each group is multiplied by its ``share``."""
    rate, train = config.pretrained.learning_rate, config.train
    groups = [{"params": masters.parameters, "share": 1.0}]
    if rate is not None:
        pretrained = {id(parameter) for encoder in pretrained_encoders(model) for parameter in encoder.parameters()}
        # Adam may optimise a parameter's fp32 master instead; masters are in the order of the parameters.
        pairs = list(
            zip(masters.parameters, (id(parameter) in pretrained for parameter in model.parameters()), strict=True)
        )
        rest = [parameter for parameter, is_inside in pairs if not is_inside]
        inside = [parameter for parameter, is_inside in pairs if is_inside]
        groups = [{"params": rest, "share": 1.0}, {"params": inside, "share": rate / train.learning_rate}]
    return torch.optim.Adam(groups, betas=train.adam_betas, eps=train.adam_epsilon, fused=True)
