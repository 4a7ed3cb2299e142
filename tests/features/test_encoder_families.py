"""The table of encoder families against the transformers library, and everything that reads the table."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoConfig, AutoModel

from fencepost.errors import UsageError
from fencepost.export.pretrained import require_exportable
from fencepost.features.encoder_families import ENCODER_FAMILIES, EncoderFamily, family_of
from fencepost.model.bert import Bert
from fencepost.model.pretrained import build_encoder
from tests.pretrained_samples import pretrained_files
from tests.test_imports import HEAVY, modules_after

families = pytest.mark.parametrize("family", ENCODER_FAMILIES.values(), ids=ENCODER_FAMILIES)


def encoder_of(family: EncoderFamily) -> dict[str, Any]:
    """The configuration of a small encoder."""
    table: dict[str, Any] = json.loads(pretrained_files(family.model_type).encoder)
    return table


def first_position(encoder: dict[str, Any]) -> int | None:
    """The first row of the position table that the library reads; None where it has no such table."""
    settings = {name: value for name, value in encoder.items() if name != "model_type"}
    model = AutoModel.from_config(AutoConfig.for_model(encoder["model_type"], **settings)).eval()
    if encoder["is_encoder_decoder"]:
        return None
    rows: list[Tensor] = []
    model.embeddings.position_embeddings.register_forward_pre_hook(lambda _, inputs: rows.append(inputs[0]))
    with torch.no_grad():
        model(input_ids=torch.tensor([[5, 6, 7]]))
    return int(rows[0].flatten()[0])


def test_reading_the_table_pulls_in_nothing_heavy() -> None:
    assert not modules_after("import fencepost.features.encoder_families") & HEAVY


@pytest.mark.parametrize("padding", [0, 1, 2])
@families
def test_positions_are_counted_as_in_the_library(family: EncoderFamily, padding: int) -> None:
    encoder = encoder_of(family) | {"pad_token_id": padding}
    expected = family.padding(padding) + 1 if family.counts_from_padding else 0
    assert first_position(encoder) == (None if family.read_at_decoder else expected)


def test_bert_and_its_nearest_kin_are_families_of_our_own() -> None:
    ours = {family.model_type for family in ENCODER_FAMILIES.values() if family.ours}
    assert ours >= {"bert", "electra", "mpnet", "roberta", "xlm-roberta", "camembert"}


@families
def test_families_of_our_own_are_built_by_our_own_code(family: EncoderFamily) -> None:
    built = build_encoder(json.dumps(encoder_of(family)))
    assert isinstance(built, Bert) == family.ours


@families
def test_families_that_cant_be_exported_are_refused(family: EncoderFamily) -> None:
    if family.exportable:
        require_exportable(encoder_of(family))
        return
    with pytest.raises(UsageError, match=f"an encoder of type {family.model_type} can't be exported") as refusal:
        require_exportable(encoder_of(family))
    assert refusal.value.hint is not None
    assert refusal.value.hint.endswith("bert, electra, mpnet, roberta, xlm-roberta, camembert, t5, mt5, umt5")


def test_a_family_without_a_row_runs_in_the_library_and_cant_be_exported() -> None:
    family = family_of("deberta-v2")
    assert family == EncoderFamily("deberta-v2")
    assert not family.ours
    assert not family.exportable
    assert not family.counts_from_padding
    assert not family.read_at_decoder
