"""Word vectors from a pre-trained encoder: BERT and its kin run on our own code, all others in transformers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor, nn

from fencepost.errors import ConfigError, MissingExtraError, ModelError, UsageError
from fencepost.features.encoder_families import family_of
from fencepost.features.pretrained_files import ENCODER, offline
from fencepost.model.bert import Bert, is_ours
from fencepost.model.dropout import SharedDropout

if TYPE_CHECKING:
    from fencepost.model.cuda.graphs import CudaGraphs
    from fencepost.model.parser_model import TorchBatch
    from fencepost.model.sequences import Layout, Sequences


# Settings of all encoders in transformers, whether or not a class declares them. All other settings are left out.
SHARED_SETTINGS: Final = (
    "pad_token_id",
    "bos_token_id",
    "eos_token_id",
    "decoder_start_token_id",
    "is_decoder",
    "is_encoder_decoder",
    "add_cross_attention",
    "tie_word_embeddings",
)


class ScalarMix(nn.Module):
    """ELMo's mix of layers (Peters et al. 2018): g * sum over layers k of softmax(w)_k h_k, with g and w learned."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, layers: Sequence[Tensor]) -> Tensor:
        shares = self.weights.softmax(0)
        mixed: Tensor = sum((share * layer for share, layer in zip(shares, layers, strict=True)), start=torch.zeros(()))
        return self.scale * mixed


class _MixedLayers(nn.Module):
    """[R, hidden] -> [R, hidden]: the vectors of the last layer, or the mix of all layers."""

    def __init__(self, layers: nn.Module, mix: ScalarMix | None) -> None:
        super().__init__()
        self.layers = layers
        self.mix = mix

    def forward(self, x: Tensor, layout: Sequences, mask: Tensor | None) -> Tensor:
        states: list[Tensor] = self.layers(x, layout, mask)
        return states[-1] if self.mix is None else self.mix(states)


class Hiding(nn.Module):
    """In training, replaces random sub-tokens with the mask token, so that no single word is relied on. [P] -> [P]"""

    def __init__(self, probability: float, mask_token: int) -> None:
        super().__init__()
        self.probability = probability
        self.mask_token = mask_token

    def forward(self, subwords: Tensor) -> Tensor:
        if not self.training:
            return subwords
        drawn = torch.rand(subwords.shape, device=subwords.device)
        return subwords.masked_fill(drawn < self.probability, self.mask_token)


