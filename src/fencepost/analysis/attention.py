"""What each attention head looks at in a sentence, and how much of that is due to content and to position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from fencepost.analysis.tokens import START, STOP
from fencepost.backends.torch import TorchBackend
from fencepost.config.settings import Config
from fencepost.errors import UsageError
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.attention import MultiHeadAttention
from fencepost.model.encoder import EncoderLayer, SelfAttentiveEncoder
from fencepost.model.parser_model import TorchBatch
from fencepost.model.plan import Terms
from fencepost.trees.treebank import Sentence

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class SentenceAttention:
    """All heads on one sentence of T tokens, start and stop included."""

    tokens: tuple[str, ...]
    allowed: npt.NDArray[np.bool_]  # [T, T]: True if the plan lets i attend to j
    probabilities: Floats  # [layers, heads, T, T] p(i -> j); each row adds up to 1
    content: Floats | None  # [layers, heads, T, T] q^(c) · k^(c), scaled; None if the model isn't factored
    position: Floats | None  # the same for q^(p) · k^(p)


class AttentionReader:
    """Reads the attention of one model, under the same plan as when it parses."""

    def __init__(self, backend: TorchBackend, config: Config, vocabularies: Vocabularies) -> None:
        encoder = backend.model.encoder
        if not isinstance(encoder, SelfAttentiveEncoder):
            raise UsageError("this model has no attention: its encoder isn't self-attentive")
        self._backend = backend
        self._layers = [_attention(layer) for layer in encoder.layers]
        self._indexer = Indexer(config, vocabularies)
        self.factored = config.factored

    @torch.inference_mode()
    def read(self, sentence: Sentence) -> SentenceAttention:
        batch = TorchBatch.of(self._indexer.batch([sentence]), self._backend.device)
        size = len(sentence) + 2
        mask = self._backend.plan.mask(batch.tokens.lengths, batch.tokens.width)
        probabilities, content, position = [], [], []
        for layer, (x, p, terms) in zip(self._layers, self._inputs(batch), strict=True):
            probabilities.append(layer.probabilities(x, p, batch.tokens, mask, terms))
            if self.factored:
                content.append(layer.logits(x, p, batch.tokens, Terms(terms.content, False)))
                position.append(layer.logits(x, p, batch.tokens, Terms(False, terms.position)))
        return SentenceAttention(
            (START, *sentence.words, STOP),
            mask[0, 0, :size, :size].expand(size, size).cpu().numpy(),
            _stack(probabilities, size),
            _stack(content, size) if content else None,
            _stack(position, size) if position else None,
        )

    def _inputs(self, batch: TorchBatch) -> list[tuple[Tensor, Tensor, Terms]]:
        """The input of each layer's attention, recorded while the model runs."""
        inputs: list[tuple[Tensor, Tensor, Terms]] = []

        def record(_: nn.Module, arguments: tuple[Any, ...]) -> None:
            x, p, _layout, _mask, terms, _window = arguments
            inputs.append((x, p, terms))

        hooks = [layer.register_forward_pre_hook(record) for layer in self._layers]
        try:
            self._backend.model.eval().encode(batch, self._backend.plan)
        finally:
            for hook in hooks:
                hook.remove()
        return inputs


def _attention(layer: nn.Module) -> MultiHeadAttention:
    assert isinstance(layer, EncoderLayer)
    return layer.attention


def _stack(layers: list[Tensor], size: int) -> Floats:
    """[1, heads, width, width] for each layer -> [layers, heads, size, size]."""
    stacked: Floats = torch.cat(layers)[:, :, :size, :size].cpu().numpy()
    return stacked
