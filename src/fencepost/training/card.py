"""The model card that training writes into a model folder's README.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fencepost.config.settings import Config
from fencepost.features.vocabularies import Vocabularies


def model_card(config: Config, vocabularies: Vocabularies, trees: str, check: Mapping[str, Any]) -> str:
    """A card with what was measured. The user fills in the origin of the data and its licences."""
    encoder = config.encoder
    return f"""# A fencepost model

Trained by `fencepost train` on {trees}.

| | |
|---|---|
| language | {config.language} |
| lexical representations | {", ".join(config.lexical)} |
| encoder | {encoder.kind}, {encoder.layers} layers, d_model {encoder.d_model} |
| loss | {config.train.loss} |
| labels (unary chains included) | {len(vocabularies.labels)} |
| scored with | {config.eval.params} |
| development F1 | {check["f1"]:.2f} (precision {check["precision"]:.2f}, recall {check["recall"]:.2f}) |
| after | epoch {check["epoch"]}, {check["seconds"]:.0f} seconds |

Development F1 is optimistic, because it chose this model: measure on test data with `fencepost evaluate`.

Data and licences: fill in which data the model was trained on, and what their licences allow.
"""
