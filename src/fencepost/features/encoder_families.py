"""The table of pre-trained encoder families: what runs each, how it counts positions, and whether it can be exported.

A family is the ``model_type`` in an encoder's configuration. A family without a row runs in the transformers library,
counts positions from 0, and can't be exported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True)
class EncoderFamily:
    """One row of the table."""

    model_type: str
    layers: Literal["bert", "mpnet", "t5"] | None = None  # its kind of layers, if ``export`` has it
    ours: bool = False  # built by ``model.bert``; the others run in the transformers library
    counts_from_padding: bool = False  # the first position is the padding token's number + 1, not 0
    fixed_padding: int | None = None  # the padding token, where transformers ignores pad_token_id
    sizes_embeddings: bool = False  # embeddings have a size of their own, ``embedding_size``
    read_at_decoder: bool = False  # words get their vectors from its decoder

    @property
    def exportable(self) -> bool:
        return self.layers is not None

    def padding(self, pad_token_id: int) -> int:
        """The number of the padding token, from which positions may be counted."""
        return pad_token_id if self.fixed_padding is None else self.fixed_padding


_ROWS: Final = (
    EncoderFamily("bert", "bert", ours=True),
    EncoderFamily("electra", "bert", ours=True, sizes_embeddings=True),
    EncoderFamily("mpnet", "mpnet", ours=True, counts_from_padding=True, fixed_padding=1),
    EncoderFamily("roberta", "bert", ours=True, counts_from_padding=True),
    EncoderFamily("xlm-roberta", "bert", ours=True, counts_from_padding=True),
    EncoderFamily("camembert", "bert", ours=True, counts_from_padding=True),
    EncoderFamily("xlm-roberta-xl", counts_from_padding=True),
    EncoderFamily("data2vec-text", counts_from_padding=True),
    EncoderFamily("t5", "t5", read_at_decoder=True),
    EncoderFamily("mt5", "t5", read_at_decoder=True),
    EncoderFamily("umt5", "t5", read_at_decoder=True),
)
ENCODER_FAMILIES: Final = {row.model_type: row for row in _ROWS}


def family_of(model_type: str) -> EncoderFamily:
    """The row of a family, or the defaults if it has no row."""
    return ENCODER_FAMILIES.get(model_type) or EncoderFamily(model_type)
