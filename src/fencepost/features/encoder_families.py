"""The table of pre-trained encoder families: what runs each, how it counts positions, whether it can be exported.

A family is the ``model_type`` of an encoder's configuration. Families without a row run in the transformers library,
with positions counted from 0, and can't be exported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True)
class EncoderFamily:
    """One row of the table."""

    model_type: str
    layers: Literal["bert", "mpnet"] | None = None  # whose layers it has, where ``model.bert`` and ``export`` know them
    ours: bool = False  # built by ``model.bert``; the others run in the transformers library
    counts_from_padding: bool = False  # the first position is the padding token's number + 1, not 0
    fixed_padding: int | None = None  # the padding token of the library's code, whatever pad_token_id is
    sizes_embeddings: bool = False  # embeddings may be smaller than the layers: ``embedding_size``
    read_at_decoder: bool = False  # it has a decoder, which gives the vectors of words

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
    EncoderFamily("t5", read_at_decoder=True),
    EncoderFamily("mt5", read_at_decoder=True),
    EncoderFamily("umt5", read_at_decoder=True),
)
ENCODER_FAMILIES: Final = {row.model_type: row for row in _ROWS}


def family_of(model_type: str) -> EncoderFamily:
    """The row of a family; the defaults for a family that has no row."""
    return ENCODER_FAMILIES.get(model_type) or EncoderFamily(model_type)
