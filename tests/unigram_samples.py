"""Tokenizers like T5's, made here: pieces of our own, and SentencePiece's normalisation or a table for the test."""

from __future__ import annotations

import base64
import json
import struct
from functools import lru_cache
from typing import Any, Final

from sentencepiece import SentencePieceNormalizer, sentencepiece_model_pb2

WORDS: Final = ["the", "▁the", "▁a", "▁cat", "ing", "▁sleep", "s", "▁", ".", "▁.", "é", "fi", "1", "▁n", "n't", '"']
META: Final = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
_NODE: Final = 256  # each node of a trie has this many units of its own


@lru_cache
def nmt_nfkc() -> dict[str, Any]:
    """T5's normalizer."""
    spec = sentencepiece_model_pb2.NormalizerSpec()  # type: ignore[attr-defined]
    spec.ParseFromString(SentencePieceNormalizer(rule_name="nmt_nfkc").serialized_normalizer_spec())
    return _precompiled(spec.precompiled_charsmap)


def table_of(replacements: dict[str, str]) -> dict[str, Any]:
    """A normalizer that replaces strings."""
    return _precompiled(charsmap(replacements))


def _precompiled(table: bytes) -> dict[str, Any]:
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(table).decode()}


def charsmap(replacements: dict[str, str]) -> bytes:
    """A table in SentencePiece's format: a trie as a double array, then the strings."""
    trie: dict[Any, Any] = {}
    texts = b""
    for key, text in replacements.items():
        node = trie
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[None] = len(texts)
        texts += text.encode() + b"\0"
    units: dict[int, int] = {}
    places = iter(range(_NODE, 1 << 30, _NODE))

    def place(node: dict[Any, Any], at: int, label: int) -> None:
        children = next(places)
        units[at] = label | (at ^ children) << 10 | (None in node) << 8
        if None in node:
            units[children] = node[None] | 1 << 31
        for byte, child in node.items():
            if byte is not None:
                place(child, children ^ byte, byte)

    place(trie, 0, 0)
    count = next(places)
    return struct.pack(f"<{count + 1}I", 4 * count, *(units.get(at, 0) for at in range(count))) + texts


def unigram(
    normalizer: dict[str, Any] | None = None, cutter: dict[str, Any] | None = None, letters: str = "", **sections: Any
) -> str:
    """A tokenizer.json as T5's; ``letters`` are pieces, too."""
    pieces = [
        ("<pad>", 0.0),
        ("</s>", 0.0),
        ("<unk>", 0.0),
        *((word, -3.0 - number / 4) for number, word in enumerate(WORDS)),
    ]
    known = {piece for piece, _ in pieces}
    more = sorted({*"abcdefghijklmnopqrstuvwxyz", *letters} - known)
    pieces += [(letter, -9.0 - number % 5) for number, letter in enumerate(more)]
    eos = {"id": "</s>", "ids": [1], "tokens": ["</s>"]}
    single = [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}]
    template = {"type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": {"</s>": eos}}
    described = {
        "version": "1.0",
        "added_tokens": [added(0, "<pad>"), added(1, "</s>"), added(2, "<unk>"), added(len(pieces), "<extra_id_0>")],
        "normalizer": nmt_nfkc() if normalizer is None else normalizer,
        "pre_tokenizer": cutter or META,
        "post_processor": template,
        "model": {"type": "Unigram", "unk_id": 2, "vocab": pieces},
    }
    return json.dumps(described | sections)


def added(number: int, content: str, **settings: bool) -> dict[str, Any]:
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": content, "special": True, **plain, **settings}
