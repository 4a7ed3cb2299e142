"""What a model keeps of its pre-trained encoder besides the weights: the tokenizer and the configuration."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fencepost.errors import ConfigError, MissingExtraError, ModelError

TOKENIZER, ENCODER = "tokenizer.json", "encoder.json"  # in a model folder
_NOT_OURS: Final = ("_name_or_path", "architectures", "dtype", "torch_dtype", "transformers_version", "benepar")
_MASKS: Final = ("[MASK]", "<mask>")


@dataclass(frozen=True)
class PretrainedFiles:
    """Both as JSON text: everything needed to build the encoder and to tokenize words for it."""

    tokenizer: str
    encoder: str

    @classmethod
    def of(cls, model: str | Path) -> PretrainedFiles:
        """From a folder, or from the hub's cache by name. Downloads nothing and runs no code of the model."""
        try:
            from transformers import AutoConfig
        except ModuleNotFoundError as error:
            raise MissingExtraError(error.name or "transformers", "pretrained", "a pre-trained encoder") from error
        try:
            config = AutoConfig.from_pretrained(model, local_files_only=True).to_dict()
            return cls(tokenizer_of(model), without_foreign_keys(config))
        except (OSError, ValueError) as error:
            first_line = str(error).partition("\n")[0]
            raise ModelError(
                f"no pre-trained encoder {model}: {first_line}",
                hint="give a folder with config.json, weights and tokenizer.json, or a name in the hub's cache",
            ) from error


def mask_token(tokenizer: str) -> int:
    """The number of the mask token in a tokenizer, given as JSON text."""
    numbers = {token["content"]: token["id"] for token in json.loads(tokenizer).get("added_tokens", [])}
    masks = [numbers[content] for content in _MASKS if content in numbers]
    if not masks:
        raise ConfigError("this encoder has no mask token", hint="set pretrained.mask = 0")
    number: int = masks[0]
    return number


def without_foreign_keys(config: dict[str, Any]) -> str:
    """An encoder's configuration without the keys that change from one version of transformers to the next."""
    return json.dumps({key: value for key, value in sorted(config.items()) if key not in _NOT_OURS}) + "\n"


def tokenizer_of(model: str | Path) -> str:
    """The text of tokenizer.json itself if it exists: versions of transformers differ in how they change it."""
    from transformers import AutoTokenizer
    from transformers.utils import cached_file

    path = cached_file(model, TOKENIZER, local_files_only=True, _raise_exceptions_for_missing_entries=False)
    if path is not None:
        return Path(path).read_text("utf-8")
    tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=True)
    if not tokenizer.is_fast:
        raise ValueError("its tokenizer doesn't say where sub-tokens are in the text")
    text: str = tokenizer.backend_tokenizer.to_str()
    return text
