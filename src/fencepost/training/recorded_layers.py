"""Which parts of a model training runs as CUDA graphs."""

from __future__ import annotations

import torch

from fencepost.model.cuda import available
from fencepost.model.cuda.graphs import CudaGraphs
from fencepost.model.encoder import SelfAttentiveEncoder
from fencepost.model.parser_model import ParserModel
from fencepost.model.pretrained import Pretrained, pretrained_parts


def graphs_of(
    model: ParserModel, device: torch.device, precision: str
) -> list[tuple[SelfAttentiveEncoder | Pretrained, CudaGraphs]]:
    """The parts whose layers can be recorded, each with its graphs; none where ``available`` says no.

    The caller sets ``cuda_graphs`` of each part, and sets it to None for a batch that comes in several pieces.
    """
    if not available.graphs(device, precision):
        return []
    parts = [model.encoder, *pretrained_parts(model)]
    able = [part for part in parts if isinstance(part, (SelfAttentiveEncoder, Pretrained))]
    return [(part, CudaGraphs(layers)) for part in able if (layers := part.to_record()) is not None]