class Pretrained(nn.Module):
    """§5.2. w_t = W h_t, where h_t is the mean of the encoder's vectors for the sub-tokens chosen for token t.

    Start and stop have the vectors of the encoder's special tokens. Encoders with a decoder (T5) are read at the
    decoder, which reads the same sub-tokens after its start token. subwords: [P] -> [T, d_content].
    """

    def __init__(
        self,
        encoder: nn.Module,
        size: int,
        dropout: SharedDropout,
        hiding: Hiding | None = None,
        *,
        frozen: bool,
        mix: bool,
    ) -> None:
        super().__init__()
        config: Any = encoder.config
        self.encoder = encoder
        self.projection = nn.Linear(config.hidden_size, size, bias=False)
        decoder_layers = getattr(config, "num_decoder_layers", None)
        self.mix = ScalarMix(1 + (decoder_layers or config.num_hidden_layers)) if mix else None
        self.dropout = dropout
        self.hiding = hiding
        self.cuda_graphs: CudaGraphs | None = None  # runs the layers, if training uses CUDA graphs
        self.padding = int(config.pad_token_id or 0)
        self.has_decoder = bool(config.is_encoder_decoder)
        self.frozen = frozen
        encoder.requires_grad_(not frozen)

    def train(self, mode: bool = True) -> Pretrained:
        super().train(mode)
        if self.frozen:
            self.encoder.eval()
        return self

    def forward(self, batch: TorchBatch) -> Tensor:
        return self.project(self.words(batch), batch)

    def project(self, words: Tensor, batch: TorchBatch) -> Tensor:
        """w_t = W h_t: [T, hidden] -> [T, d_content]."""
        projected: Tensor = self.dropout(self.projection(words), batch.tokens)
        return projected

    def words(self, batch: TorchBatch) -> Tensor:
        """h_t, the vectors of tokens before their projection: [T, hidden]."""
        if batch.windows is None or batch.subwords is None or batch.subword_rows is None:
            raise UsageError("this model reads sub-tokens, but the batch has none")
        assert batch.token_of_row is not None
        assert batch.rows_of_token is not None
        subwords = batch.subwords if self.hiding is None else self.hiding(batch.subwords)
        vectors = self._in_context(subwords, batch.windows).float()
        chosen = vectors.index_select(0, batch.subword_rows)
        total = chosen.new_zeros(len(batch.rows_of_token), chosen.shape[1]).index_add(0, batch.token_of_row, chosen)
        return total / batch.rows_of_token[:, None]

    def _in_context(self, subwords: Tensor, windows: Layout) -> Tensor:
        """The vector of every sub-token, from the last layer or mixed from all: [P, hidden]."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            if not isinstance(self.encoder, Bert):
                ids = windows.pad(subwords - self.padding) + self.padding
                mask = windows.pad(torch.ones_like(subwords))
                layers: Sequence[Tensor] = [windows.unpad(layer) for layer in self._padded_layers(ids, mask)]
            elif self.cuda_graphs is not None and self.training and self.encoder.mask(windows) is None:
                return self.cuda_graphs((self.encoder.embed(subwords, windows),), windows)
            else:
                layers = self.encoder(subwords, windows)
        return layers[-1] if self.mix is None else self.mix(layers)

    def to_record(self) -> nn.Module | None:
        """What ``cuda_graphs`` runs: our own layers and their mix, if they are trained; else None."""
        ours = isinstance(self.encoder, Bert) and not self.frozen
        return _MixedLayers(self.encoder.encoder, self.mix) if ours else None  # type: ignore[arg-type]

    def _padded_layers(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """The vectors of every layer, or of the last alone, from the transformers library: [V, width, hidden] each."""
        wanted = self.mix is not None
        if not self.has_decoder:
            output = self.encoder(input_ids=ids, attention_mask=mask, output_hidden_states=wanted)
            return output.hidden_states if wanted else (output.last_hidden_state,)
        embeddings = self.encoder.shared(ids)  # type: ignore[operator]
        output = self.encoder(
            inputs_embeds=embeddings[:, 1:],
            attention_mask=mask[:, 1:],
            decoder_inputs_embeds=embeddings,
            use_cache=False,
            output_hidden_states=wanted,
        )
        return output.decoder_hidden_states if wanted else (output.last_hidden_state,)


def build_encoder(config: str) -> nn.Module:
    """An encoder with fresh weights, from its configuration as JSON text."""
    if is_ours(json.loads(config)):
        return Bert(config)
    try:
        from transformers import CONFIG_MAPPING, AutoModel
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "transformers", "pretrained", "a pre-trained encoder") from error
    settings = json.loads(config)
    with offline():
        try:
            declared = CONFIG_MAPPING[settings["model_type"]]
            known = {*signature(declared.__init__).parameters, *SHARED_SETTINGS}
            kind = declared(**{key: value for key, value in settings.items() if key in known})
            if not kind.is_encoder_decoder or family_of(kind.model_type).read_at_decoder:
                return without_spare_parts(AutoModel.from_config(kind, trust_remote_code=False))
        except Exception as error:  # its errors have no common parent
            raise ModelError(f"transformers can't build the encoder in {ENCODER}: {error!s:.200}") from error
    raise ConfigError(f"encoders of the kind {kind.model_type} can't be read word by word")


def without_spare_parts(encoder: Any) -> nn.Module:
    """Removes what word vectors don't need: the pooler, and duplicate names for the same embeddings."""
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    if encoder.config.is_encoder_decoder:
        encoder.encoder.embed_tokens = encoder.decoder.embed_tokens = None
    trimmed: nn.Module = encoder.float()
    return trimmed


def load_pretrained(model: nn.Module, name: str) -> None:
    """Copies the weights of an encoder, from a folder or the hub's cache, into a model that will be trained."""
    for encoder in pretrained_encoders(model):
        from transformers import AutoModel
        from transformers.utils import logging

        logging.disable_progress_bar()  # it would be written to log files, too
        with offline():
            first = AutoModel.from_pretrained(name, local_files_only=True, trust_remote_code=False)
        encoder.load_state_dict(without_spare_parts(first).state_dict())


def pretrained_parts(model: nn.Module) -> Iterator[Pretrained]:
    return (module for module in model.modules() if isinstance(module, Pretrained))


def pretrained_encoders(model: nn.Module) -> Iterator[nn.Module]:
    return (part.encoder for part in pretrained_parts(model))
