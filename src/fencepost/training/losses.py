"""The loss of a batch: margin or CRF over trees, plus cross-entropy of tags and functions where they are predicted."""

from __future__ import annotations

from functools import partial
from typing import Final

from torch import Tensor
from torch.nn.functional import cross_entropy

from fencepost.backends.charts import decode, inside
from fencepost.config.settings import Config
from fencepost.model.loss import crf_loss, function_loss, margin_loss
from fencepost.model.parser_model import ModelOutput
from fencepost.training.device_batch import DeviceBatch

LOSSES: Final = {"margin": partial(margin_loss, decode=decode), "crf": partial(crf_loss, inside=inside)}


def share_of_loss(output: ModelOutput, gold: DeviceBatch, config: Config, sentences: int, words: int) -> Tensor:
    """What a piece adds to the loss of its whole batch, which has this many ``sentences`` and ``words``.

    The loss of a batch is the mean over its sentences, plus the weighted means over its words for tags and functions.
    """
    tree_losses = LOSSES[config.train.loss](
        output.span_scores, gold.labels, gold.sentences.lengths, config.scorer.force_root
    )
    loss = tree_losses.sum() / sentences
    if output.tag_scores is not None:
        tag_loss = cross_entropy(output.tag_scores, gold.tags, reduction="sum") / words
        loss = loss + config.train.tag_loss_weight * tag_loss
    if output.function_scores is not None and gold.functions is not None:
        functions = function_loss(output.function_scores, gold.functions).sum() / words
        loss = loss + config.train.function_loss_weight * functions
    return loss
