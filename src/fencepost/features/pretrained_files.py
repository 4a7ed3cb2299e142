"""What a model keeps of its pre-trained encoder beside the weights: the tokenizer and the configuration."""

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
    """Both as JSON, so that nothing else is needed to build the encoder and to read words as it does."""

    tokenizer: str
    encoder: str

    @classmethod
    def of(cls, model: str | Path) -> PretrainedFiles:
        """From a folder, or from the hub's cache by name. Nothing is downloaded, and no code of the model is run."""
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
    """The number of the token that stands for a hidden word, in a tokenizer as JSON."""
    numbers = {token["content"]: token["id"] for token in json.loads(tokenizer).get("added_tokens", [])}
    found = [numbers[content] for content in _MASKS if content in numbers]
    if not found:
        raise ConfigError("this encoder has no mask token", hint="pretrained.mask = 0")
    number: int = found[0]
    return number


def without_foreign_keys(config: dict[str, Any]) -> str:
    """An encoder's configuration without what changes from one version of transformers to the next."""
    return json.dumps({key: value for key, value in sorted(config.items()) if key not in _NOT_OURS}) + "\n"


def tokenizer_of(model: str | Path) -> str:
    """The file itself where there is one: transformers changes what it reads, and not the same way in each version."""
    from transformers import AutoTokenizer
    from transformers.utils import cached_file

    found = cached_file(model, TOKENIZER, local_files_only=True, _raise_exceptions_for_missing_entries=False)
    if found is not None:
        return Path(found).read_text("utf-8")
    tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=True)
    if not tokenizer.is_fast:
        raise ValueError("its tokenizer says nothing about where sub-tokens stand in the text")
    text: str = tokenizer.backend_tokenizer.to_str()
    return text
