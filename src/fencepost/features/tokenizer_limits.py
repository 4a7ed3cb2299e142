"""Limits of a tokenizer.json that may come from a stranger: numbers of sub-tokens, and how much longer text may get.

Steps that replace text follow each other: six that turn each "a" into thirty would turn one letter into a billion.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Collection, Iterator
from typing import Any, Final

from fencepost.features.pretrained_files import ENCODER

MOST_ADDED, LONGEST_ADDED = 2**14, 256  # tokens such as [SEP], and their letters
MOST_STEPS: Final = 64
MOST_GROWTH: Final = 256  # letters that the steps together may make of one; T5's make up to 66
LONGEST_AFFIX: Final = 32  # letters; it is put before or behind every piece of a word that is tried
_AFFIXES: Final = ("continuing_subword_prefix", "end_of_word_suffix")


def check_tokenizer(settings: dict[str, Any], size: int) -> None:
    """Raises an error if sub-tokens have numbers beyond ``size``, or if text could fill the memory."""
    vocabulary, added = settings["model"]["vocab"], settings.get("added_tokens") or []
    if not vocabulary:
        raise ValueError("it knows no sub-tokens")
    if isinstance(vocabulary, list):  # numbered from 0
        require_numbers([len(vocabulary) - 1], size)
    else:
        require_numbers(vocabulary.values(), size)
    require_numbers([token["id"] for token in added], size)
    if not all(isinstance(token["content"], str) and token["content"] for token in added):
        raise ValueError("an added token has no text")
    if len(added) > MOST_ADDED or any(len(token["content"]) > LONGEST_ADDED for token in added):
        raise ValueError(f"it has more than {MOST_ADDED:,} added tokens, or one of more than {LONGEST_ADDED} letters")
    if any(len(settings["model"].get(affix) or "") > LONGEST_AFFIX for affix in _AFFIXES):
        raise ValueError(f"it adds more than {LONGEST_AFFIX} letters to pieces of words")
    steps = [*_steps(settings.get("normalizer")), *_steps(settings.get("pre_tokenizer"))]
    if len(steps) > MOST_STEPS:
        raise ValueError(f"it changes text in {len(steps):,} steps")
    if math.prod(max(1, _growth(step)) for step in steps) > MOST_GROWTH:
        raise ValueError(f"its steps may make more than {MOST_GROWTH:,} letters of one")


def require_numbers(numbers: Collection[int], size: int) -> None:
    """Raises an error unless all are integers from 0 to ``size`` - 1."""
    if not {int}.issuperset(map(type, numbers)):
        raise ValueError("the number of a sub-token is not an integer")
    if numbers and not 0 <= min(numbers) <= max(numbers) < size:
        wrong = min(numbers) if min(numbers) < 0 else max(numbers)
        raise ValueError(f"a sub-token has the number {wrong!r:.20}, and the vocab_size in {ENCODER} is {size}")


def _steps(section: Any) -> Iterator[dict[str, Any]]:
    """The steps of a section, which may be sequences of others."""
    if section is None:
        return
    inner = [part for key in ("normalizers", "pretokenizers") for part in section.get(key) or []]
    if not inner:
        yield section
    for part in inner:
        yield from _steps(part)


def _growth(step: dict[str, Any]) -> int:
    """How many letters a step may make of one, given that it may follow any other."""
    match step["type"]:
        case "Replace":
            pattern, content = step["pattern"].get("String"), step["content"]
            return (
                math.ceil(len(content) / len(pattern)) if pattern else len(content) + 1
            )  # it may match between letters
        case "Prepend":
            return len(step["prepend"]) + 1
        case "Precompiled":
            table = base64.b64decode(step["precompiled_charsmap"], validate=True)
            texts = table[4 + int.from_bytes(table[:4], "little") :]
            return max(map(len, texts.split(b"\0")))
        case "ByteLevel":
            return 4  # a letter for each byte
    return 1  # cuts, case, accents and the like: doing it again changes nothing
